"""Certificates of the biased SVM, and the Laplacian SVM."""
