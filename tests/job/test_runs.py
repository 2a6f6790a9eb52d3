"""A run that comes back from its digest is the run: what it keeps is the same, to the nanosecond."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.job.files import real_digest
from tests.job.planted import digests
from tracetui.api import load
from tracetui.comparison.compared_run import Run, run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.comparison.walls import KEEPS_ALL
from tracetui.export.comparison.text import comparison_text
from tracetui.export.tables.comparison import EVERY, WATERFALL
from tracetui.job.digest import Digest
from tracetui.job.digest_bytes import UnreadableDigest, decode, encode
from tracetui.job.digest_run import reduce_run, run_of_digest
from tracetui.job.digest_size import encode_within
from tracetui.job.digesting import digest_trace
from tracetui.job.texts import LinePlaces, TextPlaces
from tracetui.language import state, statement_document

MOBA = Path("moba") / "trace_view.json"


def differences(comparison: Comparison) -> list[str]:
    """The rows in which two sides differ at all."""
    return [
        f"{table.by} {row.name}"
        for table in (WATERFALL, *EVERY)
        for row in table.rows(comparison)
        if (row.base.ns, row.base.count, row.base.lowest, row.base.highest)
        != (row.other.ns, row.other.count, row.other.lowest, row.other.highest)
    ]


@pytest.fixture(scope="module")
def run(samples: Path) -> Run:
    return run_of(load(samples / MOBA, cache=False))


@pytest.fixture(scope="module")
def digest(samples: Path) -> Digest:
    return decode(digest_trace(samples / MOBA, cache=False))


def test_a_digest_is_equal_to_its_trace(run: Run, digest: Digest) -> None:
    comparison = compare_runs(run, run_of_digest(digest, "digest"))
    assert comparison.step.delta_ns == 0
    assert differences(comparison) == []
    assert all(
        len(table.rows(comparison)) for table in EVERY if table.by not in ("rank", "root", "memory", "phase")
    )
    assert comparison.other.numbers == run.numbers
    assert comparison.other.totals == run.totals
    assert "OTHER: operators are compared by name alone" in "".join(comparison.notes)


@pytest.mark.parametrize(
    "path",
    [
        "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT",
        "gpu/alexnet_a100.json.gz",
        pytest.param("gpu/workers4", marks=pytest.mark.thorough),
        pytest.param("gpu/pairs/h100", marks=pytest.mark.thorough),
    ],
)
def test_of_real_traces(real_traces: Path, path: str) -> None:
    base = run_of(load(real_traces / path, cache=False))
    data = real_digest(real_traces / path)
    assert len(data) <= 16_000
    assert differences(compare_runs(base, run_of_digest(decode(data), path))) == []


@pytest.mark.parametrize("limit", [4_500, 3_500, 2_500])
def test_what_does_not_fit_stands_together(run: Run, digest: Digest, limit: int) -> None:
    """Whichever side is cut: no sum is lost, and what it does not tell apart is neither new nor gone."""
    less = run_of_digest(decode(encode_within(digest, limit)), "less")
    for comparison in (compare_runs(run, less), compare_runs(less, run)):
        assert comparison.step.delta_ns == 0
        for table in (WATERFALL, *EVERY):
            rows = table.rows(comparison)
            assert sum(row.delta_ns for row in rows) == 0, table.by
            assert {row.status for row in rows} <= {"matched"}, table.by
        assert any("(others)" in row.name for row in comparison.api)
        assert any("(others)" in note for note in comparison.notes)


def test_a_digest_of_before_has_nothing_to_compare(digest: Digest, run: Run) -> None:
    walls, terms = digest.walls.at(slice(0)), digest.terms.at(slice(0))
    none = replace(digest, facts=None, walls=walls, terms=terms, device_terms=terms)
    old = run_of_digest(none, "")
    comparison = compare_runs(old, run)
    assert not comparison.comparable
    assert "make it again" in "".join(comparison.notes)


@pytest.mark.parametrize("recorded", [False, True])
def test_whether_the_scheduler_was_recorded_is_kept(digest: Digest, run: Run, recorded: bool) -> None:
    columns = reduce_run(replace(run, has_scheduler=recorded), TextPlaces(), LinePlaces())
    kept = decode(encode(replace(digest, facts=columns.facts)))
    assert run_of_digest(kept, "").has_scheduler is recorded


def test_a_digest_does_not_advise_an_option_that_it_refuses(run: Run) -> None:
    left_out = state("step {steps} is left out", steps=5)
    for note in (state(KEEPS_ALL, note=left_out), left_out):
        facts = reduce_run(replace(run, notes=(note,)), TextPlaces(), LinePlaces()).facts
        assert [statement_document(kept) for kept in facts.notes] == [statement_document(left_out)]


def test_a_digest_whose_parts_do_not_fit_is_refused() -> None:
    digest = digests("late")[0]
    walls, parts, calls, facts = digest.walls, digest.parts, digest.calls, digest.facts
    assert facts is not None
    too_long, of_one_line = np.full(len(parts), 1 << 62), np.zeros(len(digest.lines) + 1, np.int64)
    mixed = replace(walls, device=np.arange(len(walls)) % 2)
    of_mixed = replace(digest, walls=mixed, facts=replace(facts, steps=int((mixed.device == 0).sum())))
    for wrong in (
        replace(digest, terms=replace(digest.terms, ns=digest.terms.ns + 1)),
        replace(digest, walls=replace(walls, device=np.arange(len(walls)))),
        replace(of_mixed, parts=parts.at(slice(int(of_mixed.part_counts.sum())))),
        replace(digest, parts=replace(parts, ns=too_long)),
        replace(digest, calls=replace(calls, line=of_one_line, number=of_one_line)),
    ):
        with pytest.raises(UnreadableDigest, match="it is damaged"):
            decode(encode(wrong))


def test_a_trace_of_a_host_alone_has_nothing_to_compare(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "host.json"
    path.write_text(
        '[{"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]'
    )
    host = run_of_digest(decode(digest_trace(path, cache=False)), "host")
    comparison = compare_runs(host, run)
    assert not comparison.comparable
    assert "no known device computes or communicates in it" in "".join(comparison.notes)
    assert "make it again" not in "".join(comparison.notes)


def test_the_terms_of_a_step_sum_to_it_where_one_is_there_twice(digest: Digest, run: Run) -> None:
    term = digest.terms.term.copy()
    term[0] = term[1]
    damaged = run_of_digest(replace(digest, terms=replace(digest.terms, term=term)), "damaged")
    comparison = compare_runs(run, damaged)
    assert sum(term.delta_ns for term in comparison.waterfall) == comparison.step.delta_ns == 0


@settings(max_examples=settings().max_examples // 2)
@given(
    st.sampled_from(["walls", "terms", "device_terms", "sums", "parts", "calls"]),
    st.integers(0, 255),
    st.integers(0, 1 << 16),
    st.integers(-(2**40), 2**40),
)
def test_no_damage_gives_other_sums(
    digest: Digest, run: Run, table: str, column_number: int, row: int, value: int
) -> None:
    """A digest that is read for all its damage holds an identity still, and compares."""
    columns = getattr(digest, table)
    names = [field.name for field in fields(columns)]
    column = names[column_number % len(names)]
    values = getattr(columns, column).copy()
    values[row % len(values)] = value
    try:
        damaged = decode(encode(replace(digest, **{table: replace(columns, **{column: values})})))
    except UnreadableDigest:
        return
    comparison = compare_runs(run, run_of_digest(damaged, "damaged"))
    assert sum(term.delta_ns for term in comparison.waterfall) == comparison.step.delta_ns
    comparison_text(comparison, None, 0, 80)
