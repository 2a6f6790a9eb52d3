"""The viewer: the only package that imports textual."""
