"""The digest of a rank: exact, small, the same bytes again, and safe to read whatever it holds."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import gpu
from tests.analysis.real import npu_output
from tests.job.files import real_digest
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.health.facts import Doubt
from tracetui.api import load
from tracetui.export.job.document import job_document
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest, TimeClass
from tracetui.job.digest_bytes import UnreadableDigest, _pack, _unpack, decode, encode
from tracetui.job.digest_files import is_digest
from tracetui.job.digest_run import run_of_digest
from tracetui.job.digest_size import encode_within, limit_of
from tracetui.job.digesting import digest_of, digest_trace
from tracetui.job.identity import identify
from tracetui.job.job import job_of
from tracetui.language import state, statement_document

int64s = st.integers(-(2**61), 2**61)


@pytest.fixture(scope="module")
def encoded(samples: Path) -> bytes:
    return digest_trace(samples / "moba" / "trace_view.json", cache=False)


@pytest.fixture(scope="module")
def digest(encoded: bytes) -> Digest:
    return decode(encoded)


def test_time_between_boundaries_sums_to_what_the_analysis_says(digest: Digest, samples: Path) -> None:
    analysis = load(samples / "moba" / "trace_view.json", cache=False)
    (split,), (step,) = analysis.communication.splits, analysis.steps
    classes = digest.by_class()
    assert sum(classes.values()) == digest.end - step.host_start_ns
    assert classes[TimeClass.COMPUTING] == split.computing_ns
    assert classes[TimeClass.WAIT] == split.wait_ns
    assert classes[TimeClass.TRANSFER] == split.transfer_ns
    before = digest.start - step.host_start_ns
    assert classes[TimeClass.IDLE] + classes[TimeClass.COPY] == split.idle_ns + split.copy_ns + before


def test_the_same_trace_gives_the_same_bytes_wherever_it_lies(
    encoded: bytes, samples: Path, tmp_path: Path
) -> None:
    copied = shutil.copytree(samples / "moba", tmp_path / "elsewhere")
    assert digest_trace(copied, cache=False, jobs=1) == encoded
    assert encode(decode(encoded)) == encoded


def test_sentences_come_back_with_what_they_are_made_of(digest: Digest) -> None:
    warning = state("{run}: {note}", run="a.json", note=state("the trace is cut"))
    assert digest.facts is not None
    doubt = Doubt("a.finding", 1, ("idle",), state("{count} steps", count=3))
    health = replace(digest.facts.health, doubts=(doubt,))
    facts = replace(digest.facts, notes=(warning, "a text"), health=health)
    again = decode(encode(replace(digest, warnings=(warning,), facts=facts)))
    assert again.facts is not None
    kept = [*again.warnings, *again.facts.notes, again.facts.health.doubts[0].sentence]
    assert [*map(statement_document, kept)] == [
        *map(statement_document, (warning, warning, "a text", doubt.sentence))
    ]


def test_what_is_no_character_is_replaced(digest: Digest) -> None:
    """As in a directory whose name is no UTF-8, or an option that is half of a surrogate pair."""
    identity = replace(digest.identity, name="\udcff_ascend_pt", options={"l2_cache": "\ud800", "level": "é"})
    again = decode(encode(replace(digest, identity=identity))).identity
    assert (again.name, again.options) == ("?_ascend_pt", {"l2_cache": "?", "level": "é"})


def test_a_digest_is_small(encoded: bytes, samples: Path) -> None:
    assert len(encoded) <= limit_of((samples / "moba" / "trace_view.json").stat().st_size) == 64_000
    assert limit_of(10**8) == 10**6
    assert limit_of(10**12) == 8_000_000


def test_what_is_too_large_loses_detail_and_no_time(digest: Digest) -> None:
    whole = digest.by_class()
    for limit in (3_200, 2_800):
        data = encode_within(digest, limit)
        assert len(data) <= limit
        less = decode(data)
        assert less.by_class() == whole
        assert less.boundaries[0] == digest.boundaries[0]
        assert less.boundaries[-1] == digest.boundaries[-1]
    assert len(less.keys) < len(digest.keys)
    told_apart = f"only {len(less.keys)} reasons and lines are told apart"
    assert any(text.startswith(told_apart) for text in less.warnings)


def test_collectives_that_do_not_fit_are_told(digest: Digest) -> None:
    many = replace(digest, collectives=digest.collectives.at(np.arange(2).repeat(3000)))
    less = decode(encode_within(many, 3_000))
    assert 0 < len(less.collectives) < 6000
    assert less.warnings[-1].startswith(f"only the first {len(less.collectives):,} collectives")
    assert less.by_class() == digest.by_class()


@given(st.lists(int64s, max_size=30))
def test_columns_come_back(numbers: list[int]) -> None:
    column = np.array(numbers, np.int64)
    assert _unpack(_pack(column)).tolist() == numbers


@given(st.data())
def test_no_damage_does_more_than_say_so(encoded: bytes, data: st.DataObject) -> None:
    text = json.loads(gzip.decompress(encoded))
    name = data.draw(st.sampled_from(sorted(text)))
    text[name] = data.draw(st.sampled_from([None, 3, "9AAAA", [], {}, [[1]], "1////", -5, "x"]))
    try:
        decode(gzip.compress(json.dumps(text).encode()))
    except UnreadableDigest as error:
        assert str(error).startswith("it is ")


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to everything in a document."""
    yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _places(part, (*place, key))


