"""The version, in one place: of the package, of `--version` and of what is kept in the cache."""

__version__ = "0.1.0"
