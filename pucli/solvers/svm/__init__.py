"""Support vector machines.

biased : the certificate of the biased SVM, whose solvers are `pucli.solvers.row_losses` and libsvm.
laplacian : the Laplacian SVM, by Newton's method.
"""
