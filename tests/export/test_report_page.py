"""The HTML page of a trace or a job: its numbers, its escapes, and what a browser makes of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from tests.analysis import gpu
from tests.export.training import CANN, MAIN, NAMES, NPU, PLAIN, START_US, training_events
from tests.job import planted
from tests.simulator import traces
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.heat.cause_map import CauseMap
from tracetui.api import load, load_job
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import compare_runs
from tracetui.export.comparison.text import comparison_markdown, shown_rows
from tracetui.export.job.text import job_verdict
from tracetui.export.page import charts
from tracetui.export.page.comparison import comparison_sections, step_pictures
from tracetui.export.page.html import as_markup, page
from tracetui.export.page.job import job_page_sections, rank_maps
from tracetui.export.page.trace import trace_sections
from tracetui.export.sentences.advice import advice_title
from tracetui.export.tables.comparison import BY
from tracetui.export.tables.hotspots import LineRows
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.selection import Selection
from tracetui.job.compare_jobs import compare_jobs
from tracetui.job.digest import TimeClass
from tracetui.job.grids import GridMeasure, measure_by_step
from tracetui.job.idle_lines import job_lines
from tracetui.job.rank_sums import causes_by_step
from tracetui.trace.source_files import SourceFiles
from tracetui.units import format_duration, format_percent

MARKUP = ('<script>alert("x")</script>', "<img src=x onerror=alert(1)>", "a&b'\"</style>", *NAMES)
VOID = {"meta", "br"}
LONGEST_PAGE = 2 << 20


class Outline(HTMLParser):
    """The elements of a page: each with its attributes; AssertionError where one is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        self.words += text


def page_of(analysis: Analysis, source: SourceFiles | None = None) -> str:
    sections = [*trace_sections(analysis, source)]
    return page(sections[0].title, "en", sections, "footer")


@pytest.fixture(scope="module")
def moba(samples: Path) -> Analysis:
    return load(samples / "moba" / "trace_view.json", cache=False, jobs=1)


def test_names_of_a_trace_become_no_markup() -> None:
    text = page_of(analyse(trace_of(training_events(MARKUP, steps=1))))
    outline = Outline(text)
    assert {tag for tag, _ in outline.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "header", "section", "footer"),
        *(
            "h1",
            "h2",
            "h3",
            "p",
            "ul",
            "ol",
            "li",
            "br",
            "strong",
            "code",
            "span",
            "div",
            "figure",
            "figcaption",
        ),
        *("table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "path", "text"),
    }
    assert not any(
        name.startswith("on") or name in ("src", "href")
        for _, attributes in outline.elements
        for name in attributes
    )
    assert MARKUP[0] in outline.words
    assert text.replace("\n", "").isprintable()


def test_a_page_forbids_itself_to_load_and_to_run(moba: Analysis) -> None:
    policies = [
        attributes["content"]
        for tag, attributes in Outline(page_of(moba)).elements
        if "http-equiv" in attributes
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]
    assert not re.search(r"https?:|url\(|@import", page_of(moba))


def test_the_head_says_how_long_and_why_a_device_was_idle(moba: Analysis) -> None:
    (activity,) = moba.devices
    causes = moba.causes.by_cause()
    cause = max(causes, key=lambda cause: causes[cause])
    words = Outline(page_of(moba)).words
    assert f"NPU was idle {format_percent(activity.idle_ns, activity.window_ns)} of 21.7 ms." in words
    share = format_percent(causes[cause], activity.idle_ns)
    assert f"The largest cause is {cause.facts.label}, {share} of it." in words
    assert f"The worst line is train_moba.py({moba.lines[0].line}) " in words


