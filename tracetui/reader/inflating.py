"""What inflates: zlib-ng where it is installed (the extra `tracetui[gzip]`), else the zlib of Python.

zlib-ng takes half the time of zlib. ISA-L is a little faster, but its streams cannot be copied, and copies
are where inflating starts again when args are looked up. Only a packed trace imports this.
"""

from __future__ import annotations

import zlib
from typing import Any


def _fastest_zlib() -> Any:
    try:
        from zlib_ng import zlib_ng
    except ImportError:
        return zlib
    return zlib_ng


ZLIB = _fastest_zlib()
