"""Memory that was freed, given back to the system. Knows the C library only."""

from __future__ import annotations

import contextlib
import ctypes

_MMAP_THRESHOLD, _LARGE = -3, 1 << 20  #: M_MMAP_THRESHOLD of mallopt, bytes


def give_back() -> None:
    """Give back what glibc keeps of a trace that is gone, and have it keep no large array from now on.

    Without that a second trace of 1 GB, which the pieces of the first don't fit, takes 460 MB at its peak, with
    it 380; the first takes 380.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library, or none
        library = ctypes.CDLL(None)
        library.malloc_trim(0)
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
