"""Training on blocks of rows that no one machine holds."""
