"""What makes a release of tracetui; no part of it."""
