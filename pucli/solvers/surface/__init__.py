"""Elastic kernel-free GLPUAL: a quadratic surface with one lasso group for each feature (Wang 2024, eq. 4.26).

working_set : the minimum on a growing set of features. This is the solver that the estimator takes.
problem : the objective in matrices, and its certificate.
splitting : alternating directions, quick to a moderate accuracy.
newton : semismooth Newton steps, which reach any accuracy.
admm : the printed updates.
"""
