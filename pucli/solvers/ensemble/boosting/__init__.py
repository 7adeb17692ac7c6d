"""Growth of trees, and bags of boosted trees with many leaves, a member of the automatic classifier."""
