"""Memory that was freed, given back to the system: C keeps what lies between blocks that are in use."""

from __future__ import annotations

import contextlib


def return_freed_memory() -> None:
    """Give memory that was freed back to the system, where the C library can: that of GNU."""
    import ctypes  # only where much was read

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
