"""Algorithms on arrays, one folder per family, without estimators, files or command-line options."""
