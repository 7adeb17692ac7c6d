"""Rows for training and scoring, from a user's file or a declared data set."""
