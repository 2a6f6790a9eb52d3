"""What is told below a table of the row under the cursor: both sides, and whether that is a change."""

from __future__ import annotations

from tracetui.comparison.memory_rows import MemoryRow
from tracetui.comparison.rows import ComparedRow
from tracetui.export.sentences.comparison import count_words, signed_ms, signed_size, steps_count
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
        spread = f" ({format_ms(total.lowest)} to {format_ms(total.highest)})" if steps > 1 else ""
        times = f", {'once' if count == 1 else f'{count_words(count)} times'}" if total.count else ""
        lines.append(f"{name}  {format_ms(round(ns))} ms a step{spread}{times}")
    change, by_steps = f"{signed_ms(row.delta_ns)} ms", _steps_in_short(row)
    if not row.delta_ns:
        verdict = "No change."
    elif row.changed:
        reason = by_steps or "the steps do not overlap, and too few tell of chance."
        verdict = f"Changed by {change}: {reason}"
    elif row.changed is None:
        verdict = f"{change}: nothing tells whether that is chance."
    elif abs(row.delta_ns) * 100 <= row.scale.step_ns:
        verdict = f"{change}: less than 1 % of a step of BASE."
    else:
        verdict = f"{change}, perhaps by chance: {by_steps or 'the steps overlap.'}"
    return [*lines, verdict]


def _steps_in_short(row: ComparedRow) -> str:
    """Say "6/6 steps, shift +6.120 ms (95 %: +5.980 to +6.311)."""
    test = row.test
    if test is None:
        return ""
    interval = f"{100 * test.confidence:.3g} %: {signed_ms(test.low_ns)} to {signed_ms(test.high_ns)}"
    return f"{steps_count(row)} steps, shift {signed_ms(test.shift_ns)} ms ({interval})."


def _memory_story(row: MemoryRow) -> list[str]:
    """Describe both sides of a row whose amounts are bytes."""
    sizes = [
        f"{name}  {format_bytes(round(size))}"
        for name, size in (("BASE ", row.base_ns), ("OTHER", row.other_ns))
    ]
    change = signed_size(row.delta_ns)
    if not row.delta_ns:
        return [*sizes, "No change."]
    if row.changed:
        return [*sizes, f"Changed by {change}: more than 1 % of the peak of BASE."]
    return [*sizes, f"{change}: less than 1 % of the peak of BASE."]
