"""Elastic GLPUAL: an L1 and an L2 penalty (Wang 2024, eq. 4.1)."""
