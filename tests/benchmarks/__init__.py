"""Benchmarks: run by hand, they print ratios and no verdict. `python -m tests.benchmarks` runs all."""
