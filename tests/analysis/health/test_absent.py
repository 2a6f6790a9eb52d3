"""What the options of a profiler say was not recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tracetui.api import load


@pytest.mark.parametrize(("option", "is_noted"), [(False, True), (True, False), (None, False), ("no", False)])
def test_shapes_are_absent_where_the_profiler_was_told_so(
    samples: Path, tmp_path: Path, option: object, is_noted: bool
) -> None:
    trace = tmp_path / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    trace.parent.mkdir()
    trace.symlink_to(samples / "moba" / "trace_view.json")
    common = {} if option is None else {"record_shapes": option}
    config = {"config": {"common_config": common}}
    (tmp_path / "profiler_info_0.json").write_text(json.dumps(config), encoding="utf-8")
    health = load(trace).health
    noted = [finding for finding in health.findings if finding.id == "shapes.absent"]
    assert [(finding.severity.label, finding.affects) for finding in noted] == (
        [("note", ("operators",))] if is_noted else []
    )
    assert health.trust["operators"] == "good"
