"""Linear least squares for tables of many columns."""