def test_the_worst_line_of_several_devices_is_not_told_of_one() -> None:
    """The line that idle time of one is charged to may have nothing to do with the device at the head."""
    stack = "train.py(3): step"
    alone = [
        *(*gpu.gpu(), gpu.host(0, 100, stack=stack), gpu.launch(10, 10, 1), gpu.kernel(50, 10, 1)),
        *(gpu.host(400, 200, stack=stack), gpu.launch(500, 10, 2), gpu.kernel(600, 10, 2)),
    ]
    second = [*process(1, "python", "GPU 1", 5_000_001)]
    second += [{**gpu.kernel(start, 10, 0), "pid": 1} for start in (50, 900)]
    for events, is_told in ((alone, True), ([*alone, *second], False)):
        words = Outline(page_of(analyse(trace_of(events)))).words
        assert " was idle " in words and ("The worst line is" in words) == is_told


def test_no_cell_cuts_what_it_says(moba: Analysis) -> None:
    assert "ellipsis" not in page_of(moba)


def test_a_strip_is_filled_by_what_a_device_did(moba: Analysis) -> None:
    """The bars of each column come to its whole height, and each kind to its share of the window."""
    (activity,) = moba.devices
    drawn = charts.time_strip(activity, moba.trace.start_ns)
    heights = {
        kind: sum(float(height) for height in re.findall(r"v-([\d.]+)h", path))
        for kind, path in re.findall(r'<path class="(\w+)" d="([^"]*)"', drawn)
    }
    whole = charts.HEIGHT * charts.COLUMNS
    assert sum(heights.values()) == pytest.approx(whole, rel=1e-3)
    expected = {
        "computing": activity.computing_ns,
        "communication": activity.communication_not_overlapped_ns,
        "copies": activity.free_ns - activity.idle_ns,
        "idle": activity.idle_ns,
    }
    for kind, ns in expected.items():
        assert heights.get(kind, 0.0) / whole == pytest.approx(ns / activity.window_ns, abs=2e-3), kind


def test_a_map_draws_each_cell_by_its_share(moba: Analysis) -> None:
    cells = CauseMap(moba).by_step()
    drawn = charts.map_of_cells(cells, [("<name>", "host")] * len(cells.ns), ("first", "last"))
    assert "<name>" not in drawn and drawn.count(as_markup("<name>")) == len(cells.ns)
    filled = int(np.count_nonzero(cells.ns[:, 0]))
    assert drawn.count('class="host"') == filled + (cells.ns.shape[1] > 1) * np.count_nonzero(cells.ns[:, 1:])


@pytest.mark.parametrize(
    ("steps", "before", "below"),
    [
        (1, False, ("time", "0.000040 s", "0.000420 s")),
        (2, False, ("step", "step 5", "step 6")),
        (3, False, ("step", "step 5", "step 7")),
        (2, True, ("step", "step 5", "outside steps")),
    ],
)
def test_a_map_of_causes_goes_by_steps_where_there_are_several(
    steps: int, before: bool, below: tuple[str, ...]
) -> None:
    events = training_events(PLAIN, steps)
    if before:
        task = piece(NPU, 2, "early", START_US - 2_000, 50, connection_id=9, **{"Task Type": "AI_CORE"})
        events += [task, piece(CANN, MAIN, "Node@launch", START_US - 2_100, 20, connection_id=9)]
    drawn = Outline(page_of(analyse(trace_of(events)))).words
    by, first, last = below
    assert re.search(f"Idle time by cause and {by}.*?{first}{last}darkest: [1-9]", drawn)


def test_a_page_says_how_long_preparing_took_and_how_many_rows_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysis = traces.analysed("mixed")
    (device,) = summary_document(analysis, Selection())["devices"]
    lines, steps = LineRows(analysis, Selection()).all_rows, analysis.steps
    words = Outline(page_of(analysis)).words
    assert f"Why preparing steps took {format_duration(device['preparing_ns'])}" in words
    assert "not shown" not in Outline(page_of(analyse(trace_of(training_events(PLAIN, 2))))).words
    monkeypatch.setattr("tracetui.export.page.trace.TOP_LINES", len(lines) - 1)
    monkeypatch.setattr("tracetui.export.page.trace.TOP_STEPS", len(steps) - 1)
    names = analysis.operators(False).by_name()
    monkeypatch.setattr("tracetui.export.page.trace.TOP_OPERATORS", len(names) - 2)
    words = Outline(page_of(analysis)).words
    assert "1 with less is not shown." in words and "1 more step is not shown." in words
    assert "2 with less are not shown." in words


