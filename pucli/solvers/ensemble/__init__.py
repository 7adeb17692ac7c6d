"""The numerics of AutoPU: members, ensemble, class prior, threshold, and estimates that need no true labels."""
