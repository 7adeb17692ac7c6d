"""What a grid could reach at best: a diagnosis of tuning, with test labels."""
