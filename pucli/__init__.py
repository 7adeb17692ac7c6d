"""pucli: learning with missing labels, run from declared experiments."""

__version__ = "0.1.0"
