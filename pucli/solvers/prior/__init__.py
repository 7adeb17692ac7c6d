"""Estimates of the class prior from labelled positives and unlabeled rows."""
