"""The run in the summary: what the files beside the trace tell, in every form."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.run_facts import run_in_short
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.markdown import summary_markdown
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text

HOSTILE = "1\x1b[31m`evil`"


@pytest.fixture
def run(tmp_path: Path) -> Analysis:
    info = {
        "rank_id": 3,
        "cann_version": HOSTILE,
        "config": {
            "common_config": {"with_stack": True},
            "experimental_config": {"_profiler_level": "Level1"},
        },
    }
    (tmp_path / "profiler_info_3.json").write_text(json.dumps(info), encoding="utf-8")
    metadata = {"ENV_VARIABLES": {"TASK_QUEUE_ENABLE": "2"}, "distributed_args": {"world_size": 8}}
    (tmp_path / "profiler_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    events = [*process(300, "Ascend Hardware", "NPU", 13), piece(300, 1, "kernel", "1000", "5")]
    return analyse(replace(trace_of(events), path=str(tmp_path / "trace_view.json")))


def test_the_summary_tells_of_the_run(run: Analysis) -> None:
    text = summary_text(run, Selection(), None, 80)
    assert "\nRun: rank 3, Level1, world_size 8; cann 1" in text and "TASK_QUEUE_ENABLE=2" in text
    assert "with_stack" not in text and "\x1b" not in text
    markdown = summary_markdown(run, Selection(), None)
    assert "Run: rank 3, Level1, world" in markdown and "\x1b" not in markdown and "`evil`" not in markdown
    facts = summary_document(run, Selection())["trace"]["run"]
    assert (facts["rank"], facts["level"], facts["options"]["with_stack"]) == (3, "Level1", "true")
    assert (facts["environment"], facts["parallel"]) == ({"TASK_QUEUE_ENABLE": "2"}, {"world_size": 8})


def test_in_short_it_is_rank_and_level(run: Analysis) -> None:
    assert run_in_short(run.run) == "rank 3, Level1"
    assert run_in_short(replace(run.run, rank=None)) == "Level1"
    assert run_in_short(replace(run.run, rank=0, level=None)) == "rank 0"
