"""Where digests are made: each engine gives the same bytes, somewhere else."""
