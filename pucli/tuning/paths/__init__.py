"""Path-wise routes, which evaluate a grid along paths whose points share work."""