@pytest.mark.parametrize("odd", [None, 1.5, True, "x", [], {}, 1 << 63, -(1 << 80), [{}]], ids=repr)
def test_whatever_stands_anywhere_in_a_digest_it_is_read_or_refused(
    encoded: bytes, odd: Any, thorough: bool
) -> None:
    """Types and numbers that a column, a name or a rank cannot have."""
    text = gzip.decompress(encoded)
    for place in list(_places(json.loads(text)))[1 :: 7 if thorough else 29]:
        document = json.loads(text)
        holder = document
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = odd
        with suppress(UnreadableDigest):
            digest = decode(gzip.compress(json.dumps(document).encode(), 1))
            job_document(job_of([Rank(0, digest, ""), Rank(1, digest, "")]))


@pytest.mark.parametrize("schema", [4, 5])
def test_what_an_older_digest_compares_by_sentences_is_left_out(encoded: bytes, schema: int) -> None:
    document = json.loads(gzip.decompress(encoded))
    older = decode(gzip.compress(json.dumps({**document, "schema": schema}).encode()))
    assert older.facts is None and len(older.steps) == len(decode(encoded).steps) > 0
    (note,) = run_of_digest(older, "").notes
    assert note.startswith("its digest is of an older version of tracetui")


def test_a_digest_is_told_by_how_its_text_begins_in_older_versions_too(
    encoded: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "renamed"
    for text, found in (
        (gzip.decompress(encoded), True),
        (b'{"advice":[],"arrivals":{}}', True),
        (b'{"displayTimeUnit":"ms"}', False),
    ):
        path.write_bytes(gzip.compress(text))
        assert is_digest(path) == found


def test_other_files_are_no_digests(encoded: bytes) -> None:
    for data in (b"", b"{}", encoded[:-20], gzip.compress(b'{"schema": 1}'), gzip.compress(b"[1]")):
        with pytest.raises(UnreadableDigest):
            decode(data)


def test_a_real_rank(real_traces: Path) -> None:
    digest = decode(real_digest(npu_output(real_traces, "level2/rank0")))
    assert digest.identity.rank == 0
    assert digest.identity.options["profiler_level"] == "Level2"
    (group,) = digest.groups
    assert (group.key, group.rank, group.size) == ("271", 0, 8)
    assert digest.collectives.wait.tolist() == [86157761, 821636, 0, 8485870]
    assert digest.collectives.peer.tolist() == [5, 5, -1, 5]
    arrivals, awaited = digest.arrivals, digest.collectives.start + digest.collectives.wait
    last_arrivals = dict(sorted(zip(arrivals.collective.tolist(), arrivals.time.tolist())))
    assert last_arrivals == {collective: int(awaited[collective]) for collective in (0, 1, 3)}


def test_the_links_of_a_real_rank_are_what_its_tasks_moved(real_traces: Path) -> None:
    output = npu_output(real_traces, "level2/rank0")
    links = decode(real_digest(output)).links
    events = json.loads((output / "trace_view.json").read_bytes())
    moved = [event["args"]["size(Byte)"] for event in events if event["name"] in ("Memcpy", "Reduce_Inline")]
    assert (links.transfers.sum(), links.bytes.sum()) == (len(moved), sum(moved))
    assert not links.group.any(), "that is the first, and there is no other"


def test_planes_without_their_collectives_are_no_links(samples: Path, tmp_path: Path) -> None:
    """A recording that was cut may have lost the operations of a group and kept their tasks."""
    document = json.loads((samples / "moba" / "trace_view.json").read_bytes())
    kept = [event for event in document if not str(event.get("name")).startswith("hcom_")]
    assert len(kept) < len(document)
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(kept))
    digest = decode(digest_trace(path, cache=False, jobs=1))
    assert (len(digest.collectives.start), len(digest.links.bytes)) == (0, 0)


def test_a_collective_that_was_hidden_until_it_ended_was_not_awaited() -> None:
    """Of two, one after the other, the device computes during the first and waits for the second."""
    events = [*gpu.gpu(), gpu.step(1, 0, 40_000_000)]
    tasks = [("gemm", 7, 1, 9), ("ncclKernel_AllReduce", 20, 5, 5), ("ncclKernel_AllReduce", 20, 10, 10)]
    for correlation, (name, stream, start, dur) in enumerate([*tasks, ("gemm", 7, 20, 5)]):
        events.append(gpu.launch(correlation * 10_000, 5_000, correlation))
        events.append(gpu.kernel(start * 1_000_000, dur * 1_000_000, correlation, name, stream))
    digest = digest_of(analyse(trace_of(events)), identify(Path("rank0.json"), {}))
    assert digest.collectives.start.tolist() == [5_000_000, 10_000_000]
    assert digest.awaited is not None and digest.awaited.collective.tolist() == [1]
