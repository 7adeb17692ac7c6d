"""The GLPUAL family (Wang 2024): GLPUAL, GLLC, its elastic and class-prior forms, BSVM and BLS-SVM."""
