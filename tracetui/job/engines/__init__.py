"""Where digests are made: here, in processes of this machine, or on other hosts. All give the same bytes."""
