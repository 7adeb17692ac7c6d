"""Unbiased and non-negative PU learning.

squared : uPU with the squared loss, a linear system.
network : uPU and nnPU with a network and the sigmoid loss.

uPU with the double hinge is a problem of `pucli.solvers.row_losses.linear`.
"""
