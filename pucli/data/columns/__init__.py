"""The columns of a table: their cells, kinds and doubts, and their encoding as features."""
