"""Python stacks as profilers write them: the text of a `Call stack`, the name of a python_function slice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol

from tracetui.trace.dialects.known import KNOWN

_LINE_BREAKS = re.compile(r";?[\r\n]+")
_PLACE = re.compile(r"\(\d{1,9}\): ")  # what a frame with a file has after its path
_NO_FILE = (*KNOWN.frames.built_in_beginnings, *KNOWN.frames.module_beginnings)
_FRAME = re.compile(r"(?P<file>.*)\((?P<line>\d{1,9})\): ?(?P<function>.*)", re.DOTALL)
_MOST_PARTS = 10  #: of a path that are shown
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Frame(NamedTuple):
    """One frame: `file` is "" and `line` 0 for built-in functions, modules and what cannot be read."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}({self.line}): {self.function}" if self.file else self.function


class HasLine(Protocol):
    """A line of Python, as written in the trace."""

    @property
    def file(self) -> str | None:
        """Its file; None where that is not known."""

    @property
    def line(self) -> int:
        """Its number, 0 without a file."""

    @property
    def function(self) -> str:
        """The function that it is in; "" where that is not known."""


def parse_call_stack(text: str) -> tuple[Frame, ...]:
    r"""Return the frames of a `Call stack` text, leaf first. Never fails.

    They are joined by ";\r\n", ";\n" or line ends; by ";" alone in a text of 2021, which has no line ends.
    """
    lines = _LINE_BREAKS.split(text)
    parts = (part.strip().rstrip(";") for part in (lines if len(lines) > 1 else _split_line(text)))
    return tuple(parse_frame(part) for part in parts if part)


def _split_line(text: str) -> Iterator[str]:
    """Cut a text at each ";" with a frame on both sides: paths may have one too."""
    parts = text.split(";")
    whole = [part.startswith(_NO_FILE) or _PLACE.search(part) is not None for part in parts]
    last = max((place for place, is_whole in enumerate(whole) if is_whole), default=-1)
    first = 0
    for place in range(1, last + 1):
        if whole[place - 1]:
            yield ";".join(parts[first:place])
            first = place
    yield ";".join(parts[first:])


def path_end(path: str, parts: int = 1) -> str:
    """Return the last parts of a path, whatever the separator; by default "train.py" of "src/train.py"."""
    return "/".join(path.replace("\\", "/").split("/")[-parts:])


def distinct_ends(paths: Iterable[str]) -> dict[str, str]:
    """Return the end of each path that tells it from the others: "a/train.py" beside "b/train.py"."""
    ends = {path: path_end(path) for path in paths}
    for parts in range(2, _MOST_PARTS):
        counts = Counter(ends.values())
        ambiguous = [path for path, end in ends.items() if counts[end] > 1]
        if not ambiguous:
            break
        ends.update((path, path_end(path, parts)) for path in ambiguous)
    return ends


@lru_cache(maxsize=1 << 16)
def parse_frame(name: str) -> Frame:
    """Return the frame of one line, `path/file.py(88): forward`, without addresses. Never fails."""
    text = _ADDRESS.sub("", name).strip()
    match = _FRAME.fullmatch(text)
    if match is None or not match["file"]:
        return Frame("", 0, text)
    return Frame(match["file"], int(match["line"]), match["function"])
