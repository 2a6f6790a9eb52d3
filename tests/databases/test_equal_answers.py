"""A run exported both ways: every command says of the database what it says of the JSON, word for word."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simulator.database import DatabaseWriter
from simulator.job.directory import write_job
from simulator.job.scenarios import JOBS
from simulator.memory import write_run
from simulator.recording import Recording
from simulator.scenarios import SCENARIOS, simulate
from simulator.writer import TraceWriter
from tests.analysis.real import read
from tests.job.planted import truth, whole
from tracetui.analysis.series import Series, counter_series
from tracetui.cli import main
from tracetui.reader.joined import open_trace
from tracetui.trace.build import build_trace
from tracetui.trace.model import Layer, Trace

DATABASE = "ascend_pytorch_profiler_0.db"
#: All that one trace is asked, as people ask it.
COMMANDS = (
    *("summary --top 0", "gaps --top 0", "gaps --by idle --top 0", "advice", "memory"),
    *("hotspots --top 0", "hotspots --by module --top 0", "hotspots --by frame --top 0"),
    *("operators --top 0", "operators --by name --top 0", "operators --host --top 0"),
)
#: What tells the two files apart: how many events they have, and how large they are.
SIZE = re.compile(r"[\d,]+ events, [\d.]+ [kMG]?B")


#: Of these the suite asks all; of the others where all is tried.
ASKED = ("mixed", "moba")
EVERY = [
    pytest.param(name, marks=() if name in ASKED else pytest.mark.thorough) for name in sorted(SCENARIOS)
]


@cache
def recording(scenario: str) -> Recording:
    return simulate(scenario)


def write_both(scenario: str, level: int, directory: Path) -> tuple[Path, Path]:
    """Write a scenario as JSON and as a database, each into a directory of its own."""
    text, database = directory / "text", directory / "data"
    for path in (text, database):
        path.mkdir()
    with (text / "trace_view.json").open("wb") as file:
        TraceWriter(recording(scenario), level).write(file)
    DatabaseWriter(recording(scenario), level).write(database / DATABASE)
    return text, database


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[str]:
    """What a command prints, without the lines and numbers that tell the files apart."""
    assert main([*map(str, arguments), "--no-cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    return [SIZE.sub("", line) for line in lines if "trace_view" not in line and DATABASE not in line]


@pytest.mark.parametrize("level", [pytest.param(1, marks=pytest.mark.thorough), 2])
@pytest.mark.parametrize("scenario", EVERY)
def test_commands_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scenario: str, level: int
) -> None:
    text, database = write_both(scenario, level, tmp_path)
    for asked in COMMANDS:
        command, *options = asked.split()
        assert output_of(capsys, command, database, *options) == output_of(capsys, command, text, *options), (
            asked
        )


@pytest.mark.parametrize("scenario", EVERY)
def test_documents_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str], scenario: str) -> None:
    """Numbers of the whole trace, to the nanosecond."""
    for path in write_both(scenario, 2, tmp_path):
        assert main(["summary", str(path), "--json", "--no-cache"]) == 0
    text, database = (json.loads(line) for line in split_documents(capsys.readouterr().out))
    for document in (text, database):
        for name in ("path", "export", "bytes", "events"):
            del document["trace"][name]
    assert database == text


def split_documents(printed: str) -> list[str]:
    first, _, second = printed.partition("\n}\n")
    return [first + "}", second]


def test_memory_is_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, database = tmp_path / "text", tmp_path / "data"
    for path in (text, database):
        path.mkdir()
        write_run(path, 3, database=path == database)
    for by in ("line", "size", "block"):
        assert output_of(capsys, "memory", database, "--by", by) == output_of(
            capsys, "memory", text, "--by", by
        )


@pytest.mark.parametrize("name", ["late", *whole(*sorted(JOBS))])
def test_jobs_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Ranks as databases, as JSON, and mixed; the two jobs compare as equal."""
    outcome = truth(name).outcome
    for kind in ("text", "data"):
        write_job(outcome, tmp_path / kind, 1, databases=kind == "data")
    expected = output_of(capsys, "ranks", tmp_path / "text")
    ours = output_of(capsys, "ranks", tmp_path / "data")
    assert without_paths(ours) == without_paths(expected)
    compared = output_of(capsys, "compare", tmp_path / "text", tmp_path / "data")
    assert any(line.startswith("Nothing changed: a step takes") for line in compared)
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for place, rank in enumerate(sorted((tmp_path / "text").iterdir())):
        chosen = tmp_path / ("data" if place % 2 else "text") / rank.name
        (mixed / rank.name).symlink_to(chosen)
    paths = sorted(mixed.iterdir())
    assert without_paths(output_of(capsys, "ranks", *paths)) == without_paths(expected)


