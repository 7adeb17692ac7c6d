"""Kernel functions, feature maps and the neighbor graph."""
