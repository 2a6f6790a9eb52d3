"""The tables of the links between the ranks of a job, and of the stages of its pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracetui.arrays import Floats
from tracetui.export.sentences.job import link_path
from tracetui.export.tables.column import Column, Form, Table, count, data, duration, json_only, size
from tracetui.export.tables.common import flag_column, named, numbers_by, optional_floats, texts_by, values_of
from tracetui.export.tables.job import PRINTED, JobRows
from tracetui.job.network_links import JobLink
from tracetui.language import translate


def _end(which: str) -> Callable[[JobLink], str]:
    """Return what one end of a link, `src` or `dst`, is called: "rank 3", "peer 1 of 271"."""

    def end(link: JobLink) -> str:
        rank, peer = getattr(link.ends, which), getattr(link.ends, f"group_{which}")
        if rank is not None:
            return translate("rank {number}", number=rank)
        return translate("peer {number} of {group}", number=peer, group=link.ends.group)

    return end


def _slow(link: JobLink) -> str | None:
    return translate("slow") if link.slow else None


def _number(key: str) -> Column[JobRows]:
    """Return a number of one end; unknown below 0."""
    return data(key, numbers_by(lambda link: getattr(link.ends, key)), optional=True)


def _floats(value_of: Callable[[Any], float | None]) -> Callable[[JobRows], Floats]:
    """Return a getter of float64[n]; -1 where it is None."""
    return lambda rows: optional_floats(map(value_of, rows.rows))


def _nominal(rows: JobRows, form: Form) -> bool:
    if form is Form.VIEWER:
        return any(link.nominal_share is not None for link in rows.rows)
    return any(link.nominal for link in rows.rows)


def _marked(rows: JobRows, form: Form) -> bool:
    return form is not Form.VIEWER or any(link.slow for link in rows.rows)


LINKS: Table[JobRows] = Table(
    columns=(
        _number("src"),
        _number("dst"),
        data("group", texts_by(lambda link: link.ends.group or None)),
        _number("group_src"),
        _number("group_dst"),
        data("transport", texts_by(lambda link: link.ends.transport)),
        size("bytes", "moved", values_of("bytes")),
        duration("ns", "in", values_of("ns")),
        Column(
            "gb_per_s",
            "GB/s",
            _floats(lambda link: link.gb_per_s),
            lambda speed, _: f"{speed:.1f}",
            optional=True,
        ),
        data("nominal_gb_per_s", _floats(lambda link: link.nominal), optional=True),
        Column(
            "nominal_share",
            "of nominal",
            _floats(lambda link: link.nominal_share),
            lambda share, _: f"{share * 100:.0f} %",
            optional=True,
            when=_nominal,
        ),
        flag_column("slow"),
        named("transport", "by", lambda link: link.ends.transport or None, unknown="", least=0),
        named("path", "from", link_path, forms=PRINTED, least=30),
        named("src", "from", _end("src"), forms=Form.VIEWER),
        named("dst", "to", _end("dst"), forms=Form.VIEWER),
        named("slow", "", _slow, unknown="", least=0, when=_marked),
    ),
    kind="link",
    identity=("src", "dst", "group", "group_src", "group_dst"),
)
STAGES: Table[JobRows] = Table(
    columns=(
        Column("stage", "stage", values_of("number")),
        json_only("ranks", lambda rows: [list(stage.ranks) for stage in rows.rows]),
        count("ranks", "ranks", numbers_by(lambda stage: len(stage.ranks)), forms=PRINTED),
        named("ranks", "ranks", lambda stage: ", ".join(map(str, stage.ranks)), forms=Form.VIEWER),
        duration("computing_sum_ns", "of all", values_of("computing_sum_ns"), forms=Form.DATA | Form.VIEWER),
        duration("computing_max_ns", "computing", values_of("computing_max_ns")),
        duration("bubble_ns", "bubble", values_of("bubble_ns")),
        duration("receive_ns", "receiving", values_of("receive_ns")),
        duration("exposed_ns", "communication", values_of("exposed_ns"), forms=Form.VIEWER),
        Column(
            "imbalance",
            "imbalance",
            _floats(lambda stage: stage.imbalance),
            lambda share, _: f"{share * 100:+.1f} %",
        ),
        flag_column("communicates"),
        named(
            "communicating",
            "",
            lambda stage: translate("communicates much") if stage.communicates else None,
            forms=PRINTED,
            unknown="",
            least=0,
        ),
    ),
    kind="stage",
    identity=("stage",),
)
