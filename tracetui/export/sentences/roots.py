"""The reasons why ranks were late, in words."""

from __future__ import annotations

from tracetui.comparison.job_part import ComparedRoot
from tracetui.language import translate, wording
from tracetui.trace.stack import path_end


def cause_with_label(label: str) -> str:
    """Return the label of a cause, "host.dataloader"; with its name in a language that has one."""
    name = wording(label)
    return label if name == label else translate("{cause} ({label})", cause=name, label=label)


def reason_words(kind: str, reason: str) -> str:
    """Return "idle, host.dataloader", "computing MatMul", "began the step later"; as written in the trace."""
    if kind == "idle":
        return translate("idle, {cause}", cause=cause_with_label(reason)) if reason else translate("idle")
    if kind == "computing":
        return translate("computing {type}", type=reason) if reason else translate("computing others")
    return translate(_KINDS[kind])


_KINDS = {
    "copy": "copying",
    "transfer": "moving",
    "unsplit": "waiting or moving",
    "clock": "difference of clocks",
    "step": "began the step later",
    "recording": "its recording began later",
    "absent": "not known: its trace is missing",
    "unaligned": "not known: its clock is not aligned",
    "unmatched": "not known: none of its collectives matches",
}


def compared_root_words(row: ComparedRoot) -> str:
    """Return "rank 2, host.dataloader at hybrid/train.py(12)"; as written in the trace."""
    rank = translate("a missing rank") if row.rank is None else translate("rank {number}", number=row.rank)
    if row.kind == "idle" and row.reason:
        reason = cause_with_label(row.reason)
    else:
        reason = reason_words(row.kind, row.reason)
    if row.frame is None:
        return translate("{rank}, {why}", rank=rank, why=reason)
    file, line, function = row.frame
    place = f"{path_end(file)}({line})" if file else function
    template = "{rank}, {why} at {line} (backward)" if row.backward else "{rank}, {why} at {line}"
    return translate(template, rank=rank, why=reason, line=place)
