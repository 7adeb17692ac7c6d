"""CPB-GLPUAL: GLPUAL with the class prior in its objective (Wang 2024, eq. 5.8), which is not convex.

problem : the objective.
dc : a stationary point by difference-of-convex steps, the default solver of the estimator.
admm : the printed updates, and the printed kernel form.
"""
