"""The PU protocols of two benchmarks of others."""
