"""Tables that another thread reads ahead: what comes out is as if they were read when they are asked for."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from simulator.database import DatabaseWriter
from simulator.scenarios import simulate
from tracetui.databases.tables import UNKNOWN, Database
from tracetui.reader.database.assembly import TextNumbers
from tracetui.reader.database.stacks import _FACTORS, CHAINS, call_stacks, collect_stacks
from tracetui.reader.database.table_reader import (
    ReadingStopped,
    TableColumns,
    TableQuery,
    TableReader,
    groups_of,
    places_of,
)
from tracetui.reader.joined import open_trace

NUMBERS = TableQuery("NUMBERS", ("a", "missing"), ("b",), is_drawn=True)
OTHERS = TableQuery("OTHERS", ("a",), is_drawn=True)
ROWS = 150_000  #: in several parts


def _written(path: Path, text: str) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE NUMBERS (a, b, c)")
    rows = ((number, number / 2, text if number == ROWS - 9 else "") for number in range(ROWS))
    connection.executemany("INSERT INTO NUMBERS VALUES (?, ?, ?)", rows)
    connection.execute("CREATE TABLE OTHERS (a)")
    connection.executemany("INSERT INTO OTHERS VALUES (?)", ((number,) for number in range(9)))
    connection.commit()
    connection.close()
    return path


def _reading_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("tracetui-")]


@pytest.mark.parametrize(
    "text", [pytest.param("", id="plain"), pytest.param("x" * 20_000, id="a row that SQLite reads")]
)
def test_columns_and_ordinals_are_the_same(tmp_path: Path, text: str) -> None:
    """Ordinals count in the order in which tables are asked for, whichever was read first."""
    path = _written(tmp_path / "a.db", text)
    found = []
    for begun in ((), (OTHERS, NUMBERS), (NUMBERS,)):
        with Database(path) as database:
            reader = TableReader(database, ["NUMBERS", "OTHERS"], lambda: None)
            for query in begun:
                reader.begin(query)
            numbers, others = reader.columns(NUMBERS), reader.columns(OTHERS)
            reader.release()
            assert not database.problems
        blocks = reader.blocks()
        found.append((blocks.offset[blocks.first[:-1].tolist().index(ROWS)], blocks.first[-1]))
        assert numbers.count == ROWS
        assert (numbers["a"] == np.arange(ROWS)).all()
        assert (numbers["missing"] == UNKNOWN).all()
        assert (numbers.floats["b"] == np.arange(ROWS) / 2).all()
        assert (numbers.event == np.arange(ROWS)).all()
        assert others.event.tolist() == list(range(ROWS, ROWS + 9))
    assert found == [found[0]] * 3


def test_a_table_that_is_not_there_is_empty(tmp_path: Path) -> None:
    with Database(_written(tmp_path / "a.db", "")) as database:
        reader = TableReader(database, ["NUMBERS"], lambda: None)
        query = TableQuery("NOTHING", ("a",))
        reader.begin(query)
        assert reader.columns(query).count == 0
        reader.release()


def test_rows_that_are_read_ahead_count_half(tmp_path: Path) -> None:
    """What is made of them takes as long as reading them."""
    with Database(_written(tmp_path / "a.db", "")) as database:
        reader = TableReader(database, ["NUMBERS", "OTHERS"], lambda: None)
        reader.begin(NUMBERS)
        reader.begin(OTHERS)
        assert reader.columns(OTHERS).count == 9
        assert reader.rows == (ROWS + 9 + 9) // 2
        reader.columns(NUMBERS)
        assert reader.rows == ROWS + 9
        reader.release()


def test_whoever_waits_for_a_table_can_stop(tmp_path: Path) -> None:
    """The other thread ends as well: the file may be closed."""
    held = threading.Event()

    def stop() -> None:
        raise ReadingStopped

    with Database(_written(tmp_path / "a.db", "")) as database:
        reader = TableReader(database, ["NUMBERS"], stop)
        reader.begin(OTHERS, lambda parts: held.wait(20))
        reader.begin(NUMBERS)
        with pytest.raises(ReadingStopped):
            reader.columns(NUMBERS)
        held.set()
        reader.release()
        assert not _reading_threads()


@pytest.mark.parametrize("stops", [False, True])
def test_no_thread_is_left(tmp_path: Path, stops: bool) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    DatabaseWriter(simulate("stalls", 1), 2).write(path)
    with open_trace(path) as file:
        file.read(should_stop=lambda: stops)
        assert not _reading_threads()


def _chains(*rows: tuple[int, int, int]) -> TableColumns:
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return TableColumns(len(rows), dict(zip(CHAINS.numbers, columns)), {})


def test_a_chain_may_go_on_in_the_next_part() -> None:
    texts = TextNumbers()
    texts.add(np.array([10, 11, 12]), ["inner", "outer", "other"])
    stacks = collect_stacks([_chains((1, 10, 0), (2, 11, 1)), _chains((2, 10, 0), (3, 11, 1), (3, 10, 0))])
    assert stacks is not None
    numbers = stacks.numbers_of(np.array([3, 2, 1, 9, UNKNOWN]), texts)
    known = [texts.all()[number] if number >= 0 else None for number in numbers.tolist()]
    assert known[0] == "inner;\r\nouter"
    assert known[2:] == ["inner", None, None]


def _stacks_of(texts: dict[int, str], *chains: tuple[int, ...]) -> list[str]:
    numbers = TextNumbers()
    numbers.add(np.array([*texts], np.int64), [*texts.values()])
    rows = [(id_, frame, depth) for id_, chain in enumerate(chains) for depth, frame in enumerate(chain)]
    stacks = collect_stacks([_chains(*rows, (len(chains), 0, 0))])
    assert stacks is not None
    return [numbers.all()[number] for number in stacks.numbers_of(np.arange(len(chains)), numbers).tolist()]


def test_chains_are_one_stack_only_if_all_their_frames_are_equal() -> None:
    """Those of a sum may differ in their frames, each the factor of the other further away, or in length."""
    a, b = _FACTORS[:2].astype(np.int64).tolist()
    assert _stacks_of({0: "x", b: "y", -a: "z"}, (0, 0), (b, -a)) == ["x;\r\nx", "y;\r\nz"]
    assert _stacks_of({0: "x", -1: "y"}, (0,), (-1, 0), (0, -1)) == ["x", "y;\r\nx", "x;\r\ny"]


def test_rows_of_a_chain_may_be_anywhere(tmp_path: Path) -> None:
    """Each part begins with chains of the one before: the table is read once more, as a whole."""
    chains = ROWS // 2
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER)")
    for depth, frame in ((1, 11), (0, 10)):
        rows = ((chain, frame, depth) for chain in range(chains))
        connection.executemany("INSERT INTO PYTORCH_CALLCHAINS VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    texts = TextNumbers()
    texts.add(np.array([10, 11]), ["inner", "outer"])
    for ahead in (False, True):
        with Database(tmp_path / "a.db") as database:
            reader = TableReader(database, [], lambda: None)
            if ahead:
                reader.begin(CHAINS, collect_stacks)
            numbers = call_stacks(reader, texts, np.array([0, chains - 1, chains]))
            reader.release()
        assert numbers[2] == -1
        assert [texts.all()[number] for number in numbers[:2].tolist()] == ["inner;\r\nouter"] * 2


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([], id="none"),
        pytest.param([3, 5, 5, 8], id="in order"),
        pytest.param([8, 5, 3, 5, UNKNOWN], id="in any order"),
        pytest.param([UNKNOWN, UNKNOWN, 3], id="unknown ones"),
    ],
)
def test_places_of_numbers(keys: list[int]) -> None:
    """The first place counts, and what is unknown equals nothing."""
    wanted = [5, UNKNOWN, 3, 9, 1, 8]
    expected = [keys.index(number) if number in keys and number != UNKNOWN else -1 for number in wanted]
    assert places_of(np.array(keys, np.int64), np.array(wanted, np.int64)).tolist() == expected


@pytest.mark.parametrize("different", [1, 3, 700])
def test_groups_of_equal_values(different: int) -> None:
    """Also where the columns could have more groups than there are rows."""
    random = np.random.default_rng(different)
    columns = [random.integers(-1, different, 900), random.integers(0, different, 900) << 40]
    expected: dict[tuple[int, ...], list[int]] = {}
    for place, key in enumerate(zip(*(column.tolist() for column in columns))):
        expected.setdefault(key, []).append(place)
    found = [(key, places.tolist()) for places, key in groups_of(*columns)]
    assert found == sorted(expected.items())
    assert groups_of(np.empty(0, np.int64)) == []
