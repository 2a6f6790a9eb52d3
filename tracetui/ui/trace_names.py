"""What the open traces are called: the parts of their paths that tell them from others.

Every producer calls its file `trace_view.json`, and its directories alike: what tells is the directory around
them, which is that of a rank, and the one of the run around that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tracetui.databases.exports import TRACE_VIEWS
from tracetui.databases.names import is_trace_database
from tracetui.reader.locate import TIMELINE, name_of_trace

#: names that a producer gives all of its traces
_ALIKE = frozenset({*TRACE_VIEWS, "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output", "timeline"})
_NUMBER = re.compile(r"\d+", re.ASCII)
_UNSAFE = re.compile(r"[^\w.+-]+")
_LONGEST = 120  #: characters of the name of a file
_RANK = re.compile(r"_ascend_(?:pt|ms)$")


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return what tells each of several paths from the others: the fewest of its last parts that do.

    Parts that all of them end with tell nothing, nor does what a producer calls all of its files.
    """
    if len(paths) == 1:
        return [name_of(paths[0])]
    every = [_telling(path) for path in paths]
    while min(map(len, every)) > 1 and len({parts[-1] for parts in every}) == 1:
        every = [parts[:-1] for parts in every]
    for count in range(1, max(map(len, every))):
        names = ["/".join(parts[-count:]) for parts in every]
        if len(set(names)) == len(names):
            return names
    return list(map(str, paths))


def name_of(path: Path) -> str:
    """Return the name of a path that tells traces apart: "before.json", for a rank "run/rank0".

    Its own name, where a producer did not give it; else that of its directory, for a rank also its run's.
    """
    exported = name_of_trace(path)
    if exported != path.name:
        return exported
    kept = _kept(path.resolve().parts[1:])
    if not kept:
        return path.name
    *above, last = kept
    if TIMELINE.fullmatch(last):
        last = f"rank{_NUMBER.findall(last)[0]}"
    elif not _RANK.search(last):
        return last
    return "/".join([*above[-1:], _RANK.sub("", last)])


def name_for_file(trace: Path) -> str:
    """Return how a file begins that is made of a trace: "run_node1_rank3", safe in any shell.

    It names the trace, and the rank where the files beside it tell one and its name does not.
    """
    from tracetui.job.identity import number_of_rank

    name = name_of(trace)
    for suffix in (".gz", ".json", ".trace", ".pt"):
        name = name[: -len(suffix)] if name.endswith(suffix) else name
    rank = number_of_rank(trace)
    if rank is not None and not re.search(rf"rank[-_]?{rank}(?!\d)", name):
        name += f"_rank{rank}"
    return _safe(name) or "trace"


def run_name_for_file(paths: Sequence[Path]) -> str:
    """Return how a file begins that is made of several ranks of a run: "run", safe in any shell."""
    return _safe(name_of_run(paths)) or "job"


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name).lstrip("-._")[:_LONGEST]


def name_of_run(paths: Sequence[Path]) -> str:
    """Return what tells the run of several ranks from others: the directory that holds all of them."""
    directory = Path(os.path.commonpath([path.resolve() for path in paths]))
    return name_of(directory) or str(directory)


def _telling(path: Path) -> list[str]:
    return [_RANK.sub("", part) for part in _kept(path.resolve().parts)]


def _kept(parts: Sequence[str]) -> list[str]:
    """Return the parts of a path that a producer does not call alike for all of its traces."""
    kept = [part for part in parts if part not in _ALIKE]
    is_alike = is_trace_database(parts[-1]) and any(map(_RANK.search, kept[-2:-1]))
    return kept[:-1] if is_alike else kept
