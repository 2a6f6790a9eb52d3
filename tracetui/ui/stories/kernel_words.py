"""What the table of kernels says of a task: its type, what it works on, how the cores were used. Pure."""

from __future__ import annotations

from tracetui.analysis.kernels import KernelFacts
from tracetui.trace.clean import printable
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.units import format_count, format_duration

_LONGEST = 200  #: characters of a text


def describe_kernel(facts: KernelFacts, pen: Pen) -> list[Line]:
    """A line about the kernel, one each for its inputs and outputs, and one for the counters that counted."""
    lines = [_kernel(facts, pen), _tensors("input", facts, pen), _tensors("output", facts, pen)]
    counted = {title: value for title, value in facts.counters.items() if value}
    if counted:
        told = ", ".join(f"{printable(title, 40)} {value:g}" for title, value in counted.items())
        lines.append([pen.label("PMU"), pen.text(told)])
    return [line for line in lines if line]


def _kernel(facts: KernelFacts, pen: Pen) -> Line:
    """ "MatMulV2 on AI_CORE, 24 blocks, waited 1.24 µs" """
    texts = facts.texts
    parts = [f"on {printable(texts['core'], 40)}"] if "core" in texts else []
    for count, what in ((facts.blocks, "block"), (facts.mix_blocks, "mix block")):
        if count:
            parts.append(f"{format_count(count)} {what}{'s' if count > 1 else ''}")
    if facts.wait_ns is not None:
        parts.append(f"waited {format_duration(facts.wait_ns)}")
    parts += [f"{key} {printable(texts[key], 40)}" for key in ("state", "hf32") if key in texts]
    name = printable(texts["type"], 60) if "type" in texts else ""
    if not name and not parts:
        return []
    return [pen.label("kernel"), pen.text(name, Role.NUMBER), pen.text(f" {', '.join(parts)}".rstrip())]


def _tensors(side: str, facts: KernelFacts, pen: Pen) -> Line:
    """ "inputs  [128,256] FLOAT16 ND; [256] FLOAT ND", a tensor after the other where all are told"""
    columns = [facts.texts.get(f"{side}_{what}") for what in ("shapes", "types", "formats")]
    told = [text.strip('"').split(";") for text in columns if text is not None]
    if not told:
        return []
    if len({len(parts) for parts in told}) == 1:
        said = "; ".join(" ".join(part for part in parts if part) or "scalar" for parts in _named(told))
    else:
        said = "  ".join(";".join(parts) for parts in told)
    return [pen.label(f"{side}s"), pen.text(printable(said, _LONGEST))]


def _named(told: list[list[str]]) -> list[tuple[str, ...]]:
    """The shape of each tensor in brackets, and what else is told of it."""
    shapes, *others = told
    return list(zip([f"[{shape}]" for shape in shapes], *others))
