"""`profiler_metadata.json`: the groups that a rank communicates in.

The profiler of PyTorch writes it into the directory of the rank, above that of the trace. It is optional, and
whatever it holds may be missing or of another type: what cannot be read is left out, and nothing here fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracetui.siblings.beside import Refusal, read_object
from tracetui.siblings.database import metadata_in_database

NAME = "profiler_metadata.json"
_HASH_FACTORS = (29, 131)


@dataclass(frozen=True)
class ParallelGroup:
    """A communication group of the job, as one of its ranks knows it."""

    communicator: str  #: HCCL's name of it
    name: str  #: what it is for: "tp", "dp", "default_group"; "" where not told
    group_rank: int | None  #: the rank's own number in the group
    global_ranks: tuple[int, ...]  #: of the numbers 0, 1, ... in the group; empty where not told

    @property
    def key(self) -> str:
        """The group's name in communication.json; hcom names carry its last three digits."""
        return group_hash(self.communicator)


def group_hash(communicator: str) -> str:
    """Return the decimal hash by which msprof calls a communicator: two polynomials of 32
    bits, h0 << 32 | h1.
    """
    halves = [0, 0]
    for character in communicator:
        for half, factor in enumerate(_HASH_FACTORS):
            halves[half] = (halves[half] * factor + ord(character)) & 0xFFFFFFFF
    return str(halves[0] << 32 | halves[1])


def parallel_groups(trace: Path) -> tuple[ParallelGroup, ...]:
    """Return the groups of the rank whose trace is at a path, in the order of the file;
    () where nothing tells. A database may hold other metadata only.
    """
    documents = [
        metadata_in_database(trace),
        *(read_json_object(path / NAME) for path in list(trace.parents)[:2]),
    ]
    for document in documents:
        info = (document or {}).get("parallel_group_info")
        if isinstance(info, dict) and info:
            return tuple(_group(name, group) for name, group in info.items() if isinstance(group, dict))
    return ()


def read_json_object(path: Path) -> dict[str, Any] | None:
    """Return the object in a JSON file; None where there is none, or where the file is too large."""
    try:
        return read_object(path)
    except Refusal:
        return None


def _group(communicator: str, group: dict[str, Any]) -> ParallelGroup:
    name, rank, ranks = group.get("group_name"), group.get("group_rank"), group.get("global_ranks")
    is_valid = isinstance(ranks, list) and all(map(_is_rank, ranks)) and len(set(ranks)) == len(ranks)
    return ParallelGroup(
        communicator=communicator,
        name=name if isinstance(name, str) else "",
        group_rank=rank if _is_rank(rank) else None,
        global_ranks=tuple(ranks) if is_valid and isinstance(ranks, list) else (),
    )


def whole_number(value: Any) -> int | None:
    """Return the number of a rank or of ranks, which some producers write as text; None of anything else."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if _is_rank(value) else None


def members_of(value: Any) -> dict[str, Any]:
    """Return a JSON object; {} for anything else."""
    return value if isinstance(value, dict) else {}


def _is_rank(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 31
