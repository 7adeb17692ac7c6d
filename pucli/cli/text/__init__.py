"""Text that the commands print: columns read, trained models, reports."""