def test_a_comparison_says_how_many_rows_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run_of(traces.analysed(scenario)) for scenario in ("mixed", "moba")]
    comparison = compare_runs(*runs)
    kernels = shown_rows(BY["kernel"], comparison)
    monkeypatch.setattr("tracetui.export.page.comparison.TOP", len(kernels) - 7)
    page = "".join(block for part in comparison_sections(comparison) for block in part.blocks)
    assert "7 with less are not shown." in page
    text = comparison_markdown(comparison, None, len(kernels) - 7)
    assert "7 more: --by kernel --top 0" in text


def test_a_comparison_quotes_source_where_it_is_asked_for(tmp_path: Path) -> None:
    """Of lines that the second run has."""
    runs = [run_of(traces.analysed(scenario)) for scenario in ("mixed", "moba")]
    comparison = compare_runs(*runs)
    assert not any("<pre>" in block for part in comparison_sections(comparison) for block in part.blocks)
    frame = next(line for line in traces.analysed("moba").lines if line.file)
    (tmp_path / Path(frame.file or "").name).write_text("x = 1\n" * 2_000)
    source = SourceFiles(tmp_path / "trace.json", [tmp_path])
    quoted = [
        block for part in comparison_sections(comparison, source) for block in part.blocks if "<pre>" in block
    ]
    assert any(f"<mark>{frame.line:>5}  x = 1</mark>" in block for block in quoted)


def test_source_is_quoted_where_it_is_asked_for(moba: Analysis, samples: Path) -> None:
    trace = samples / "moba" / "trace_view.json"
    assert "<pre>" not in page_of(moba)
    text = page_of(moba, SourceFiles(trace, [samples / "moba"]))
    worst = moba.lines[0]
    written = (samples / "moba" / "train_moba.py").read_text().splitlines()[worst.line - 1]
    assert f"<mark>{worst.line:>5}  {as_markup(written)}</mark>" in text


def test_the_page_of_a_run_with_steps_shows_them() -> None:
    words = Outline(page_of(traces.analysed("mixed"))).words
    assert "Idle time by cause and step" in words


def test_the_page_of_a_job_begins_with_its_verdict() -> None:
    job = planted.job("late")
    sections = [*job_page_sections(job, "run")]
    words = Outline(page("run", "en", sections, "footer")).words
    assert job_verdict(job, None)[0] in words.split("Roots")[0]
    assert {"Links, most time first"} < {section.title for section in sections}


def test_the_page_of_a_job_says_what_its_ranks_did_and_why_they_were_idle(samples: Path) -> None:
    job = planted.job("late")
    source = SourceFiles(samples / "hybrid" / "trace_view.json", [samples / "hybrid"])
    sections = {section.title: "".join(section.blocks) for section in job_page_sections(job, "run", source)}
    for text in sections.values():
        Outline(text)
    did = sections["What the ranks did over time, all together"]
    causes = causes_by_step(job)
    assert "Idle time by cause and step" in did
    assert f"Why they were idle for {format_duration(int(causes.ns.sum()))}, all together" in did
    share = format_percent(int(causes.ns[0].sum()), int(causes.ns.sum()))
    assert causes.causes[0] == "host.python" and f"<td>{share}</td>" in did
    assert advice_title("iteration_gap") in sections["Advice, by the time it is about"]
    assert "MatMulV3" in sections["Operators of the devices, most time first"]
    worst = job_lines(job)[0].line
    assert worst is not None
    quoted = as_markup((samples / "hybrid" / "train_hybrid.py").read_text().splitlines()[worst.line - 1])
    lines = sections["Lines that ranks were idle for, preparing included, all ranks together"]
    assert f"<mark>{worst.line:>5}  {quoted}</mark>" in lines
    assert "These recordings can be believed." in sections["run"]


