"""Databases that lack CONNECTION_IDS: the ends of the task queue are paired by times, where that is sure."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tracetui
from simulator.database import DatabaseWriter
from simulator.recording import Recording
from simulator.scenarios import simulate
from tracetui.analysis.analyse import Analysis
from tracetui.arrays import Int64s
from tracetui.reader.database.queue import queue_pairs

DATABASE = "ascend_pytorch_profiler_0.db"
#: Runs in which the thread that takes from the queue has nothing to do now and then.
IDLE = ("mixed", "stalls")


@cache
def recording(scenario: str) -> Recording:
    return simulate(scenario)


@cache
def queue_of(scenario: str) -> tuple[Int64s, Int64s, Int64s, Int64s, Int64s]:
    """Start, end, thread, whether it takes, and what both ends share, of each row of the queue."""
    of = recording(scenario)
    rows = [(slot, 0) for slot in of.enqueues] + [(slot, 1) for slot in of.dequeues]
    columns = [(slot.start, slot.end, slot.tid, takes, slot.correlation) for slot, takes in rows]
    start, end, thread, takes, shared = np.array(columns, np.int64).T
    return start, end, thread, takes, shared


def right_and_wrong(scenario: str, kept: Int64s) -> tuple[int, int]:
    """Return how many pairs are found of some rows, and how many of these are none."""
    start, end, thread, takes, shared = (column[kept] for column in queue_of(scenario))
    given, taken = queue_pairs(start, end, thread, takes == 1)
    assert not takes[given].any() and takes[taken].all()
    right = int((shared[given] == shared[taken]).sum())
    return right, len(given) - right


def without_connections(database: Path, directory: Path, *statements: str) -> Path:
    directory.mkdir()
    path = directory / DATABASE
    shutil.copyfile(database, path)
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("DROP TABLE CONNECTION_IDS", *statements):
            connection.execute(statement)
        connection.commit()
    return path


def written(scenario: str, directory: Path) -> Path:
    DatabaseWriter(recording(scenario), 2).write(directory / DATABASE)
    return directory / DATABASE


def analysis_of(path: Path) -> Analysis:
    return tracetui.load(path, cache=False)


def assert_equal_links(found: Analysis, expected: Analysis) -> None:
    chains, known = found.launch_chains, expected.launch_chains
    assert known.linked > 0
    for name in ("launch", "dequeue", "enqueue", "operator"):
        assert getattr(chains, name).tolist() == getattr(known, name).tolist(), name
    for device in range(len(expected.devices)):
        assert found.causes.by_cause(device) == expected.causes.by_cause(device)


@pytest.mark.parametrize("scenario", IDLE)
def test_all_links_and_causes_are_those_that_the_table_tells(tmp_path: Path, scenario: str) -> None:
    database = written(scenario, tmp_path)
    assert_equal_links(
        analysis_of(without_connections(database, tmp_path / "without")), analysis_of(database)
    )


@pytest.mark.parametrize("rank", [0, 1])
def test_all_links_of_a_real_rank_are_those_that_the_table_tells(
    real_traces: Path, tmp_path: Path, rank: int
) -> None:
    output = real_traces / "npu" / "level2_db" / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    database = output / f"ascend_pytorch_profiler_{rank}.db"
    assert_equal_links(
        analysis_of(without_connections(database, tmp_path / "without")), analysis_of(database)
    )


@pytest.mark.parametrize("scenario", IDLE)
def test_no_window_of_a_run_has_a_wrong_pair(scenario: str) -> None:
    """Also where work is queued as it begins, and as it ends."""
    start, end, *_ = queue_of(scenario)
    chance, total = random.Random(7), 0
    for _ in range(150):
        first = chance.randrange(int(start.min()), int(end.max()))
        last = chance.randrange(first, int(end.max()) + 1)
        right, wrong = right_and_wrong(scenario, np.flatnonzero((start >= first) & (end <= last)))
        assert not wrong, (first, last)
        total += right
    assert total > 0


@pytest.mark.parametrize("scenario", IDLE)
def test_a_row_that_is_missing_makes_no_wrong_pair(scenario: str) -> None:
    rows = np.arange(len(queue_of(scenario)[0]))
    for missing in rows.tolist():
        assert right_and_wrong(scenario, rows[rows != missing])[1] == 0, missing


def test_a_queue_that_is_never_seen_empty_is_not_paired() -> None:
    rows = np.arange(len(queue_of("moba")[0]))
    assert len(rows) and right_and_wrong("moba", rows) == (0, 0)


def test_a_queue_of_which_two_threads_take_is_not_paired() -> None:
    start, end, thread, takes, _ = queue_of("mixed")
    thread = thread.copy()
    thread[np.flatnonzero(takes)[-1]] += 1
    assert not len(queue_pairs(start, end, thread, takes == 1)[0])


def test_rows_that_are_given_at_the_same_time_are_left_alone() -> None:
    start, end, thread, takes, shared = (column.copy() for column in queue_of("mixed"))
    first, second = np.flatnonzero(takes == 0)[np.argsort(start[takes == 0])][-2:]
    end[first], thread[second] = end[second] + 1, thread[second] + 1
    given, taken = queue_pairs(start, end, thread, takes == 1)
    assert len(given) == np.count_nonzero(takes) - 2 and not {first, second} & {*given.tolist()}
    assert (shared[given] == shared[taken]).all()


def test_names_that_disagree_are_not_paired(tmp_path: Path) -> None:
    given = "INSERT INTO STRING_IDS VALUES (999999999, 'Enqueue@nothing that was taken')"
    renamed = (
        "UPDATE PYTORCH_API SET name = 999999999 WHERE rowid = (SELECT p.rowid FROM PYTORCH_API p "
        "JOIN STRING_IDS s ON s.id = p.name WHERE s.value = 'Enqueue' LIMIT 1)"
    )
    path = without_connections(written("stalls", tmp_path), tmp_path / "without", given, renamed)
    chains = analysis_of(path).launch_chains
    assert chains.total and not (chains.enqueue >= 0).any()
