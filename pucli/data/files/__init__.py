"""File formats in and out, packed or damaged, text and binary."""
