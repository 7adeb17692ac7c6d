"""Support vector machines.

hinge : the biased SVM and its certificate; its solvers are `pucli.solvers.row_losses` and libsvm.
squares : BLS-SVM where rows have weights, in closed form.
laplacian : the Laplacian SVM, by Newton's method.
transductive : the transductive SVM of low density separation, by gradient steps.
"""
