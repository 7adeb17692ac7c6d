"""Base classes and functions that several estimators share."""
