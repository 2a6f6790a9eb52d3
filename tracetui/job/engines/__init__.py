"""Where digests are made: here, in processes, or on other hosts. All engines give the same bytes."""
