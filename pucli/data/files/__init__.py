"""File formats in and out, archives, and errors for damaged files."""
