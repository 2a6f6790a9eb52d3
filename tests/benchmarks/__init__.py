"""Benchmarks: run by hand, they print ratios and no verdict."""
