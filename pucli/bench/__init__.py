"""Benchmarks: each module measures methods and their baselines in one run and returns ratios.

A module has ``run(progress=None) -> dict`` with `title` and `rows`; a row has `name`, `seconds`, and where they make
sense `ratio` (baseline over ours, or as the name says), `target` and `note`. `progress(done, total)` may be called.
It may have ``FULL``, the keyword arguments of `run` for sizes that take long (`pucli bench NAME --full`).
"""
