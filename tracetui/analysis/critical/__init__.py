"""What fixing a line can save: the critical chain from device to host, its bounds, and trials."""
