"""What is damaged: traces alone, traces with what lies beside them, digests of jobs, snapshots of memory.

Each kind is a function that writes one damaged input below a directory and returns the arguments of commands
that read it. The originals are made by the simulator; real ones join where ../shared/traces is.
"""

from __future__ import annotations

import gzip
import json
import pickle
import random
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from simulator.job.directory import write_job
from simulator.job.scenarios import JOBS
from simulator.job.simulation import simulate as simulate_job
from simulator.mindspore.graph import GraphProfile
from simulator.mindspore.pynative import PyNativeTrace
from simulator.scenarios import SCENARIOS, simulate
from simulator.writer import TraceWriter
from tests.analysis.memory.runs import write_snapshot
from tests.benchmarks.fuzzing.mutation import damage_bytes, damage_document, damage_table
from tracetui.cli import main as tracetui

REAL = Path(__file__).resolve().parents[4] / "shared" / "traces"
_MOST_EVENTS = 1500  # of a trace that is damaged: a small one shows as much, and is read sooner
_TRACE_COMMANDS = ("summary", "gaps", "hotspots", "operators", "memory", "advice")


class Originals:
    """The undamaged inputs, below a directory of their own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @cache  # noqa: B019 - as long as the program
    def traces(self) -> list[Any]:
        """Return documents of traces: lists of events, or objects around them."""
        documents = [json.loads(path.read_bytes()) for path in self._generated_traces()]
        for path in _real_traces():
            content = path.read_bytes()
            documents.append(json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content))
        return documents

    def _generated_traces(self) -> Iterator[Path]:
        for level, name in enumerate(sorted(SCENARIOS)):
            path = self._directory / f"{name}.json"
            with path.open("wb") as file:
                TraceWriter(simulate(name, 2, 1, level % 2 == 0), level % 3).write(file)
            yield path
        yield from _trace_files(GraphProfile(seed=1).write(self._directory / "graph"))
        yield from _trace_files(PyNativeTrace(seed=1).write(self._directory / "pynative"))

    @cache  # noqa: B019
    def ranks(self) -> list[Path]:
        """Return directories of ranks that hold a trace and what producers leave beside it."""
        job = self._directory / "job"
        write_job(simulate_job(JOBS["late"]), job, 1)
        real = [path.parent for path in sorted(REAL.glob("npu/level*/*_ascend_pt/profiler_info_*.json"))]
        return [*sorted(path for path in job.iterdir() if path.is_dir())[:2], *real]

    @cache  # noqa: B019
    def digests(self) -> list[list[Path]]:
        """Return the digests of jobs, each a list of files."""
        jobs = []
        for name in ("late", "stage", "pipeline-1f1b", "pipeline-dualpipe", "experts-W2", "roles"):
            job, digests = self._directory / f"ranks of {name}", self._directory / f"digests of {name}"
            write_job(simulate_job(JOBS[name]), job, 1)
            assert tracetui(["digest", str(job), "-o", str(digests), "--no-cache", "--jobs", "1"]) == 0
            jobs.append(sorted(digests.iterdir()))
        return jobs

    @cache  # noqa: B019
    def snapshots(self) -> list[Any]:
        """Return what snapshots hold."""
        path = self._directory / "snapshot.pkl"
        write_snapshot(path)
        documents = [pickle.loads(path.read_bytes())]
        for real in sorted(REAL.glob("memory/*.pkl")):
            documents.append(pickle.loads(real.read_bytes()))
        return documents


def damaged_file(chooser: random.Random, originals: Originals, directory: Path) -> list[list[str]]:
    """Write one damaged trace; return commands that read it."""
    document = _shortened(chooser, chooser.choice(originals.traces()))
    path = directory / chooser.choice(("trace_view.json", "trace.json", "x.pt.trace.json.gz"))
    content = _dumped(chooser, damage_document(chooser, document, chooser.choice((0, 1, 3, 10, 40))))
    if chooser.random() < 0.4:
        content = damage_bytes(chooser, content)
    if path.suffix == ".gz":
        content = gzip.compress(content, 1)
        content = damage_bytes(chooser, content) if chooser.random() < 0.2 else content
    path.write_bytes(content)
    return _commands_of_trace(chooser, path)


def damaged_siblings(chooser: random.Random, originals: Originals, directory: Path) -> list[list[str]]:
    """Write a rank of which some files beside the trace are damaged; return commands that read it."""
    rank = chooser.choice(originals.ranks())
    copied = directory / rank.name
    shutil.copytree(rank, copied, copy_function=shutil.copyfile)
    files = [path for path in sorted(copied.rglob("*")) if path.is_file()]
    for path in files:
        path.chmod(0o600)
    tables = [path for path in files if path.name != "trace_view.json"]
    for path in chooser.sample(tables, min(len(tables), chooser.choice((1, 2, 5)))):
        content = path.read_bytes()
        if chooser.random() < 0.3:
            content = damage_bytes(chooser, content)
        elif path.suffix == ".csv":
            content = damage_table(chooser, content)
        elif path.suffix == ".json":
            places = chooser.choice((1, 3, 10))
            content = _dumped(chooser, damage_document(chooser, json.loads(content), places))
        path.write_bytes(content)
    for path in copied.rglob("trace_view.json"):
        if chooser.random() < 0.5:  # lost tasks do not agree with the tables
            path.write_bytes(_dumped(chooser, _shortened(chooser, json.loads(path.read_bytes()))))
    return [*_commands_of_trace(chooser, copied), ["ranks", str(copied)]]


def damaged_digests(chooser: random.Random, originals: Originals, directory: Path) -> list[list[str]]:
    """Write the digests of a job, some of them damaged; return commands that read them."""
    digests = chooser.choice(originals.digests())
    for path in digests:
        shutil.copyfile(path, directory / path.name)
    for path in chooser.sample(digests, chooser.choice((1, 1, 2))):
        content = gzip.decompress(path.read_bytes())
        if chooser.random() < 0.8:
            content = _dumped(
                chooser, damage_document(chooser, json.loads(content), chooser.choice((1, 2, 5)))
            )
        else:
            content = damage_bytes(chooser, content)
        content = gzip.compress(content, 1)
        (directory / path.name).write_bytes(
            damage_bytes(chooser, content) if chooser.random() < 0.1 else content
        )
    limits = ["check", str(directory), "--max-wait", "5%", "--max-imbalance", "5%"]
    comparison = ["compare", str(directory), str(digests[0].parent)]
    ranks = ["ranks", str(directory), *chooser.choice(([], ["--json"], ["--md"], ["--step", "51"]))]
    replay = [chooser.choice(("whatif", "pipeline", "experts", "phases")), str(directory)]
    replay += chooser.choice(([], ["--json"], ["--md"]))
    if replay[0] == "whatif":
        replay += chooser.choice(([], ["--fix", "rank=1"], ["--fix", "stage=1", "--no-jitter"]))
    return [ranks, replay, *chooser.choice(([], [limits], [comparison]))]


def damaged_snapshot(chooser: random.Random, originals: Originals, directory: Path) -> list[list[str]]:
    """Write one damaged snapshot; return a command that reads it."""
    document = damage_document(chooser, chooser.choice(originals.snapshots()), chooser.choice((0, 1, 3, 10)))
    content = pickle.dumps(document, chooser.choice((2, 4, 5)))
    if chooser.random() < 0.4:
        content = damage_bytes(chooser, content)
    path = directory / "snapshot.pkl"
    path.write_bytes(content)
    return [["memory", str(path), *chooser.choice(([], ["--json"], ["--md"], ["--csv", "-"]))]]


def _commands_of_trace(chooser: random.Random, path: Path) -> list[list[str]]:
    formats: list[list[str]] = [[], [], ["--json"], ["--md"], ["--csv", "-"]]
    chosen = chooser.sample(_TRACE_COMMANDS, 2)
    commands = [[command, str(path), *chooser.choice(formats)] for command in chosen]
    if chooser.random() < 0.15:
        commands.append(["compare", str(path), str(path)])
    if chooser.random() < 0.1:
        commands.append(["digest", str(path), "-o", str(path.parent / "digests")])
    return commands


def _shortened(chooser: random.Random, document: Any) -> Any:
    """Keep the metadata and some stretches of the events of a trace."""
    events = document["traceEvents"] if isinstance(document, dict) else document
    if len(events) <= _MOST_EVENTS or chooser.random() < 0.05:
        return document
    kept = [event for event in events if event.get("ph") == "M"]
    for _ in range(3):
        start = chooser.randrange(len(events) - _MOST_EVENTS // 3)
        kept += events[start : start + _MOST_EVENTS // 3]
    return {**document, "traceEvents": kept} if isinstance(document, dict) else kept


def _dumped(chooser: random.Random, document: Any) -> bytes:
    separators = chooser.choice(((", ", ": "), (",", ":")))
    text = json.dumps(document, separators=separators, ensure_ascii=chooser.random() < 0.5)
    return text.encode("utf-8", "surrogatepass")


def _trace_files(written: object) -> list[Path]:
    path = Path(str(written))
    return (
        [path]
        if path.is_file()
        else sorted(path.rglob("*trace_view*.json")) + sorted(path.rglob("msprof_*.json"))
    )


def _real_traces() -> list[Path]:
    found = [
        *REAL.glob("npu/level*/*/ASCEND_PROFILER_OUTPUT/trace_view.json"),
        *REAL.glob("gpu/**/*.json.gz"),
    ]
    return sorted([*found, *REAL.glob("mindspore/legacy/timeline_display_*.json")])
