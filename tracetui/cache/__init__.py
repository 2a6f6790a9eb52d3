"""Traces that were read before: the finished columns and indexes on disk. Knows no analysis and no screen."""
