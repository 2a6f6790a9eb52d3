"""Where digests are made: here, or in processes of this machine. All engines give the same bytes."""
