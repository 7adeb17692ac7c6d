"""Estimation of the class prior at given shares of positives among the unlabeled rows."""