def without_paths(lines: list[str]) -> list[str]:
    return [line for line in lines if not re.search(r"/(?:text|data|mixed)|\d+ ranks? in", line)]


def test_runs_compare_as_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, database = write_both("balanced", 2, tmp_path)
    assert main(["compare", str(text), str(database), "--no-cache"]) == 0
    assert "Nothing changed: a step takes 36.1 ms in both." in capsys.readouterr().out


def trace_of(path: Path) -> Trace:
    with open_trace(path) as file:
        return build_trace(file.read())


def test_all_slices_are_there_within_a_nanosecond(tmp_path: Path) -> None:
    text, database = write_both("mixed", 2, tmp_path)
    ours, from_text = trace_of(database / DATABASE), read(text / "trace_view.json")
    tracks = [
        [track for track in trace.tracks if track.layer is not Layer.OVERLAP] for trace in (ours, from_text)
    ]
    assert [(t.name, t.process, t.pid, t.tid, len(t.lanes)) for t in tracks[0]] == [
        (t.name, t.process, t.pid, t.tid, len(t.lanes)) for t in tracks[1]
    ]
    for own_track, other in zip(*tracks):
        if own_track.layer is Layer.COUNTER:
            assert same_samples(counter_series(ours, own_track), counter_series(from_text, other))
            continue
        rows, other_rows = (slice(t.rows.start, t.rows.stop) for t in (own_track, other))
        assert [ours.strings[name] for name in ours.slices.name[rows].tolist()] == [
            from_text.strings[name] for name in from_text.slices.name[other_rows].tolist()
        ]
        assert np.abs(ours.slices.start[rows] - from_text.slices.start[other_rows]).max() <= 1
        assert np.abs(ours.slices.end[rows] - from_text.slices.end[other_rows]).max() <= 1


def same_samples(ours: Series, from_text: Series) -> bool:
    return np.array_equal(ours.time, from_text.time) and np.allclose(ours.value, from_text.value)


def test_level_0_knows_the_calls_that_text_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So more tasks are linked; what both know is equal."""
    text, database = write_both("moba", 0, tmp_path)
    ours, from_text = (output_of(capsys, "summary", path) for path in (database, text))

    def steps(lines: list[str]) -> list[str]:
        start = next(place for place, line in enumerate(lines) if line.startswith("Steps"))
        return lines[start : start + 6]

    assert steps(ours) == steps(from_text)
    assert any("% lead back to an operator" in line for line in ours)


def test_arrows_are_those_of_the_json(tmp_path: Path) -> None:
    text, database = write_both("moba", 2, tmp_path)
    ours, from_text = trace_of(database / DATABASE), read(text / "trace_view.json")

    def ends(trace: Trace, category: str) -> set[tuple[int, int]]:
        flows = trace.flows
        arrows = flows.category == trace.strings.index(category)
        arrows &= (flows.source >= 0) & (flows.target >= 0)
        target_start = trace.slices.start[flows.target[arrows]]
        return set(zip(flows.source_time[arrows].tolist(), target_start.tolist()))

    for category in ("async_task_queue", "fwdbwd"):
        assert ends(ours, category) == ends(from_text, category), category
    assert ends(ours, "async_npu") <= ends(from_text, "async_npu")
    assert len(ends(ours, "async_npu")) > 100


_MAKE_NUMBERS_COMMON = """
    WITH held AS (SELECT c.connectionId AS number, count(*) AS holders FROM CONNECTION_IDS c
                  JOIN PYTORCH_API a ON a.connectionId = c.id WHERE a.type = 50001 GROUP BY number),
         ordered AS (SELECT number, holders, row_number() OVER (PARTITION BY holders ORDER BY number) AS place
                     FROM held),
         moved AS (SELECT pair.number AS number, launch.number AS moved_to FROM ordered pair
                   JOIN ordered launch USING (place) WHERE pair.holders = 2 AND launch.holders = 1)
    UPDATE CONNECTION_IDS SET connectionId = (SELECT moved_to FROM moved WHERE number = connectionId)
    WHERE connectionId IN (SELECT number FROM moved)
"""


def test_a_pair_of_both_passes_may_have_the_number_of_a_launch(tmp_path: Path) -> None:
    _, database = write_both("moba", 2, tmp_path)
    expected = trace_of(database / DATABASE).flows
    with closing(sqlite3.connect(database / DATABASE)) as connection:
        connection.execute(_MAKE_NUMBERS_COMMON)
        assert connection.total_changes > 10
        connection.commit()
    flows = trace_of(database / DATABASE).flows
    assert flows.category.tolist() == expected.category.tolist()
    for end in ("source", "target"):
        assert getattr(flows, end).tolist() == getattr(expected, end).tolist(), end
