"""The best result that a grid can reach: a diagnosis of tuning that uses test labels."""
