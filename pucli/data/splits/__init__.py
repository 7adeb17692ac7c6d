"""Splits into labelled, unlabeled and test rows, and the labelling of positives."""
