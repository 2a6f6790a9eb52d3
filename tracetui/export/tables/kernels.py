"""The tables of what kernel_details.csv tells: kernels by type and shape, and each with its counters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.kernels import TEXTS, Kernels
from tracetui.arrays import Bools, Int64s
from tracetui.export.tables.column import (
    CodedTexts,
    Column,
    Form,
    Table,
    Values,
    count,
    data,
    duration,
    ids_column,
)
from tracetui.export.tables.common import FirstRows, texts_of, values_of
from tracetui.export.tables.events import EVENTS, EventRows, Events
from tracetui.export.tables.row_ids import SLICE, slice_ids
from tracetui.units import format_percent, format_time


class TypeRows(FirstRows):
    """The kernels among some (bool[rows of the table], None: all) by type and shapes; at most `top`."""

    def __init__(self, kernels: Kernels, among: Bools | None = None, top: int = 0) -> None:
        super().__init__(kernels.types(by_shape=True, selected=among), top)
        self.total_ns = sum(row.total_ns for row in self.all_rows)


_NOT_TEXT = Form.ALL & ~Form.TEXT

#: As op_statistic.csv, and by shape.
SHAPES: Table[TypeRows] = Table(
    columns=(
        Column("type", "type", texts_of("type")),
        Column("core", "core", texts_of("core"), forms=_NOT_TEXT),
        Column("input_shapes", "input shapes", texts_of("shapes"), unknown=""),
        count("count", "count", values_of("count")),
        duration("total_ns", "total", values_of("total_ns")),
        duration("mean_ns", "mean", values_of("mean_ns")),
        duration("min_ns", "min", values_of("min_ns"), forms=_NOT_TEXT),
        duration("max_ns", "max", values_of("max_ns"), forms=_NOT_TEXT),
        Column(
            "share",
            "share",
            lambda rows: np.array([row.total_ns / max(rows.total_ns, 1) for row in rows.rows]),
            lambda share, rows: format_percent(round(share * rows.total_ns), rows.total_ns),
        ),
    ),
    order=("share", "total_ns", "count", "mean_ns", "min_ns", "max_ns", "type", "core", ...),
    markdown=("type", "core", "input_shapes", ...),
    kind="shape",
    identity=("type", "core", "input_shapes"),
)


class KernelRows:
    """The kernels of the trace among some (bool[rows of the table]), the longest first; at most `top`."""

    def __init__(
        self, analysis: Analysis, kernels: Kernels, among: Bools | None = None, top: int = 0
    ) -> None:
        kept = np.flatnonzero((kernels.row >= 0) & (True if among is None else among))
        dur = analysis.trace.slices.dur[kernels.row[kept]]
        self.places = kept[np.argsort(-dur, kind="stable")]  #: rows of the table
        self.total = len(self.places)
        self.places = self.places[:top] if top else self.places
        self.table, self.origin_ns = kernels.table, analysis.trace.start_ns
        self.events = EventRows(Events(analysis), kernels.row[self.places])

    def __len__(self) -> int:
        return len(self.places)


def _slices(name: str) -> Callable[[KernelRows], Int64s]:
    return lambda rows: getattr(rows.events.trace.slices, name)[rows.events.rows]


def _number(key: str) -> Callable[[KernelRows], Values]:
    return lambda rows: rows.table.numbers[key][rows.places]


def _text(key: str, shown: Form) -> Column[KernelRows]:
    def texts(rows: KernelRows) -> Values:
        place, distinct = rows.table.texts[key]
        return CodedTexts(place[rows.places], distinct.__getitem__)

    return Column(key, key.replace("_", " "), texts, forms=Form.DATA | shown)


def _event(key: str, title: str) -> Column[KernelRows]:
    of_events = EVENTS.column(key)
    return Column(key, title, lambda rows: of_events.get(rows.events), forms=Form.DATA | Form.MARKDOWN)


def _counter(title: str) -> Column[KernelRows]:
    def values(rows: KernelRows) -> Values:
        counter_values = rows.table.floats[title][rows.places]
        return np.where(np.isnan(counter_values), -1, counter_values)

    return Column(title, title, values, forms=Form.DATA, optional=True)


def kernel_table(kernels: Kernels) -> Table[KernelRows]:
    """Return the table of kernels, with a column for each counter that their table has."""
    known = {column.key for column in KERNELS.columns}
    counters = (_counter(title) for title in kernels.table.floats if title not in known)
    return Table(columns=(*KERNELS.columns, *counters), order=_ORDER, kind=SLICE)


_SHOWN = {"type": Form.TEXT | Form.MARKDOWN, "core": Form.MARKDOWN, "input_shapes": Form.TEXT | Form.MARKDOWN}
_KERNEL: tuple[Column[KernelRows], ...] = (
    Column("start_ns", "at", _slices("start"), lambda ns, rows: format_time(ns - rows.origin_ns)),
    duration("dur_ns", "time", _slices("dur")),
    duration("wait_ns", "waited", _number("wait"), optional=True),
    Column("step", "step", lambda rows: EVENTS.column("step").get(rows.events), optional=True, unknown=""),
    Column("name", "name", lambda rows: EVENTS.column("name").get(rows.events), forms=_NOT_TEXT),
    count("blocks", "blocks", _number("blocks"), optional=True),
    data("mix_blocks", _number("mix_blocks"), optional=True),
    *(_text(key, _SHOWN.get(key, Form(0))) for key in TEXTS),
    _event("operator", "operator"),
    _event("python_line", "Python line"),
    ids_column(lambda rows: slice_ids(rows.events.trace, rows.events.rows)),
)
_ORDER = ("dur_ns", "start_ns", "wait_ns", "step", "blocks", "type", "name", ...)
#: What every table of kernels has beside its counters.
KERNELS: Table[KernelRows] = Table(columns=_KERNEL, order=_ORDER, kind=SLICE)