def test_the_time_of_all_ranks_fills_the_strip_of_a_job() -> None:
    """As far as all are recorded: each kind comes to its share of the time of all."""
    job = planted.job("late")
    (activity,) = [part for part in job_page_sections(job, "run") if part.title.startswith("What the ranks")]
    heights = {
        kind: sum(map(float, re.findall(r"v-([\d.]+)h", path)))
        for kind, path in re.findall(r'<path class="(\w+)" d="([^"]*)"', activity.blocks[0])
    }
    by_class = [rank.digest.by_class() for rank in job.ranks]
    computing = sum(ns[TimeClass.COMPUTING] for ns in by_class)
    idle = sum(ns[TimeClass.IDLE] for ns in by_class)
    assert heights["computing"] / heights["idle"] == pytest.approx(computing / idle, rel=1e-2)


def test_the_page_of_a_comparison_draws_the_steps_of_both_to_one_scale() -> None:
    jobs = planted.job("late"), planted.job("loader")
    comparison = compare_jobs(*jobs, ("before", "after"))
    section = step_pictures(comparison)
    strips = [block for block in section.blocks if 'class="strip"' in block]
    heights = [sum(map(float, re.findall(r"v-([\d.]+)h", strip))) for strip in strips]
    assert heights[0] / heights[1] == pytest.approx(
        float(comparison.base.step_ns / comparison.other.step_ns), rel=1e-2
    )
    assert max(heights) <= charts.HEIGHT * len(planted.job("late").steps)
    before, after = (block for block in section.blocks if 'class="map"' in block)
    for block in (before, after):
        Outline(block)
        assert "step 50<" in block and "step 52<" in block
    (darkest,) = {re.findall("darkest: (.*?) of", block)[0] for block in (before, after)}
    assert darkest != "0.0 %"


def test_the_page_of_a_job_maps_its_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rank that the others wait for is darkest; of more ranks than fit, it is among those shown."""
    job = planted.job("late")
    cost, _ = measure_by_step(job, GridMeasure.COST)
    worst = int(np.argmax(cost.sum(axis=1)))
    maps = {section.title: section.blocks for section in rank_maps(job)}
    assert [*maps] == ["Who makes others wait?", "Who waits for others?", "Which rank is idle?"]
    drawn, counted = maps["Who makes others wait?"]
    assert "also with other work" in counted
    Outline(drawn)
    assert f"rank {job.ranks[worst].number}<" in drawn and f"step {job.steps[-1]}<" in drawn
    assert 'class="idle"' in drawn
    assert len(maps["Which rank is idle?"]) == 1
    monkeypatch.setattr("tracetui.export.page.job.MOST_ROWS", 1)
    drawn, _, more = next(rank_maps(job)).blocks
    assert re.findall(r"rank \d+", drawn) == [f"rank {job.ranks[worst].number}"]
    assert "with less" in more


def test_the_page_says_what_idle_time_is_where_columns_are_time(real_traces: Path) -> None:
    (blocks,) = (
        section.blocks
        for section in rank_maps(load_job(real_traces / "npu" / "level2"))
        if section.title == "Which rank is idle?"
    )
    assert "idle, preparing included" in blocks[1]


def test_pages_of_real_traces_are_small(real_traces: Path) -> None:
    for name in ("npu/level2/rank0_ascend_pt", "gpu/resnet_act_checkpoint.json.gz"):
        text = page_of(load(real_traces / name, cache=False, jobs=1))
        Outline(text)
        assert len(text.encode()) < LONGEST_PAGE
