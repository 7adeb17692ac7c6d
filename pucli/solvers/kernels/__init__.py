"""Kernel functions, feature maps and the neighbour graph."""
