"""What the JSON and the database of a run say differently, as sentences and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracetui.comparison.exports import DeviceMeasures, ExportDifference
from tracetui.export.cells import encodable
from tracetui.export.json_document import SCHEMA
from tracetui.language import counted, translate
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration, format_exact


def differences_text(differences: Sequence[ExportDifference]) -> str:
    """Return a line for each: "NPU: idle is 25.2 ms in the JSON and 25.4 ms in the database"."""
    return "".join(f"{_sentence(difference)}\n" for difference in differences)


def agreement_text(json: Sequence[DeviceMeasures], database: Sequence[DeviceMeasures]) -> str:
    """Return the sentence about exports that agree: what of them was compared."""
    tasks, gaps = sum(device.tasks for device in json), sum(len(device.gap_start) for device in json)
    linked = [format_count(sum(device.linked for device in side)) for side in (json, database)]
    parts = {
        "tasks": counted(tasks, "1 task", "{count} tasks"),
        "gaps": counted(gaps, "1 gap", "{count} gaps"),
    }
    template = "the JSON and the database agree: {tasks}, {gaps}, their times, steps and causes"
    if any(pair[0].linked != pair[1].linked for pair in zip(json, database)):
        template = (
            "the JSON and the database agree: {tasks}, {gaps}, their times and steps; causes are not "
            "compared, as {json} and {database} tasks lead to an operator"
        )
    return translate(template, **parts, json=linked[0], database=linked[1])


def exports_document(paths: tuple[str, str], differences: Sequence[ExportDifference]) -> dict[str, Any]:
    """Return the paths of the JSON and of the database, and what they differ in, times in ns."""
    return {
        "schema": SCHEMA,
        "exports": {"json": encodable(paths[0]), "db": encodable(paths[1])},
        "differences": [
            {
                "device": encodable(difference.device) or None,
                "measure": difference.measure,
                "json": difference.json,
                "db": difference.database,
                "unit": "ns" if difference.is_time else None,
            }
            for difference in differences
        ],
    }


def _sentence(difference: ExportDifference) -> str:
    values = difference.json, difference.database
    words = [format_duration(value) if difference.is_time else format_count(value) for value in values]
    if words[0] == words[1]:
        words = [format_exact(value) for value in values]
    template = "{measure} is {json} in the JSON and {database} in the database"
    if difference.measure.endswith("s"):
        template = "{measure} are {json} in the JSON and {database} in the database"
    sentence = translate(template, measure=difference.measure, json=words[0], database=words[1])
    if not difference.device:
        return sentence
    return translate("{device}: {what}", device=printable(difference.device), what=sentence)
