"""Searching the names of slices: a text, a whole name, or a regular expression.

Each distinct name is tested once; the slices follow from the names by one numpy look-up. Regular expressions
run in a process of their own, because `re` holds the interpreter while it matches: a pattern that takes
forever would freeze the viewer from any thread.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property

import numpy as np
import orjson

from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.language import translate
from tracetui.trace.model import Trace
from tracetui.ui.state import NONE, Search

REGEX = "re:"  #: starts a query that is a regular expression
WHOLE = "="  #: starts a query that is a whole name
TIMEOUT_S = 3.0  #: for a regular expression over all names
_POLL_S = 0.05

_MATCH = """
import json, re, sys
pattern, any_case, names = json.load(sys.stdin.buffer)
try:
    search = re.compile(pattern, re.IGNORECASE if any_case else 0).search
except (re.error, OverflowError, RecursionError) as error:
    print(json.dumps(str(error)))
else:
    print(json.dumps([place for place, name in enumerate(names) if search(name)]))
"""


class BadPattern(Exception):  # noqa: N818 - it says what is wrong
    """The query cannot be searched for; one sentence."""


class NameSearch:
    """The names of the slices of one trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def rows(self, query: str, should_stop: Callable[[], bool] = lambda: False) -> Int64s:
        """Return the slices whose name matches: int64[hits], by time, outer before inner. Raises BadPattern.

        A text in lower case matches any case. An empty query matches nothing.
        """
        names = self._matching(query, should_stop)
        hits = np.zeros(len(self.trace.strings), dtype=np.bool_)
        hits[names] = True
        return self._in_time(hits)

    def named_as(self, row: int) -> Int64s:
        """Return the slices of the same name as a slice: int64[hits], by time."""
        hits = np.zeros(len(self.trace.strings), dtype=np.bool_)
        hits[self.trace.slices.name[row]] = True
        return self._in_time(hits)

    def search(self, text: str, hits: Int64s, at: int = NONE) -> Search:
        """Return the search that has found these rows, and the hit it stands at."""
        return Search(text, hits, self.trace.slices.start[hits], at)

    def _in_time(self, hits: Bools) -> Int64s:
        rows = np.flatnonzero(hits[self.trace.slices.name])
        order = np.argsort(self.trace.slices.start[rows], kind="stable")
        return rows[order].astype(np.int64, copy=False)

    @cached_property
    def _names(self) -> tuple[Int32s, list[str], list[str]]:
        """The distinct names: places in the strings of the trace, as written, and in lower case."""
        used = np.zeros(len(self.trace.strings), dtype=np.bool_)
        used[self.trace.slices.name] = True
        places = np.flatnonzero(used).astype(np.int32)
        names = [self.trace.strings[place] for place in places.tolist()]
        return places, names, [name.lower() for name in names]

    def _matching(self, query: str, should_stop: Callable[[], bool]) -> Int32s:
        """Return places in the strings of the trace: int32[names]."""
        places, names, lower = self._names
        if query.startswith(REGEX):
            return places[_regex_places(query[len(REGEX) :], names, should_stop)]
        if query.startswith(WHOLE):
            wanted = query[len(WHOLE) :]
            return places[[place for place, name in enumerate(names) if name == wanted]]
        if not query:
            return places[:0]
        if query == query.lower():
            names = lower
        return places[[place for place, name in enumerate(names) if query in name]]


def _regex_places(pattern: str, names: list[str], should_stop: Callable[[], bool]) -> list[int]:
    """Return the places of the names in which a pattern is found."""
    if not pattern:
        return []
    letters = re.sub(r"\\.", "", pattern)  # the case of \S is not that of a letter
    sent = orjson.dumps([_utf8(pattern), letters == letters.lower(), [_utf8(name) for name in names]])
    command = [sys.executable, "-I", "-S", "-c", _MATCH]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            answer = _answer(process, sent, should_stop)
        finally:
            process.kill()
    if isinstance(answer, str):
        raise BadPattern(translate("Not a regular expression: {error}.", error=answer))
    return answer


def _answer(
    process: subprocess.Popen[bytes], sent: bytes, should_stop: Callable[[], bool]
) -> list[int] | str:
    waited = 0.0
    pending: bytes | None = sent
    while not should_stop():
        try:
            answer, _ = process.communicate(pending, timeout=_POLL_S)
            break
        except subprocess.TimeoutExpired:
            pending = None  # communicate keeps what is left to send
            waited += _POLL_S
            if waited >= TIMEOUT_S:
                sentence = translate(
                    "This pattern takes more than {seconds:g} s: make it simpler.", seconds=TIMEOUT_S
                )
                raise BadPattern(sentence) from None
    else:
        return []
    try:
        return orjson.loads(answer)  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        raise BadPattern("This pattern could not be run.") from None


def _utf8(name: str) -> str:
    """Return the name without lone surrogates, which JSON text cannot carry."""
    return name.encode("utf-8", "replace").decode("utf-8")
