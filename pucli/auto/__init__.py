"""The automatic classifier: ensemble, class prior, cut, and estimates that need no true labels."""
