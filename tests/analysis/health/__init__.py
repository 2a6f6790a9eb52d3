"""Tests of what is found in recordings that cannot be believed, and that nothing is found in others."""
