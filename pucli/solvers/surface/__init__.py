"""Elastic kernel-free GLPUAL: a quadratic surface with one lasso group for each feature (Wang 2024, eq. 4.26).

working_set : the minimum to a proven gap, the default solver of the estimator.
problem : the objective in matrices, and its certificate.
admm : the printed updates.
author : the updates of the author's scripts.
"""
