"""A method on a user's table: fit, validate, predict, save, load, compare."""
