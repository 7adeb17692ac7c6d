"""Path-wise routes: a grid is evaluated along paths that share work between its points."""
