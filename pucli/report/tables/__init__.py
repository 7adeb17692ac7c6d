"""The rows of a table: obtained and published figures, verdicts, causes, tests between methods."""
