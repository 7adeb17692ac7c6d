"""Elastic kernel-free GLPUAL: a quadratic surface with one lasso group for each feature (Wang 2024, eq. 4.26).

working_set : the minimum on a growing set of features, the default solver of the estimator.
problem : the objective in matrices, and its certificate.
splitting : alternating directions, fast for a moderate accuracy.
newton : semismooth Newton steps, which reach any accuracy.
admm : the printed updates.
"""
