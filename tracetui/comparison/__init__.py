"""Two runs, side by side: what became slower or faster, by how much per step, and what it is."""
