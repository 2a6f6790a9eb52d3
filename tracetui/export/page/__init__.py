"""Results as one HTML page for those without a terminal on the host: nothing in it is loaded or runs."""
