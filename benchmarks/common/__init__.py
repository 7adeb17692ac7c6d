"""What several benchmarks share: timing, result files, and the tasks, methods and table of `quality`."""
