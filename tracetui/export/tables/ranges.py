"""The table of the ranges that people mark in one trace, by name: what the device does in them."""

from __future__ import annotations

from tracetui.export.tables.column import Form, Table, count, data, duration
from tracetui.export.tables.common import FirstRows, named, texts_of, values_of

#: Its rows are RangeTimes.
RANGES: Table[FirstRows] = Table(
    columns=(
        data("name", texts_of("name")),
        count("count", "count", values_of("count")),
        duration("time_ns", "total", values_of("time_ns")),
        duration("mean_ns", "mean", values_of("mean_ns"), forms=Form.SHOWN | Form.FRAME),
        duration("longest_ns", "longest", values_of("longest_ns"), forms=Form.DATA),
        duration("computing_ns", "computing", values_of("computing_ns")),
        duration("exposed_communication_ns", "communication", values_of("exposed_communication_ns")),
        duration("idle_ns", "idle", values_of("idle_ns")),
        named("name", "phase", lambda times: times.name, least=12),
    )
)
