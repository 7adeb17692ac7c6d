"""Labelling that depends on the features (SAR)."""
