"""A comparison as one JSON object: means per step, times as integer ns, null for what is unknown."""

from __future__ import annotations

import json
from typing import Any

from tracetui.comparison.compared_run import Run
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.regressions import MEMORY, Regression, RegressionLimit
from tracetui.export.cells import encodable
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.column import records
from tracetui.export.tables.comparison import WATERFALL, tables_of
from tracetui.language import in_english


@in_english()
def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return the verdict, both sides, the waterfall and all tables."""
    tables = {table.key: table.documents(comparison) for table in (WATERFALL, *tables_of(comparison))}
    return {
        "schema": SCHEMA,
        "verdict": verdict(comparison),
        "trust": comparison.trust,
        "findings": list(comparison.findings),
        "base": _side(comparison.base),
        "other": _side(comparison.other),
        "step": _step(comparison),
        **tables,
        "warnings": [encodable(note) for note in comparison_notes(comparison)],
    }


@in_english()
def regressions_document(
    comparison: Comparison, limits: tuple[RegressionLimit, ...], found: tuple[Regression, ...]
) -> dict[str, Any]:
    """Return what `tracetui check --baseline` found."""
    return {
        "verdict": verdict(comparison),
        "max_regressions": [
            {
                "measure": limit.measure,
                "share": None if limit.share is None else float(limit.share),
                "bytes" if limit.measure == MEMORY else "ns": limit.amount,
            }
            for limit in limits
        ],
        "regressions": [
            {
                "measure": regression.limit.measure,
                **_amounts(regression),
                "beyond_spread": regression.beyond_spread,
            }
            for regression in found
        ],
    }


def _amounts(regression: Regression) -> dict[str, int]:
    """Return both sides and their difference, by names that tell the unit."""
    unit = "bytes" if regression.limit.measure == MEMORY else "ns"
    base, other = regression.base, regression.other
    amounts = {"base": base, "other": other, "delta": other - base}
    return {f"{name}_{unit}": round(amount) for name, amount in amounts.items()}


def comparison_json(comparison: Comparison) -> str:
    """Return a comparison as JSON text, ASCII only, so that no terminal obeys a name; a line for a row."""
    parts = []
    for key, value in comparison_document(comparison).items():
        text = json.dumps(value, allow_nan=False)
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(json.dumps(row, allow_nan=False) for row in value) + "\n]"
        parts.append(f"{json.dumps(key)}: {text}")
    return "{" + ",\n".join(parts) + "}\n"


def _step(comparison: Comparison) -> dict[str, Any]:
    """Return the mean step like one of its parts, with the interval around its shift."""
    (shown,) = records(WATERFALL.table, WATERFALL.judged(comparison, [comparison.step]))
    test = comparison.step.test
    count, confidence = (None, None) if test is None else (test.steps, test.confidence)
    return {
        **{key: value for key, value in shown.items() if key != "term"},
        "id": None,
        "steps": count,
        "confidence": confidence,
    }


def _side(run: Run) -> dict[str, Any]:
    return {
        "path": encodable(run.path),
        "kind": run.kind.value,
        "steps": list(run.numbers),
        "outlier_steps": list(run.walls.left_out),
        "step_ns": round(run.step_ns) if len(run.wall_ns) else None,
        **({"ranks": list(run.members)} if run.members else {}),
    }
