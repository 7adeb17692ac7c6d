"""Declared data sets: the entries of datasets.yaml, their files, and generators."""
