"""Splits into labeled, unlabeled and test rows, and the labeling of positives."""
