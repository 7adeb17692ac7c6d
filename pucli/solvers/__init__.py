"""Algorithms on arrays, a folder for each family: no estimators, no files, no options of the command line."""
