"""The queries that were asked before, in the user's directory for state; the file is the user's alone.

A line of JSON each, so that several viewers can add to it at once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import orjson

from tracetui.export.atomic import write_atomically
from tracetui.user_directories import user_directory

MOST = 500  #: queries that are remembered
_LONGEST = 1 << 20  #: bytes from which the file is written anew, with the latest


def history_path(environ: Mapping[str, str]) -> Path | None:
    """Return where queries are kept: below $XDG_STATE_HOME, else ~/.local/state; None without either."""
    directory = user_directory(environ, "XDG_STATE_HOME", ".local", "state")
    return None if directory is None else directory / "queries.jsonl"


class QueryHistory:
    """The queries asked before, the latest last, each once; and which of them is shown."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        """Read the history of a user; none where that is not possible."""
        self._path = history_path(environ)
        self.queries = self._read()
        self._shown = len(self.queries)

    def add(self, query: str) -> None:
        """Remember a query as the latest."""
        self.queries = [*(known for known in self.queries if known != query), query][-MOST:]
        self._shown = len(self.queries)
        if self._path is None:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(_line(query))

    def move(self, by: int) -> str:
        """Go to the query before the one shown (-1) or after it (1), and return it; "" after the last."""
        self._shown = min(max(self._shown + by, 0), len(self.queries))
        return self.queries[self._shown] if self._shown < len(self.queries) else ""

    def _read(self) -> list[str]:
        """Return the queries of the file; what is no query in it is passed over."""
        if self._path is None:
            return []
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return []
        queries: dict[str, None] = {}
        for line in lines:
            with contextlib.suppress(orjson.JSONDecodeError):
                query = orjson.loads(line)
                if isinstance(query, str):
                    queries.pop(query, None)
                    queries[query] = None
        latest = [*queries][-MOST:]
        if sum(map(len, lines)) > _LONGEST:
            with contextlib.suppress(OSError):
                write_atomically(self._path, lambda stream: stream.writelines(map(_line, latest)), force=True)
        return latest


def _line(query: str) -> bytes:
    return orjson.dumps(query.encode("utf-8", "replace").decode()) + b"\n"
