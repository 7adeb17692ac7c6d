"""The automatic classifier: candidates, ensemble, prior, cut, and what can be known without labels."""
