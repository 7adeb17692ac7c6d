"""PU classifiers with an unbiased risk: uPU, nnPU, USMO, the ramp loss; and the naive SVC."""
