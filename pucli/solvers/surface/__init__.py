"""Elastic kernel-free GLPUAL: a quadratic surface with one lasso group for each feature (Wang 2024, eq. 4.26)."""
