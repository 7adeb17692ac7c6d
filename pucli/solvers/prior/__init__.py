"""Estimates of the class prior from labeled positives and unlabeled rows."""
