"""`tracetui cache`: what is kept of traces that were read, as a table, and how to be rid of it."""

from __future__ import annotations

from datetime import datetime

from tracetui.cache.directory import cache_path
from tracetui.cache.traces import CachedTrace, cached_traces, clear
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count

_HEAD = ("last used", "trace", "cached", "state", "path")


def list_text() -> str:
    """The table of cached traces, the last used first, and what they take."""
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


def clear_text() -> str:
    """Remove all cached traces; what that was."""
    count, size = clear()
    return f"{_counted(count)} removed from the cache: {format_bytes(size)}\n"


def _row(entry: CachedTrace) -> tuple[str, str, str, str, str]:
    used = datetime.fromtimestamp(entry.used_ns / 1e9).strftime("%Y-%m-%d %H:%M")
    trace = format_bytes(entry.trace_bytes) if entry.path else ""
    return used, trace, format_bytes(entry.bytes), entry.state.value, printable(entry.path)


def _counted(count: int) -> str:
    return "1 trace" if count == 1 else f"{format_count(count)} traces"
