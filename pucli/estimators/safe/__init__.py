"""Semi-supervised classifiers that are never worse than supervised ones (Bertazzi 2018), and their baselines."""
