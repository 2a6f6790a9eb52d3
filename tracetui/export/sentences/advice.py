"""Pieces of advice in the language that was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.advice import Advice
from tracetui.export.sentences.advice_english import (
    CAUSES,
    ENGLISH_ADVICE,
    AdviceWords,
    english_words,
    waiting_part,
)
from tracetui.export.tables.common import share_words
from tracetui.language import counted, names, speaks_english, translate, wording
from tracetui.trace.stack import path_end
from tracetui.units import format_count, format_duration, format_percent

NOTHING = "Nothing in this trace calls for advice."


def advice_words(advice: Advice) -> AdviceWords:
    """Return what people read of a piece of advice, in the language chosen."""
    if speaks_english():
        return english_words(advice)
    text, rule = (wording("", f"advice.{advice.id}.{field}") for field in ("text", "rule"))
    if not (text and rule):
        return english_words(advice)
    evidence = {**advice.evidence, **advice.context}
    figures = {key: _figure(key, value)[1] for key, value in evidence.items()}
    figures["times"] = wording("", "advice.in_all" if advice.per_step_ns is None else "advice.per_step")
    figures["causes"] = names(
        " ".join(figure_in_language(key, advice.evidence[key])) for key in advice.evidence if key in CAUSES
    )
    parts = {
        "before": "before" if "before_window_ns" in evidence else "",
        "devices": "devices" if "of_devices" in evidence else "",
        "nobody": "nobody" if evidence.get("nobody_ns") else "",
        "of": "of" if evidence.get("uncomputed_steps") else "",
        "queues": "queues" if evidence.get("batches") else "",
        "saves": next((key for key in ("saves_with_peers_ns", "saves_at_most_ns") if evidence.get(key)), ""),
        "remedy": advice.remedy,  # may hold what it saves
        "waiting": waiting_part(advice.evidence),
        "who": "function" if evidence.get("of_function") else "line",
        "where": "where" if evidence.get("of_steps") else "",
    }
    for field, part in parts.items():
        figures[field] = wording("", f"advice.{advice.id}.{part}").format_map(figures)
    return AdviceWords(advice_title(advice.kind), text.format_map(figures), rule)


def advice_title(kind: str) -> str:
    """Return the title of a kind of advice in the language chosen; of a kind that is not known itself.

    As a file has it where it is not known: never print it unescaped.
    """
    return wording(english_title(kind), f"advice.{kind.partition('.')[0]}.title")


def english_title(kind: str) -> str:
    """Return the title of a kind of advice as documents have it; of a kind that is not known itself."""
    return ENGLISH_ADVICE[kind].title if kind in ENGLISH_ADVICE else kind


def advice_subject(advice: Advice) -> str:
    """Return the line that is blamed, else the first of the subjects: "moba.py(88) gate"."""
    if advice.file:
        return f"{path_end(advice.file)}({advice.line}) {advice.function}"
    return advice.function or next(iter(advice.subjects), "")


def advice_answer(advice: Sequence[Advice], window_ns: int) -> str:
    """Return "6 findings, first 2.32 ms (10.7 %): small operators launched one by one; costs may overlap"."""
    costs = [piece.cost_ns for piece in advice if piece.cost_ns is not None]
    note_count = len(advice) - len(costs)
    notes = counted(note_count, "1 note", "{count} notes")
    if not costs:
        return (
            translate("No advice about lost time; {notes}", notes=notes) if note_count else translate(NOTHING)
        )
    first, count = advice[0], len(costs)
    cost = translate(
        "{time} ({share})", time=format_duration(costs[0]), share=format_percent(costs[0], window_ns)
    )
    title = advice_words(first).title
    if speaks_english():  # it begins a sentence of its own in the table
        title = f"{title[:1].lower()}{title[1:]}"
    several = "{count} findings, first {cost}: {title}; costs may overlap"
    answer = counted(count, "1 finding, {cost}: {title}", several, cost=cost, title=title)
    return translate("{answer}; {notes}", answer=answer, notes=notes) if note_count else answer


def figure_in_language(key: str, value: float | str) -> tuple[str, str]:
    """Return a number of evidence, its name in the language chosen and its value: ("mean kernel", "20 ns").

    As written in the trace where it is a text: never print it unescaped.
    """
    name, shown = _figure(key, value)
    return wording(name, f"{CAUSES[key].label}.name" if key in CAUSES else f"figure.{key}"), shown


def _figure(key: str, value: float | str) -> tuple[str, str]:
    """Return a number of evidence for people, its name and its value: ("mean kernel", "20.0 µs").

    Its unit is in its key: `*_ns` are times, `*_share` and `share_*` shares 0..1. As written in the trace
    where it is a text: never print it unescaped.
    """
    name = key.removesuffix("_ns").replace("_", " ")
    if isinstance(value, str):
        return name, value
    if key.endswith("_ns"):
        return name, format_duration(int(value))
    if "share" in key.split("_"):
        return name, share_words(value)
    return name, format_count(int(value)) if value == int(value) else f"{value:,.1f}"
