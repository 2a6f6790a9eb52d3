"""Mutants that no test can kill, each with the reason: what they change, nobody can observe.

`equivalents/PACKAGE.txt`: a file below tracetui, lines of it, and what may stand there instead, with why: a
sentence, or the name of one that is said of many.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_SAID_OFTEN = {
    "ALONE": "an element, and so its end, is a character at least",
    "FASTER": "a short way to what the long way finds too: tests hold that both find the same",
    "JUDGED": "how much is looked at until odd text is judged: no definition sets that to the last one",
    "LARGER": "how much is done at a time, or kept: what comes out does not depend on it",
    "NAMED": "the number of a name, which is written nowhere: only that it differs from the others counts",
    "SAMPLED": "how much of a trace is looked at, for a first picture of it",
    "UNKNOWN": "any number below 0 says that there is none",
}


def _read(path: Path) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield file, text of the line and change of each mutant, and its reason."""
    file = line = ""
    for entry in path.read_text(encoding="utf-8").splitlines():
        depth, text = len(entry) - len(entry.lstrip()), entry.strip()
        if depth == 8:
            change, _, reason = text.partition(": ")
            yield (file, line, change), _SAID_OFTEN.get(reason, reason)
        elif depth == 4:
            line = text
        elif text:
            file = text


#: Reasons by file below tracetui, text of the line, and what stands there instead.
EQUIVALENTS: dict[tuple[str, str, str], str] = {
    key: reason
    for path in sorted(Path(__file__).with_suffix("").glob("*.txt"))
    for key, reason in _read(path)
}
