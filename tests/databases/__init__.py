"""Tests of what reads the profilers' databases."""
