"""Text tables: separators, headers, quotes, records; ARFF and JSON lines."""
