"""The queries asked before: kept, each once, by several viewers at once."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tracetui.ui import query_history
from tracetui.ui.query_history import QueryHistory, history_path


def test_queries_come_back_from_the_latest(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    history = QueryHistory(home)
    for query in ("select 1", "select '\\u202e\n'", "select 1"):
        history.add(query)
    assert [history.move(-1) for _ in range(3)] == ["select 1", "select '\\u202e\n'", "select '\\u202e\n'"]
    assert [history.move(1), history.move(1), history.move(1)] == ["select 1", "", ""]
    assert QueryHistory(home).queries == ["select '\\u202e\n'", "select 1"]
    path = history_path(home)
    assert path is not None and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_viewers_add_to_one_file(tmp_path: Path) -> None:
    home = {"XDG_STATE_HOME": str(tmp_path)}
    first, second = QueryHistory(home), QueryHistory(home)
    first.add("select 1")
    second.add("select 2")
    first.add("select 3")
    assert QueryHistory(home).queries == ["select 1", "select 2", "select 3"]


def test_what_is_no_query_is_passed_over(tmp_path: Path) -> None:
    path = history_path({"XDG_STATE_HOME": str(tmp_path)})
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_bytes(b'"select 1"\n{"a": 1}\n\xff\xfe\n"sele\n\n17\n"select 2"')
    assert QueryHistory({"XDG_STATE_HOME": str(tmp_path)}).queries == ["select 1", "select 2"]


def test_a_long_file_is_cut_to_the_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = {"XDG_STATE_HOME": str(tmp_path)}
    monkeypatch.setattr(query_history, "_LONGEST", 1000)
    monkeypatch.setattr(query_history, "MOST", 5)
    history = QueryHistory(home)
    for number in range(150):
        history.add(f"select {number}")
    assert QueryHistory(home).queries == [f"select {number}" for number in range(145, 150)]
    path = history_path(home)
    assert path is not None and path.read_bytes().count(b"\n") == 5


def test_nothing_is_kept_where_that_is_not_possible(tmp_path: Path) -> None:
    (tmp_path / "tracetui").write_text("a file in the way")
    for environ in ({"XDG_STATE_HOME": str(tmp_path)}, {}):
        history = QueryHistory(environ)
        history.add("select 1")
        assert history.move(-1) == "select 1"
