"""The ranks of a job in the viewer: how far they are digested, the maps of them, and their tables."""
