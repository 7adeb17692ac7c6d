"""AutoPU, the automatic PU classifier."""
