"""How large traces answer: what `--only goals` measures in one run, for a quiet machine.

python -m tests.benchmarks --only goals --mb 1000 --runs 7      some 15 minutes, and 8 GB below $TMPDIR
"""

from __future__ import annotations

import gzip
import shutil
import sys
from functools import partial
from pathlib import Path

from tests.benchmarks import comparing, growth, jobs, keys, starting
from tests.benchmarks.floors import BareOrjson, cores
from tests.benchmarks.opening import output_of, peak_bytes, timed
from tests.benchmarks.table import Row, seconds
from tests.benchmarks.traces import made_file
from tracetui.reader.inflating import ZLIB

_LARGEST = 5  #: times the trace: the largest that is opened
_PIECE = 1 << 20


def rows(trace: Path, runs: int, directory: Path) -> list[Row]:
    """Return the lines about a trace, about one that is `_LARGEST` times as large, and about 16 ranks."""
    directory.mkdir(parents=True, exist_ok=True)
    megabytes = trace.stat().st_size // 1_000_000
    rank = made_file(directory / "a_rank.json", min(jobs.RANK_MB, megabytes))
    compared, *_ = comparing.rows(trace, runs, None)
    digested, *_ = jobs.digesting_rows(rank, runs, directory)
    *_, every_key = keys.rows(trace, runs, directory / "viewed")
    return [
        *_answers(trace, runs, directory),
        *starting.rows(trace, runs),
        *_largest(trace, _LARGEST * megabytes, runs, directory),
        *growth.rows(directory / "growth", [megabytes // 10, megabytes, 3 * megabytes], min(runs, 2)),
        _packed(trace, runs, directory),
        digested,
        compared,
        every_key,
    ]


def _summary(trace: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "tracetui", "summary", "--json", str(trace), *more]


def _answers(trace: Path, runs: int, directory: Path) -> list[Row]:
    """Return the lines about answers beside orjson alone: read anew, and of the cache.

    Another question is the same one with a rule that is of no effect, and so is not answered by what is kept.
    """
    cache = directory / "cache"
    output_of(_summary(trace), cache)
    floor, cold, warm = [], [], []
    with BareOrjson(trace, cores()) as orjson:
        for number in range(runs):  # in turns: what else the machine does concerns all of them
            floor.append(orjson.run())
            cold.append(timed(lambda: output_of(_summary(trace, "--no-cache"))))
            another = _summary(trace, "--skip-frame", f"/no/such/directory/{number}")
            warm.append(timed(partial(output_of, another, cache)))
    of_orjson = f"orjson alone, {cores()} processes"
    return [
        seconds("summary, read anew", cold, floor, of_orjson),
        seconds("summary of the cache, another question", warm, floor, of_orjson),
    ]


def _largest(trace: Path, megabytes: int, runs: int, directory: Path) -> list[Row]:
    """Return the lines about the time and the memory of a larger trace."""
    large = made_file(directory / "large.json", megabytes)
    took, beside = [], []
    for _ in range(min(runs, 3)):
        beside.append(timed(lambda: output_of(_summary(trace, "--no-cache"))))
        took.append(timed(lambda: output_of(_summary(large, "--no-cache"))))
    peak = peak_bytes(_summary(large, "--no-cache"))
    size = large.stat().st_size
    large.unlink()
    limit = f"{peak / (0.2 * size + 150e6):.2f} x (0.2 x the file + 150 MB)"
    return [
        seconds(f"summary of {_LARGEST} times as much", took, beside, "the time"),
        Row("peak memory of that", f"{peak / 1e6:,.0f} MB", limit),
    ]


def _packed(trace: Path, runs: int, directory: Path) -> Row:
    """Return the line about a packed trace beside inflating it alone."""
    packed = directory / "packed.json.gz"
    with trace.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, _PIECE)
    took, inflating = [], []
    for _ in range(min(runs, 3)):
        inflating.append(timed(lambda: _inflate(packed)))
        took.append(timed(lambda: output_of(_summary(packed, "--no-cache"))))
    return seconds("summary of it packed by gzip", took, inflating, "inflating alone")


def _inflate(packed: Path) -> None:
    inflating = ZLIB.decompressobj(31)
    with packed.open("rb") as file:
        while piece := file.read(_PIECE):
            inflating.decompress(piece)
