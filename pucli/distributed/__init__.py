"""Training on blocks of rows, for data that do not fit on one machine."""
