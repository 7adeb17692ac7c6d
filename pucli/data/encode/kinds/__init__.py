"""Kinds of columns, inferred from the cells: numbers, dates, words, and what is doubtful about them."""
