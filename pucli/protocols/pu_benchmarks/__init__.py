"""The PU protocols of the benchmarks PU-Bench and PUICL."""
