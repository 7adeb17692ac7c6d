"""A quadratic plus one piecewise-linear loss per row: solvers that USMO, the SVMs, CPB and elastic GLPUAL share."""
