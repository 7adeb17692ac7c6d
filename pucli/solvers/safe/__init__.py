"""Safe semi-supervised learning: never worse than the supervised fit (Bertazzi 2018)."""
