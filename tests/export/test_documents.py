"""Text, JSON and CSV of the same analysis say the same, cell by cell, whatever the names are."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

from tests.analysis import real
from tests.export.training import NAMES, training_events
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.cause import Cause
from tracetui.export.cells import text_cell
from tracetui.export.csv_table import write_table
from tracetui.export.json_document import json_texts
from tracetui.export.tables.common import causes_document
from tracetui.export.tables.gaps import GAPS, GapRows, gap_causes
from tracetui.export.tables.steps import STEPS, SUMS, StepRows
from tracetui.export.text import cell_width, to_ascii
from tracetui.export.trace.advice_text import advice_text
from tracetui.export.trace.communication_text import split_rows
from tracetui.export.trace.documents import (
    advice_document,
    gaps_document,
    hotspots_document,
    summary_document,
)
from tracetui.export.trace.idle_text import gaps_text, hotspots_text
from tracetui.export.trace.markdown import summary_markdown
from tracetui.export.trace.nested_text import FRAMES, nested_text
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_ms, format_percent, format_time

ALL = Selection()
STEP_SUMS = [column.key for column in SUMS]
REAL = (
    *("npu/level0/rank1", "npu/level2/rank0", "npu/level2/rank1", "gpu/sampled_rank-0"),
    pytest.param("gpu/resnet_rank0", marks=pytest.mark.thorough),  # five times the gaps
)


@pytest.fixture(scope="module")
def training() -> Analysis:
    return analyse(trace_of(training_events()))


@pytest.fixture(scope="module", params=["training", *REAL])
def any_analysis(request: pytest.FixtureRequest, training: Analysis) -> Analysis:
    if request.param == "training":
        return training
    directory, _, name = request.param.rpartition("/")
    traces: Path = request.getfixturevalue("real_traces")
    path = next(
        path for path in (traces / directory).rglob("*.json*") if name in str(path) and is_trace(path)
    )
    return real.analysed(path)


@cache
def all_gaps(analysis: Analysis) -> dict[str, Any]:
    """The document of all gaps, which no test changes."""
    return gaps_document(analysis, ALL)


def is_trace(path: Path) -> bool:
    return path.name == "trace_view.json" or path.suffix == ".gz"


def words(line: str) -> list[str]:
    """The cells of a table's line that are separated by two blanks or more."""
    return [cell for cell in line.split("  ") if cell.strip()]


