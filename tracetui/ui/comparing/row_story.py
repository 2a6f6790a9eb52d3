"""What is told below a table of the row under the cursor: both sides, and whether that is a change."""

from __future__ import annotations

from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.job_part import ComparedRank, ComparedRoot
from tracetui.comparison.memory_rows import MemoryRow
from tracetui.export.sentences.comparison import count_words, signed_ms, signed_size, steps_count
from tracetui.language import clauses, translate
from tracetui.units import format_bytes, format_ms


def story(row: ComparedRow) -> list[str]:
    """Return both sides of a row with the spread of their steps, and whether that is a change."""
    if isinstance(row, MemoryRow):
        return _memory_story(row)
    lines = []
    for name, total, ns, count, steps in (
        ("BASE ", row.base, row.base_ns, row.base_count, row.scale.base_steps),
        ("OTHER", row.other, row.other_ns, row.other_count, row.scale.other_steps),
    ):
        mean = translate("{time} ms a step", time=format_ms(round(ns)))
        if steps > 1:
            low, high = format_ms(total.lowest), format_ms(total.highest)
            mean = translate("{mean} ({low} to {high})", mean=mean, low=low, high=high)
        times = translate("once") if count == 1 else translate("{count} times", count=count_words(count))
        has_times = total.count and not isinstance(row, ComparedRank)
        lines.append(f"{name}  {clauses((mean, times) if has_times else (mean,))}")
    return [*lines, _change(row)]


def _change(row: ComparedRow) -> str:
    """Return whether a row changed, and by how much, in one sentence."""
    change, by_steps = f"{signed_ms(row.delta_ns)} ms", _steps_in_short(row)
    if not row.delta_ns:
        return translate("No change.")
    if row.changed:
        why = by_steps or translate("the steps do not overlap, and too few tell of chance.")
        return translate("Changed by {change}: {why}", change=change, why=why)
    if row.changed is None:
        return translate("{change}: nothing tells whether that is chance.", change=change)
    if abs(row.delta_ns) * 100 <= row.scale.step_ns:
        if isinstance(row, ComparedRoot):
            return translate("{change}: at most 1 % of a step of all ranks of BASE.", change=change)
        return translate("{change}: at most 1 % of a step of BASE.", change=change)
    why = by_steps or translate("the steps overlap.")
    return translate("{change}, perhaps by chance: {why}", change=change, why=why)


def _steps_in_short(row: ComparedRow) -> str:
    """Say "6/6 steps, shift +6.120 ms (95 %: +5.980 to +6.311)."""
    test = row.test
    if test is None:
        return ""
    return translate(
        "{count} steps, shift {shift} ms ({share} %: {low} to {high}).",
        count=steps_count(row),
        shift=signed_ms(test.shift_ns),
        share=f"{100 * test.confidence:.3g}",
        low=signed_ms(test.low_ns),
        high=signed_ms(test.high_ns),
    )


def _memory_story(row: MemoryRow) -> list[str]:
    """Describe both sides of a row whose amounts are bytes."""
    sizes = [
        f"{name}  {format_bytes(round(size))}"
        for name, size in (("BASE ", row.base_ns), ("OTHER", row.other_ns))
    ]
    change = signed_size(row.delta_ns)
    if not row.delta_ns:
        return [*sizes, translate("No change.")]
    if row.changed:
        return [*sizes, translate("Changed by {change}: more than 1 % of the peak of BASE.", change=change)]
    return [*sizes, translate("{change}: at most 1 % of the peak of BASE.", change=change)]
