"""Global and local learning from positive and unlabeled rows: GLPUAL and GLLC (Wang 2024, chapters 2 and 3).

Both put a squared loss on unlabeled rows and a similarity term on neighbors. On labeled rows GLPUAL has the hinge
and GLLC the squared loss.

problem : the objective, and its quadratic part as a matrix.
dual : GLPUAL by its dual, the default solver of the estimator.
ascent : the compiled coordinate ascent that `dual` runs.
gllc : GLLC, one linear system.
path : a whole grid of either on few features, in one compiled loop.
admm : GLPUAL by the printed updates.
thesis : the printed kernel form, which minimizes no fixed objective.
"""
