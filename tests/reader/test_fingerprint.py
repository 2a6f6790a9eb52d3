"""A scanner that is compiled from other sources than those that are here is left alone, and that is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import wheels
from tracetui.compiled import BUILD, FLAGS, MAIN, MODULE, SOURCES, fingerprint, stamp

READER = """
import sys
from tracetui.compiled import COMPILED, STALE
from tracetui.reader.source import TraceFile
with TraceFile(sys.argv[1]) as trace:
    report = trace.read().report
print(COMPILED, STALE, report.events, list(report.warnings), report.warnings == report.passing)
"""


def test_every_source_counts(tmp_path: Path) -> None:
    assert fingerprint(tmp_path) is None
    for source in ["scan.c", *(header.name for header in SOURCES.glob("*.h"))]:
        folder = tmp_path / source
        shutil.copytree(SOURCES, folder)
        assert fingerprint(folder) == fingerprint()
        with (folder / source).open("a") as file:
            file.write("/* changed */")
        assert fingerprint(folder) != fingerprint()


def test_wheels_of_other_machines_are_compiled_as_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(wheels, "_run", commands.append)
    monkeypatch.setattr(wheels, "_headers", lambda *_: ())
    module = wheels.compile_scanner("aarch64", tmp_path / "zig")
    assert {*FLAGS, str(MAIN), f"-D{'='.join(stamp())}"} <= {*commands[0]}
    assert module.name.startswith(f"{MODULE}.")


@pytest.mark.skipif(BUILD is None, reason="the scanner is not compiled")
def test_the_scanner_is_of_these_sources() -> None:
    assert fingerprint() == BUILD


def test_a_stale_scanner_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "_tracetui_scan.py").write_text("FINGERPRINT = 'of old'")
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps([{"ph": "X", "name": "a", "pid": 1, "tid": 2, "ts": 5, "dur": 1}] * 9))
    done = subprocess.run(
        [sys.executable, "-c", READER, str(trace)],
        cwd=SOURCES.parents[2],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    warning = "the compiled scanner is of other sources, so reading takes longer: install tracetui again"
    assert done.stdout == f"False True 9 {[warning]} True\n"
