"""Communication explained: whom each collective waited for, what it moved, and what of that was exposed."""
