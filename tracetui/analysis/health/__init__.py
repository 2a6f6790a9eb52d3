"""Whether a recording can be believed: what is wrong or doubtful in it, and which numbers that concerns."""
