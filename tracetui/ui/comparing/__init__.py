"""Two of the open traces compared in the viewer: how far that is, its tables, and what is said of a row."""
