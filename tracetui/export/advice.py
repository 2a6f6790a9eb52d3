"""Advice as one JSON object: what could be done about lost time, and the numbers that it follows from."""

from __future__ import annotations

from typing import Any

from tracetui.analysis.advice import Advice
from tracetui.analysis.analyse import Analysis
from tracetui.export.cells import encodable
from tracetui.export.documents import SCHEMA
from tracetui.export.reasons import frame_document
from tracetui.trace.stack import Frame

GAPS = 5  #: gaps to look at, of each advice


def advice_document(analysis: Analysis) -> dict[str, Any]:
    """The advice, that about the most time first. What is about no line of Python has no file."""
    return {"schema": SCHEMA, "advice": [_advice(analysis, advice) for advice in analysis.advice]}


def _advice(analysis: Analysis, advice: Advice) -> dict[str, Any]:
    gaps, chosen = analysis.gaps, advice.gaps[:GAPS]
    frame = None if advice.file is None else Frame(advice.file, advice.line, advice.function)
    columns = (gaps.device[chosen], gaps.start[chosen], (gaps.end - gaps.start)[chosen], gaps.idle[chosen])
    return {
        "id": advice.id,
        "title": advice.title,
        "text": advice.text,
        "rule": advice.rule,
        "cost_ns": advice.cost_ns,
        "per_step_ns": advice.per_step_ns,
        **frame_document(frame),
        "subjects": [encodable(subject) for subject in advice.subjects],
        "evidence": {
            key: encodable(value) if isinstance(value, str) else value
            for key, value in advice.evidence.items()
        },
        "gaps": [
            {
                "device": encodable(analysis.devices[device].device),
                "start_ns": start,
                "dur_ns": dur,
                "idle_ns": idle,
            }
            for device, start, dur, idle in zip(*(column.tolist() for column in columns))
        ],
    }
