"""`tracetui cache`: what is kept of traces that were read, as a table, and how to be rid of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.parser import Parser, Request
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count

if TYPE_CHECKING:
    from tracetui.cache.traces import CachedTrace

_DESCRIPTION = """Show or remove what is kept of large traces so that they open at once the next
time: the columns, some 15 % of the trace, what commands printed, and digests
of ranks, each an entry, in $XDG_CACHE_HOME/tracetui/traces
(~/.cache/tracetui/traces).

What is kept counts only as long as the trace and tracetui are unchanged. All
together take at most 10 GB and a fifth of the free space, or as many MB as
TRACETUI_CACHE_MB says (0: keep nothing); the least recently used go first."""

_HEAD = ("last used", "trace", "cached", "state", "path")


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("action", choices=("list", "clear"), help="show what is kept, or remove it")
    parser.add_ascii()


def _run(request: Request) -> None:
    from tracetui.cli.output import print_text

    print_text(_clear_text() if request.action == "clear" else _list_text(), request)


def _list_text() -> str:
    """Return the table of cached traces, the last used first, and what they take."""
    from tracetui.cache.directory import cache_path
    from tracetui.cache.traces import cached_traces

    entries = cached_traces()
    total = f"{_counted(len(entries))} cached in {printable(str(cache_path() or '?'))}"
    if not entries:
        return f"{total}\n"
    rows = [_HEAD, *map(_row, entries)]
    widths = [max(map(len, column)) for column in list(zip(*rows))[:-1]]
    lines = []
    for used, trace, cached, state, path in rows:
        sizes = f"{trace:>{widths[1]}}  {cached:>{widths[2]}}"
        lines.append(f"{used:<{widths[0]}}  {sizes}  {state:<{widths[3]}}  {path}".rstrip())
    return "\n".join([*lines, "", f"{total}: {format_bytes(sum(entry.bytes for entry in entries))}", ""])


def _clear_text() -> str:
    """Remove all cached traces; what that was."""
    from tracetui.cache.traces import clear

    count, size = clear()
    return f"{_counted(count)} removed from the cache: {format_bytes(size)}\n"


def _row(entry: CachedTrace) -> tuple[str, str, str, str, str]:
    from datetime import datetime

    used = datetime.fromtimestamp(entry.used_ns / 1e9).strftime("%Y-%m-%d %H:%M")
    trace = format_bytes(entry.trace_bytes) if entry.path else ""
    return used, trace, format_bytes(entry.bytes), entry.state.value, printable(entry.path)


def _counted(count: int) -> str:
    return "1 entry" if count == 1 else f"{format_count(count)} entries"


COMMAND = Command(
    "cache", "list", "what is kept of traces that were read before", _DESCRIPTION, _add_arguments, _run
)
