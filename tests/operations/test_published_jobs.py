"""The three jobs that Lin et al. published: `tracetui.slowdown` gives the results in their artifact.

They are looked for where `STRAGGLER_ARTIFACT` says: a checkout of ByteDance-Seed/StragglerAnalysis, whose own
code reads the dependencies between operations. Without it, or without pyarrow, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import tracetui

NS = 1_000_000_000


@pytest.fixture
def artifact(monkeypatch: pytest.MonkeyPatch) -> Path:
    path = os.environ.get("STRAGGLER_ARTIFACT", "")
    if not path or not Path(path, "data").is_dir():
        pytest.skip("STRAGGLER_ARTIFACT names no checkout of ByteDance-Seed/StragglerAnalysis")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(sys, "path", [path, *sys.path])
    return Path(path)


def dependencies() -> ModuleType:
    from importlib import import_module

    return import_module("analyzer.dependency_model")


@pytest.mark.parametrize("name", ["ST", "SE", "AR"])
def test_the_results_are_those_published(artifact: Path, name: str) -> None:
    frame = pd.read_parquet(artifact / "data" / f"trace-{name}.parquet").reset_index(drop=True)
    frame["mc"] = frame["mc"].astype("Int64")
    named = frame["optype"].astype(str) + "_" + frame["seq_id"].astype(str) + "_" + frame["stage"].astype(str)
    frame["op"], frame["end_ts"] = named, frame["start_ts"] + frame["duration"]
    comes_after, groups, group_of, synchronised = dependencies().setup_dependency(frame.copy(), 1)
    copies = int(frame["dp_rank"].max()) + 1
    group = named.map(group_of).fillna(-1).astype(np.int64)
    shared = np.where(named.isin(synchronised), copies, frame["dp_rank"])
    origin = float(frame["start_ts"].min())
    operations = pd.DataFrame(
        {
            "op": np.arange(len(frame)),
            "rank": frame["rank"].astype(np.int64),
            "stage": frame["stage"].astype(np.int64),
            "step": frame["step"].astype(np.int64),
            "kind": frame["optype"].astype(str),
            "start_ns": np.rint((frame["start_ts"].astype(np.float64) - origin) * NS).astype(np.int64),
            "end_ns": np.rint((frame["end_ts"].astype(np.float64) - origin) * NS).astype(np.int64),
            "group": np.where(group >= 0, group * (copies + 1) + shared, -1),
        }
    )
    places = frame.assign(place=np.arange(len(frame))).set_index(["op", "dp_rank", "step"])["place"]
    by_name = {key: rows.droplevel("op") for key, rows in places.groupby(level="op")}
    links = []
    for later, earlier_names in comes_after.items():
        for earlier in earlier_names:
            joined = pd.concat([by_name[later], by_name[earlier]], axis=1, join="inner")
            links.append(joined.to_numpy())
    after = pd.DataFrame(np.concatenate(links), columns=["op", "before"])
    cost = tracetui.slowdown(operations, after)
    results = {
        kind: json.loads((artifact / "data" / f"{kind}-{name}.json").read_text())
        for kind in ("result", "mw", "ms")
    }
    assert len(groups) > 1
    assert cost.slowdown == pytest.approx(results["result"]["blocking_slowdown"], rel=0.01)
    assert cost.delays == pytest.approx(results["result"]["launch_slowdown"], rel=0.01)
    assert cost.worst_workers == pytest.approx(results["mw"]["Mw"], abs=0.02)
    assert cost.last_stage == pytest.approx(results["ms"]["Ms"], abs=0.02)
