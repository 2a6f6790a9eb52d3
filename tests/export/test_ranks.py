"""What a group and a rank in it are called: never by a number in the job that nothing tells."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import npu, task
from tests.synthetic import piece, process, thread, trace_of
from tracetui import load
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.export.sentences.rank_labels import labels
from tracetui.export.sentences.ranks import group_key, group_words, rank_words
from tracetui.export.trace.documents import gaps_document
from tracetui.export.trace.selection import Selection
from tracetui.siblings.metadata import group_hash

EVENTS = [
    *npu(),
    *group(0),
    operation(10_000, 400_000, "hcom_allReduce__271_0_1", alg_type="RING"),
    plane_task(11_000, 99_000, peer=1),
    task(400_000, 50_000),
]


def words_of(analysis: Analysis) -> tuple[str, str, str]:
    trace = analysis.trace
    ((_, found),) = analysis.communication.groups.items()
    called, known = group_words(group_key(trace, found), found.name), found.global_rank(1)
    return called, rank_words(called, 1, known), rank_words(called, 1, known, ring=True)


def test_without_metadata_a_rank_is_a_number_in_its_group() -> None:
    assert words_of(analyse(trace_of(EVENTS))) == (
        "group 271",
        "peer 1 of group 271",
        "peer 1 of group 271, or a rank before it",
    )


@pytest.mark.parametrize(("name", "called"), [("dp", "dp group"), ("default_group", "default_group")])
def test_metadata_names_the_group_and_the_rank_in_the_job(tmp_path: Path, name: str, called: str) -> None:
    (tmp_path / "trace_view.json").write_text(json.dumps(EVENTS))
    communicator = next(key for key in map(str, range(10_000)) if key_ends(key, "271"))
    groups = {communicator: {"group_name": name, "group_rank": 0, "global_ranks": [4, 13, 20]}}
    (tmp_path / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    analysis = load(tmp_path, cache=False)
    assert words_of(analysis) == (
        called,
        f"rank 13 of {called}",
        f"rank 13 of {called}, or a rank before it",
    )
    pieces = [gap["communication_pieces"] for gap in gaps_document(analysis, Selection())["gaps"]]
    wait = next(part for parts in pieces for part in parts if part["cause"] == "communication.wait")
    assert (wait["group"], wait["group_name"], wait["group_rank"], wait["rank"]) == ("271", name, 1, 13)
    assert wait["ring"]


def test_the_first_rank_of_a_group_may_be_late() -> None:
    events = [*EVENTS[:-2], plane_task(11_000, 99_000, peer=0, src_rank=1), EVENTS[-1]]
    pieces = [
        gap["communication_pieces"] for gap in gaps_document(analyse(trace_of(events)), Selection())["gaps"]
    ]
    rank_of_cause = {part["cause"]: part["group_rank"] for parts in pieces for part in parts}
    assert rank_of_cause["communication.wait"] == 0 and {*rank_of_cause.values()} == {0, None}


def key_ends(communicator: str, digits: str) -> bool:
    return group_hash(communicator).endswith(digits)


def test_operations_of_streams_are_of_no_group() -> None:
    trace = trace_of(
        [
            *process(0, "python", "GPU 0", 1),
            *thread(0, 7, "stream 7"),
            piece(0, 7, "ncclKernel_AllReduce", 10, 5, "kernel"),
            piece(0, 7, "kernel", 20, 1, "kernel"),
        ]
    )
    (found,) = analyse(trace).communication.groups.values()
    assert group_key(trace, found) is None
    assert group_words(None, found.name) == "no group"


def test_a_group_that_its_operations_do_not_number_is_called_as_its_track() -> None:
    trace = trace_of([*npu(), *group(1), operation(0, 100, "allreduce", 1)])
    (found,) = analyse(trace).communication.groups.values()
    assert group_words(group_key(trace, found), found.name) == "group 1"


def test_ranks_are_labelled_by_their_host_where_there_are_several() -> None:
    """At most 24 characters of it."""

    def labelled(*hosts: str) -> tuple[str, ...]:
        ranks = [
            SimpleNamespace(number=number, digest=SimpleNamespace(identity=SimpleNamespace(host=host)))
            for number, host in enumerate(hosts)
        ]
        job: Any = SimpleNamespace(ranks=ranks)
        return labels(job)

    long = "h" * 24
    assert labelled("node", "node") == ("rank 0", "rank 1")
    assert labelled("node", "", long, f"{long}h") == (
        "rank 0 node",
        "rank 1",
        f"rank 2 {long}",
        f"rank 3 {'h' * 23}…",
    )
