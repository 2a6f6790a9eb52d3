"""What the scanner is compiled from: tells a build of other sources from one of those that are here.

Also run by itself, by the build. Imports nothing of tracetui.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

SOURCES = Path(__file__).with_name("native")


def fingerprint(sources: Path = SOURCES) -> str | None:
    """Return the fingerprint of the C sources in a directory; None where there are none, as in a wheel."""
    digest = hashlib.sha256()
    files = sorted([*sources.glob("*.c"), *sources.glob("*.h")])
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16] if files else None
