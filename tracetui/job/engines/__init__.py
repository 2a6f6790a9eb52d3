"""Where digests are made: here, in processes of this machine, or on others. All engines give the same bytes."""
