"""The command line: parses, calls, prints. No mathematics and no file formats."""
