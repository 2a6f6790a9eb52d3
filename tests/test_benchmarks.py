"""What the benchmarks compare with is true: the floors decode what the reader reads, and mutants are code."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import numpy as np
import pytest

import tracetui
from simulator.database import DatabaseWriter
from simulator.scenarios import simulate
from tests.benchmarks.databases import scale
from tests.benchmarks.digests import made_digests
from tests.benchmarks.floors import _decode, _parts
from tests.benchmarks.killing import ROOT, Case, Checkout, near
from tests.benchmarks.mutants import chosen, drawn, mutants_of
from tracetui.job.channels import Rank
from tracetui.job.digest_bytes import decode, encode
from tracetui.job.job import job_of
from tracetui.reader.source import TraceFile


@pytest.mark.parametrize("processes", [1, 2, 3, 5])
def test_every_event_is_decoded_once(samples: Path, processes: int) -> None:
    trace = samples / "moba" / "trace_view.json"
    with TraceFile(trace) as file:
        events = file.read().report.events
    decoded = sum(_decode((str(trace), *part)) for part in _parts(trace, processes))
    assert decoded in (events - 1, events), "all but the last one, behind which there is no other"


def test_of_a_module_all_mutants_are_tried_and_of_packages_those_drawn() -> None:
    flows = Path("tracetui/trace/flows.py")
    assert chosen(("reader",), 2, 3, flows) == {"trace": list(mutants_of(flows))}
    assert chosen(("trace", "reader"), 2, 3) == {name: drawn(name, 2, 3) for name in ("trace", "reader")}


@pytest.mark.parametrize("package", ["reader", "trace"])
def test_every_mutant_differs_from_its_source_in_one_token_and_is_code(package: str, thorough: bool) -> None:
    count = 25 if thorough else 8
    mutants = drawn(package, count, seed=3)
    assert len(set(mutants)) == count
    for mutant in mutants:
        source = (ROOT / mutant.path).read_text(encoding="utf-8")
        broken = mutant.applied(source)
        assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))
        assert len(broken) - len(source) == len(mutant.new) - len(mutant.old)


def test_tests_that_may_see_a_broken_line_are_tried_first() -> None:
    cases = [
        Case("b::other", 1.0, frozenset()),
        Case("b::far", 1.0, frozenset([("x.py", 1), ("y.py", 1), ("z.py", 1)])),
        Case("a::page", 1.0, frozenset([("z.py", 1)])),
        Case("a::about", 1.0, frozenset([("x.py", 9), ("z.py", 1)])),
        Case("c::none", 1.0, frozenset([("y.py", 9)])),
        Case("d::looks", 1.0, frozenset()),
    ]

    def tried(file: str, first: int, seconds: float = 60) -> list[str]:
        return [case.test for case in near(cases, file, first, seconds)]

    assert tried("x.py", 1) == ["b::far", "b::other"]
    assert tried("z.py", 1) == ["a::page", "a::about", "b::far", "b::other"]
    assert tried("z.py", 1, seconds=2) == ["a::page", "a::about"]
    for made in (0, 5):  # at the import of the file: its lines outside of functions, and what those call
        assert tried("x.py", made) == ["b::other", "d::looks", "a::page", "a::about", "b::far", "c::none"]
        assert tried("y.py", made) == ["b::other", "d::looks", "c::none", "b::far", "a::page", "a::about"]
        assert tried("new.py", made) == ["b::other", "d::looks", "a::page", "c::none", "a::about", "b::far"]


def test_a_broken_line_is_killed_where_a_test_or_what_all_tests_import_fails(tmp_path: Path) -> None:
    above = "LIMIT = [1][0]\n\n\ndef above(value: int) -> bool:\n    return value > LIMIT\n"
    test = "from tracetui.limits import above\n\n\ndef test() -> None:\n    assert above(9)\n"
    sources = {
        "tracetui/__init__.py": "",
        "tracetui/limits.py": above,
        "tests/conftest.py": "import tracetui.limits\n",
        "tests/test_limits.py": test,
    }
    for path, text in sources.items():
        file = tmp_path / "source" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, (0, 0))  # what is compiled of it is told from that of broken code by time and length
    checkout, limits = Checkout(tmp_path / "source", tmp_path / "copy"), Path("tracetui/limits.py")
    cases = checkout.cases("tests")
    broken = {">": "<", "> LIMIT": ">= LIMIT", "[0]": "[1]"}
    fates = [
        checkout.fate(limits, above.replace(old, new), 1 if old == "[0]" else 5, cases, 60)
        for old, new in broken.items()
    ]
    assert fates == ["killed", "lives", "killed"]


def test_made_digests_are_those_of_one_job() -> None:
    digests = made_digests(128, 60, 3)
    again = [decode(encode(digest)) for digest in digests[:3]]
    assert [encode(digest) for digest in again] == [encode(digest) for digest in digests[:3]]
    for digest in digests:
        assert sum(digest.by_class().values()) == digest.boundaries[-1] - digest.boundaries[0]
    job = job_of([Rank(digest.identity.rank, digest, "") for digest in digests])
    assert (job.world, job.missing, job.unmatched) == (128, (), 0)
    assert job.matched > 60 * 128 // 64
    assert sum(root.lost_ns for root in job.root_breakdown.roots) == job.root_breakdown.total_ns > 0


def test_a_scaled_database_holds_whole_copies(tmp_path: Path) -> None:
    """Each copy has the tasks, links, stacks, steps and times of the source, shifted by the run's length."""
    source, target = tmp_path / "one.db", tmp_path / "three.db"
    DatabaseWriter(simulate("stalls", 2)).write(source)
    assert scale(source, target, copies=3) == 3
    one, three = (tracetui.load(path, cache=False) for path in (source, target))
    assert len(three.trace.slices) == 3 * len(one.trace.slices)
    assert (three.launch_chains.total, three.launch_chains.linked) == (
        3 * one.launch_chains.total,
        3 * one.launch_chains.linked,
    )
    assert int((three.launch_chains.stack >= 0).sum()) == 3 * int((one.launch_chains.stack >= 0).sum()) > 0
    assert [step.number for step in three.steps] == list(range(50, 56))
    assert [step.computing_ns for step in three.steps] == [step.computing_ns for step in one.steps] * 3
    assert np.unique(three.trace.slices.start).size > 2 * np.unique(one.trace.slices.start).size
