"""`profiler_metadata.json`: what real ones say, and that damaged ones say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracetui.siblings.metadata import NAME, ParallelGroup, group_hash, parallel_groups


def test_the_hash_is_that_of_the_producer() -> None:
    """Worked out by hand: h0 = 97 * 29 + 98, h1 = 97 * 131 + 98."""
    assert group_hash("") == "0"
    assert group_hash("ab") == str(2911 << 32 | 12805)


def test_a_long_name_stays_within_64_bits() -> None:
    assert int(group_hash("10.174.216.241%enp189s0f1_55000_0_1738895486152654")) < 1 << 64


def test_the_groups_of_a_real_rank(real_traces: Path) -> None:
    groups = parallel_groups(real_traces / "npu" / "pipeline_tables" / "metadata" / "trace_view.json")
    assert len(groups) == 21
    assert groups[0].name == "default_group" and groups[0].global_ranks == tuple(range(8))
    by_name = {group.name: group for group in groups}
    assert (by_name["tp"].global_ranks, by_name["pp"].global_ranks) == ((0, 1), (0, 4))
    assert by_name["tp"].group_rank == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"parallel_group_info": []}',
        b'{"parallel_group_info": {"a": null, "b": [1]}}',
        b"[" * 100_000,
    ],
)
def test_damage_tells_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert parallel_groups(tmp_path / "trace_view.json") == ()


def test_what_is_of_another_type_is_left_out(tmp_path: Path) -> None:
    text = (
        '{"parallel_group_info": {"a": {"group_name": 5, "group_rank": "0", "global_ranks": [0, "1"]},'
        ' "b": {"global_ranks": [0, 0]}, "c": {"group_rank": true, "global_ranks": [2, 3]},'
        ' "d": {"group_rank": 2147483647, "global_ranks": [2147483648]}}}'
    )
    (tmp_path / NAME).write_text(text)
    nothing = ParallelGroup("", "", None, ())
    assert [
        (group.name, group.group_rank, group.global_ranks) for group in parallel_groups(tmp_path / "t")
    ] == [
        (nothing.name, None, ()),
        (nothing.name, None, ()),
        (nothing.name, None, (2, 3)),
        (nothing.name, 2147483647, ()),
    ]


def test_a_trace_alone_has_no_groups(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    assert parallel_groups(tmp_path / "trace_view.json") == ()
