"""Elastic GLPUAL: GLPUAL with an L1 and an L2 penalty (Wang 2024, eq. 4.1).

dual : the objective, and its minimum by the dual, the default solver of the estimator.
path : a whole grid on few features, in one compiled loop.
admm : the printed updates.
"""
