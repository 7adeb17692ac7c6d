"""Benchmarks: each module measures methods and their baselines in one run and returns ratios.

``python -m benchmarks NAME`` in a checkout runs one; the extra `bench` has the packages that they need. A module has
``run(progress) -> dict`` with `title` and `rows`. A row has `name`, `seconds` and, where they apply, `ratio` (time
of the baseline over ours, unless the name states another), `target` and `note`. `run` calls `progress(done, total)`. A
module may have ``FULL``, keyword arguments of `run` for a longer benchmark (`--full`).
"""
