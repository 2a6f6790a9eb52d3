"""What is compiled of tracetui, from which sources, and whether it is of those that are here.

Also run by itself, by whatever builds it. Imports nothing of tracetui.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

try:
    import _tracetui_scan
except ImportError:
    _tracetui_scan = None  # type: ignore[assignment]

native = _tracetui_scan  #: the module; None: nothing is compiled

MODULE = "_tracetui_scan"  #: at the top: where the package lies is no place for it in an editable install
FLAGS = ("-O3", "-std=c11")  #: of the C compiler
SOURCES = Path(__file__).parent / "reader" / "native"
MAIN = SOURCES / "scan.c"  #: the one that is compiled: it includes the others


def fingerprint(sources: Path = SOURCES) -> str | None:
    """Return the fingerprint of the C sources in a directory; None where there are none, as in a wheel."""
    digest = hashlib.sha256()
    files = sorted([*sources.glob("*.c"), *sources.glob("*.h")])
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16] if files else None


def stamp() -> tuple[str, str]:
    """Return the macro that tells a build its sources: its name, and its value as C has it."""
    return "TRACETUI_FINGERPRINT", f'"{fingerprint()}"'


#: Of the sources of the compiled module; None: nothing is compiled.
BUILD: str | None = native.FINGERPRINT if native is not None else None

#: Whether it is compiled from other sources than those that are here, and so is of no use.
STALE = BUILD is not None and fingerprint() not in (None, BUILD)

#: Whether it can be used.
COMPILED = BUILD is not None and not STALE
