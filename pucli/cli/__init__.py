"""The command line: parsing and printing, without mathematics or file formats."""