def rows_below(text: str, title: str) -> list[str]:
    """The rows of the table whose title starts so."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if title in line)
    rule = next(i for i in range(first, len(lines)) if "──" in lines[i])
    end = next((i for i in range(rule, len(lines)) if not lines[i]), len(lines))
    return lines[rule + 1 : end]


def test_the_summary_adds_up(any_analysis: Analysis) -> None:
    for device in summary_document(any_analysis, ALL)["devices"]:
        window = device["end_ns"] - device["start_ns"]
        assert (
            device["computing_ns"] + device["communication_not_overlapped_ns"] + device["free_ns"] == window
        )
        gaps = [gap for gap in all_gaps(any_analysis)["gaps"] if gap["device"] == device["device"]]
        assert device["aicore_ns"] + sum(gap["dur_ns"] for gap in gaps) == window
        assert sum(gap["idle_ns"] for gap in gaps) == device["idle_ns"]
        assert 0 <= device["linked_tasks"] <= device["tasks"]
        assert sum(device["causes"].values()) == device["idle_ns"]
        assert set(device["causes"]) <= {cause.label for cause in Cause}
        assert set(device["communication_causes"]) <= {cause.label for cause in CommunicationCause}
        exposed = device["communication_not_overlapped_ns"]
        assert sum(device["communication_causes"].values()) == exposed
        assert sum(gap["communication_ns"] for gap in gaps) == exposed
        if device["steps"]:
            assert sum(device["preparing_causes"].values()) == device["preparing_ns"]
            assert device["preparing_ns"] == sum(step["preparing_ns"] for step in device["steps"])
        else:
            assert device["preparing_ns"] is device["preparing_causes"] is None
        for step in device["steps"]:
            assert sum(step["causes"].values()) == step["idle_ns"]
            communicated = sum(step["communication_causes"].values())
            assert communicated == step["communication_not_overlapped_ns"]


def test_the_pieces_of_a_gap_are_its_idle_time_and_tell_its_cause_and_line(any_analysis: Analysis) -> None:
    total: dict[str, int] = {}
    for gap in all_gaps(any_analysis)["gaps"]:
        pieces = gap["pieces"]
        causes: dict[str, int] = {}
        lines: dict[tuple[str, str | None], int] = {}
        assert sum(part["dur_ns"] for part in pieces) == gap["idle_ns"]
        end = gap["start_ns"]
        for part in pieces:
            cause, ns = part["cause"], part["dur_ns"]
            assert part["start_ns"] >= end
            end = part["start_ns"] + ns
            place = f"{part['file']}({part['line']})" if part["file"] else None
            causes[cause] = causes.get(cause, 0) + ns
            lines[cause, place] = lines.get((cause, place), 0) + ns
            total[cause] = total.get(cause, 0) + ns
            if part["file"] is None:
                assert part["line"] is part["function"] is None
                assert part["backward"] is False
        assert end <= gap["start_ns"] + gap["dur_ns"]
        if pieces:
            assert causes[gap["cause"]] == max(causes.values())
            of_cause = {line: ns for (cause, line), ns in lines.items() if cause == gap["cause"]}
            assert of_cause[gap["line"]] == max(of_cause.values())
        else:
            assert gap["cause"] is gap["line"] is None
    assert total == {cause.label: ns for cause, ns in any_analysis.causes.by_cause().items()}


def test_the_pieces_of_communication_are_that_of_the_gap(any_analysis: Analysis) -> None:
    total: dict[str, int] = {}
    for gap in all_gaps(any_analysis)["gaps"]:
        pieces, end = gap["communication_pieces"], gap["start_ns"]
        assert gap["lost_ns"] == gap["idle_ns"] + gap["communication_ns"] + gap["copy_ns"]
        assert sum(part["dur_ns"] for part in pieces) == gap["communication_ns"]
        for part in pieces:
            assert part["start_ns"] >= end
            end = part["start_ns"] + part["dur_ns"]
            total[part["cause"]] = total.get(part["cause"], 0) + part["dur_ns"]
            assert (part["group_rank"] is not None) == (part["cause"] == "communication.wait")
            assert part["collective"]
        assert end <= gap["start_ns"] + gap["dur_ns"]
    assert total == causes_document(any_analysis.communication.exposed.by_cause())


@pytest.mark.parametrize("rank", ["rank0", "rank1"])
def test_the_late_peer_of_a_piece_is_the_one_that_the_planes_tell(real_traces: Path, rank: str) -> None:
    expected = orjson.loads((real_traces / "expected" / "late_peer_level2.json").read_bytes())
    operations = expected["level2"]["ops"]
    waited: dict[str, int] = {}
    for gap in gaps_document(real.npu(real_traces, f"level2/{rank}"), ALL)["gaps"]:
        for part in gap["communication_pieces"]:
            operation = operations[part["collective"]][rank]
            assert part["group"] == "271" and part["rank"] is None and not part["ring"]
            arrival = operation["start_ns"] + operation["wait_ns"]
            if part["cause"] == "communication.wait":
                assert part["group_rank"] == operation["late_peer"]
                assert (
                    operation["start_ns"] <= part["start_ns"] < part["start_ns"] + part["dur_ns"] <= arrival
                )
                waited[part["collective"]] = waited.get(part["collective"], 0) + part["dur_ns"]
            else:
                assert part["cause"] == "communication.transfer" and part["start_ns"] >= arrival
    assert set(waited) == {name for name, operation in operations.items() if operation[rank]["wait_ns"]}


def test_every_number_is_an_integer_that_json_readers_take(any_analysis: Analysis) -> None:
    documents = (
        summary_document(any_analysis, ALL),
        all_gaps(any_analysis),
        hotspots_document(any_analysis, ALL),
        advice_document(any_analysis),
    )
    for document in documents:
        text = "".join(json_texts(document))
        assert text.isascii()
        assert orjson.loads(text) == json.loads(text) == document


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000])
def test_rows_are_lines_of_one_document_and_come_some_at_a_time(count: int) -> None:
    document = {"schema": 1, "gaps": [{"number": number} for number in range(count)]}
    texts = [*json_texts(document)]
    lines = ",\n".join(f'{{"number": {number}}}' for number in range(count))
    assert "".join(texts) == f'{{"schema": 1, "gaps": [\n{lines}\n]}}\n'
    assert max(text.count("number") for text in texts) <= 256


def line_behind(gap: dict[str, Any], by: Measure) -> str | None:
    """The line behind most of what ranks a gap: of its idle time, or of its communication."""
    if by is Measure.IDLE or (by is Measure.LOST and gap["idle_ns"] >= gap["communication_ns"]):
        line: str | None = gap["line"]
        return line
    lines: dict[str | None, int] = {}
    for part in gap["communication_pieces"]:
        place = f"{part['file']}({part['line']})" if part["file"] else None
        lines[place] = lines.get(place, 0) + part["dur_ns"]
    return max(lines, key=lines.__getitem__, default=None)


HEADS = {
    Measure.LOST: "most lost first",
    Measure.IDLE: "most idle first",
    Measure.COMMUNICATION: "most exposed communication first",
}


MANY = 300  #: rows, of thousands in a real trace, for each of which the same follows


@pytest.mark.parametrize("by", [*Measure])
def test_gaps_are_ranked_and_the_text_shows_them(any_analysis: Analysis, by: Measure) -> None:
    selected = Selection(by=by)
    gaps = gaps_document(any_analysis, selected)["gaps"]
    ranked = [(-gap[f"{by.value}_ns"], gap["start_ns"]) for gap in gaps]
    assert ranked == sorted(ranked)
    communicates = any(gap["communication_ns"] for gap in gaps)
    exposed = (
        [Measure.COMMUNICATION] if by is not Measure.IDLE and (communicates or by is not Measure.LOST) else []
    )
    shown = [*([Measure.LOST] if by is Measure.LOST else []), *exposed, Measure.IDLE]
    top = MANY if len(gaps) > MANY else 0
    heading = HEADS[by].removesuffix(" first") if top else HEADS[by]
    rows = rows_below(gaps_text(any_analysis, selected, top, 10_000), heading)
    gaps = gaps[: top or None]
    assert len(rows) == 2 * len(gaps)
    for row, story, gap in zip(rows[::2], rows[1::2], gaps):
        start = format_time(gap["start_ns"] - any_analysis.trace.start_ns)
        expected = [start, format_duration(gap["dur_ns"])]
        expected += [format_duration(gap[f"{measure.value}_ns"]) for measure in shown]
        if any_analysis.steps:
            expected += ["-" if gap["step"] is None else str(gap["step"])]
        expected += [printable(line_behind(gap, by) or "-")]
        device = printable(gap["device"]).split() if len(any_analysis.devices) > 1 else []
        cells = " ".join(expected).split()
        assert row.split() == [*cells[:2], *device, *cells[2:]]
        parts = gap["pieces"], gap["communication_pieces"]
        causes = gap_causes(by, *parts, gap["copy_ns"])
        late = any(piece["group_rank"] is not None for piece in parts[1])
        assert sum(causes.values()) == gap[f"{by.value}_ns"]
        assert story.strip().startswith(max(causes, key=causes.__getitem__, default="until"))
        assert ("; for " in story) == (late and by is not Measure.IDLE)
        end = "the end" if gap["after"] is None else printable(gap["after"]["name"])
        assert story.endswith(f"until {end}".rstrip())


def test_gaps_csv_is_the_json(any_analysis: Analysis) -> None:
    stream = io.BytesIO()
    gaps = all_gaps(any_analysis)["gaps"]
    assert write_table(stream, GAPS, GapRows(any_analysis, ALL.gaps(any_analysis))) == len(gaps)
    stream.seek(0)
    table = pd.read_csv(stream, keep_default_na=False)
    for key in ("start_ns", "dur_ns", "idle_ns", "aicpu_ns", "communication_ns", "copy_ns", "lost_ns"):
        assert table[key].dtype == np.int64
        assert table[key].tolist() == [gap[key] for gap in gaps]
    for label in (cause.label for cause in CommunicationCause):
        of_cause = [[part for part in gap["communication_pieces"] if part["cause"] == label] for gap in gaps]
        assert table[f"{label}_ns"].tolist() == [sum(part["dur_ns"] for part in parts) for parts in of_cause]
    for key in ("cause", "line", "exposed_by"):
        assert table[key].tolist() == [text_cell(gap[key] or "") for gap in gaps]
    for side in ("before", "after"):
        sides = [gap[side] or {"name": "", "stream": ""} for gap in gaps]
        assert table[side].tolist() == [text_cell(task["name"]) for task in sides]
        assert table[f"{side}_stream"].tolist() == [text_cell(task["stream"]) for task in sides]
    steps = ["" if gap["step"] is None else str(gap["step"]) for gap in gaps]
    assert table["step"].astype(str).tolist() == steps


def test_steps_of_text_json_and_csv(any_analysis: Analysis) -> None:
    steps = [
        (device["device"], step)
        for device in summary_document(any_analysis, ALL)["devices"]
        for step in device["steps"]
    ]
    stream = io.BytesIO()
    assert write_table(stream, STEPS, StepRows(any_analysis)) == len(steps) == len(any_analysis.steps)
    stream.seek(0)
    table = pd.read_csv(stream)
    assert table["device"].tolist() == [device for device, _ in steps]
    for key in ("step", "start_ns", "end_ns", *STEP_SUMS):
        assert table[key].tolist() == [step[key] for _, step in steps]
    for label in (cause.label for cause in Cause):
        assert table[f"{label}_ns"].tolist() == [step["causes"].get(label, 0) for _, step in steps]
    for label in (cause.label for cause in CommunicationCause):
        expected = [step["communication_causes"].get(label, 0) for _, step in steps]
        assert table[f"{label}_ns"].tolist() == expected
    if len(any_analysis.devices) == 1 and steps:
        rows = rows_below(summary_text(any_analysis, ALL, 0, 1000), "Steps, in ms")
        for row, (_, step) in zip(rows, steps):
            shown = [
                key for key in STEP_SUMS if step["bubble_ns"] or not ("receive" in key or "bubble" in key)
            ]
            assert sorted(row.split()) == sorted(
                [str(step["step"]), *(format_ms(step[key]) for key in shown)]
            )


def test_steps_give_up_decimals_only_where_the_table_is_too_wide(training: Analysis) -> None:
    def decimals(width: int) -> int:
        row = rows_below(summary_text(training, ALL, 0, width), "Steps, in ms")[0]
        return len(row.split()[-1].partition(".")[2])

    widest = rows_below(summary_text(training, ALL, 0, 1000), "Steps, in ms")
    exactly = max(map(len, widest))
    assert (decimals(exactly), decimals(exactly - 1)) == (3, 2)


def test_markdown_tells_when_a_device_worked(training: Analysis) -> None:
    (device,) = training.devices
    begun = device.start_ns - training.trace.start_ns
    span = f"{format_duration(device.window_ns)}, from {format_time(begun)} to "
    assert span + format_time(begun + device.window_ns) in summary_markdown(training, ALL, None)


def test_totals_of_the_text_are_those_of_the_json(any_analysis: Analysis) -> None:
    text = summary_text(any_analysis, ALL, None, 80)
    splits = any_analysis.communication.splits
    for device, split in zip(summary_document(any_analysis, ALL)["devices"], splits):
        window = device["end_ns"] - device["start_ns"]
        rows = [*split_rows(split, any_analysis.health)]
        assert sum(ns for name, ns in rows if not name.startswith(" ")) == window
        totals = dict(rows)
        assert totals["computing"] == device["computing_ns"] and totals["idle"] == device["idle_ns"]
        exposed = device["communication_not_overlapped_ns"]
        assert sum(ns for name, ns in rows if name.startswith(" ")) == exposed
        assert totals.get("exposed communication", 0) == exposed
        for name, ns in rows if window else []:
            assert f"  {name} " in text and f"{format_ms(ns)} ms{format_percent(ns, window):>9}" in text
        for key in ("communication_ns", "free_ns") if device["communication_ns"] else ("free_ns",):
            whole = f"{format_ms(device[key])} ms ({format_percent(device[key], window)})"
            assert f" {key[: -len('_ns')]} {whole}" in text
        for cause, ns in device["causes"].items():
            (line,) = (line for line in text.splitlines() if line.startswith(f"  {cause} "))
            assert f" {format_ms(ns)} ms {format_percent(ns, device['idle_ns']):>8}" in line
    assert f"{summary_document(any_analysis, ALL)['trace']['events']:,} events" in text


def test_the_summary_names_late_ranks_and_links_where_planes_tell(real_traces: Path) -> None:
    text = summary_text(real.npu(real_traces, "level2/rank0"), ALL, None, 80)
    assert "Late ranks: waited 95.5 ms for them, 91.7 ms of it exposed" in text
    (row,) = rows_below(text, "Late ranks")
    assert words(row) == ["95.5 ms", "91.7 ms", "86.2 ms", "3", "peer 5 of group 271"]
    links = [words(row) for row in rows_below(text, "Links: 7, most time first")]
    assert {link[5] for link in links} == {f"peer 0 to {peer} of group 271" for peer in range(1, 8)}
    table = real.npu(real_traces, "level2/rank0").communication.link_table
    speeds = {f"{link.gb_per_s:.1f}" for link in table if link.src != link.dst and link.gb_per_s}
    assert {link[2] for link in links} == speeds
    text = summary_text(real.npu(real_traces, "level0/rank1"), ALL, None, 80)
    assert "Late ranks" not in text and "Links" not in text and "waiting or moving" in text


def test_a_gap_tells_what_it_lost() -> None:
    pieces = [{"cause": "communication.wait", "dur_ns": ns} for ns in (5, 6)]
    assert gap_causes(Measure.LOST, [], pieces, 2) == {"communication.wait": 11, "copy": 2}
    assert gap_causes(Measure.COMMUNICATION, [], pieces, 2) == {"communication.wait": 11}
    assert gap_causes(Measure.IDLE, [], pieces, 2) == {}


def test_text_fits_80_columns_and_obeys_nothing(any_analysis: Analysis) -> None:
    text = summary_text(any_analysis, ALL, None, 80) + gaps_text(any_analysis, ALL, 0, 80)
    text += hotspots_text(any_analysis, ALL, 0, 80) + advice_text(find_advice(any_analysis), 80)
    for line in text.splitlines():
        assert line.isprintable()
        assert cell_width(line) <= 80
        assert line == line.rstrip()
    assert to_ascii(text).isascii()


def test_hostile_names_reach_json_as_they_are(training: Analysis) -> None:
    gaps = gaps_document(training, ALL)["gaps"]
    names = {gap["after"]["name"] for gap in gaps if gap["after"]}
    assert {name.replace("\ud800", "\ufffd") for name in NAMES[1:]} <= names


def test_the_line_of_a_gap_is_that_of_the_task_that_ends_it(training: Analysis) -> None:
    lines = {
        gap["after"]["name"]: gap["line"] for gap in gaps_document(training, ALL)["gaps"] if gap["after"]
    }
    assert lines["矩阵乘法"] == f"/home/u/=train {NAMES.index('矩阵乘法') % 3}.py({NAMES.index('矩阵乘法')})"


def test_the_line_of_a_gap_is_one_that_its_idle_time_is_charged_to(any_analysis: Analysis) -> None:
    charged = {
        (gap, None if not line.file else f"{line.file}({line.line})")
        for line in any_analysis.lines
        for gap in line.gap_indices.tolist()
    }
    ranked = any_analysis.gaps.ranked()
    lines = GAPS.column("line").exact(GapRows(any_analysis, ranked))
    shown = list(zip(ranked.tolist(), lines))
    idle = any_analysis.gaps.idle
    assert {pair for pair in shown if idle[pair[0]]} <= charged


def test_a_selection_lists_what_starts_in_it(training: Analysis) -> None:
    gaps = gaps_document(training, ALL)["gaps"]
    starts = sorted(gap["start_ns"] for gap in gaps)
    window = (starts[2], starts[5])
    chosen = gaps_document(training, Selection(window=window))["gaps"]
    assert sorted(gap["start_ns"] for gap in chosen) == starts[2:5]
    assert [gap["step"] for gap in gaps_document(training, Selection(step=6))["gaps"]] == [
        gap["step"] for gap in gaps if gap["step"] == 6
    ]
    assert gaps_document(training, ALL, 3)["gaps"] == gaps[:3]
    first, second = summary_document(training, ALL)["devices"][0]["steps"]
    assert summary_document(training, Selection(step=5))["devices"][0]["steps"] == [first]
    later = Selection(window=(first["start_ns"] + 1, second["start_ns"] + 1))
    assert summary_document(training, later)["devices"][0]["steps"] == [second]
    assert training.steps[1].computing_ns == second["computing_ns"]


def test_without_a_device_the_text_says_so() -> None:
    """Also where only sums of a device are there: the trace shows more than the host."""
    host = [*process(1, "python", "CPU"), piece(1, 1, "aten::mm", 1, 2, "cpu_op")]
    sums = [*process(5, "Overlap Analysis", "NPU"), piece(5, 0, "Computing", 1, 2)]
    for events in (host, sums):
        analysis = analyse(trace_of(events))
        assert summary_document(analysis, ALL)["devices"] == []
        text = summary_text(analysis, ALL, None, 80)
        assert "No known device in this trace: no task of one is recognised." in text
        assert "gap" not in text
        unknown = "No known device works in this trace: whether one is idle is not known."
        assert gaps_text(analysis, ALL, 5, 100) == f"{unknown}\n"
        assert hotspots_text(analysis, ALL, 5, 100) == f"{unknown}\n"
        assert nested_text(FRAMES, analysis, ALL, 5, 100) == f"{unknown}\n"


def test_a_difference_to_the_producer_is_shown() -> None:
    events = training_events()
    events += [*process(50, "Overlap Analysis", "NPU", 23)]
    events += [
        {"ph": "M", "name": "thread_name", "pid": 50, "tid": 3, "args": {"name": "Free"}},
        piece(50, 3, "Free", 1_736_412_474_000_000, 7777.125),
    ]
    assert f"free{'7.777 ms':>41}" in summary_text(analyse(trace_of(events)), ALL, None, 80)
