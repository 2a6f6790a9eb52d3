"""Mutants that no test can kill, each with the reason: what they change, nobody can observe."""

from __future__ import annotations

#: Reasons by file below tracetui, text of the line, and what stands there instead.
EQUIVALENTS: dict[tuple[str, str, str], str] = {}
