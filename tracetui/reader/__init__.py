"""Bytes to event columns: files, JSON, gzip, truncation. Knows nothing of devices, layers or gaps."""
