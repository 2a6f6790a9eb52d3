"""What the table of kernels has on a task: its type, what it works on, how the cores were used.

Makes lines of styled text and knows no widget.
"""

from __future__ import annotations

from tracetui.analysis.kernels import KernelFacts
from tracetui.language import clauses, counted, translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.units import format_duration

_MAX_CHARACTERS = 200  #: characters of a text


def describe_kernel(facts: KernelFacts, pen: Pen) -> list[Line]:
    """Return a line on the kernel, one each on its inputs and outputs, and one on the counters above 0."""
    lines = [_kernel_line(facts, pen), _tensor_line("input", facts, pen), _tensor_line("output", facts, pen)]
    counters = {title: value for title, value in facts.counters.items() if value}
    if counters:
        text = ", ".join(f"{printable(title, 40)} {value:g}" for title, value in counters.items())
        lines.append([pen.label("PMU"), pen.text(text)])
    return [line for line in lines if line]


def _kernel_line(facts: KernelFacts, pen: Pen) -> Line:
    """Return "MatMulV2 on AI_CORE, 24 blocks, waited 1.24 µs"; empty where nothing is known."""
    texts = facts.texts
    parts = [translate("on {core}", core=printable(texts["core"], 40))] if "core" in texts else []
    if facts.blocks:
        parts.append(counted(facts.blocks, "1 block", "{count} blocks"))
    if facts.mix_blocks:
        parts.append(counted(facts.mix_blocks, "1 mix block", "{count} mix blocks"))
    if facts.wait_ns is not None:
        parts.append(translate("waited {time}", time=format_duration(facts.wait_ns)))
    parts += [f"{key} {printable(texts[key], 40)}" for key in ("state", "hf32") if key in texts]
    name = printable(texts["type"], 60) if "type" in texts else ""
    if not name and not parts:
        return []
    return [
        pen.label("kernel"),
        pen.text(name, Role.NUMBER),
        pen.text(f" {clauses(parts)}".rstrip()),
    ]


def _tensor_line(side: str, facts: KernelFacts, pen: Pen) -> Line:
    """Return "inputs  [128,256] FLOAT16 ND; [256] FLOAT ND".

    The attributes of a tensor stand together where all columns have as many tensors; else column follows
    column.
    """
    columns = [facts.texts.get(f"{side}_{attribute}") for attribute in ("shapes", "types", "formats")]
    values_by_column = [column.strip('"').split(";") for column in columns if column is not None]
    if not values_by_column:
        return []
    if len({len(parts) for parts in values_by_column}) == 1:
        text = "; ".join(
            " ".join(part for part in parts if part) or "scalar" for parts in _tensor_parts(values_by_column)
        )
    else:
        text = "  ".join(";".join(parts) for parts in values_by_column)
    return [pen.label(translate(f"{side}s")), pen.text(printable(text, _MAX_CHARACTERS))]


def _tensor_parts(values_by_column: list[list[str]]) -> list[tuple[str, ...]]:
    """Return, for each tensor, its shape in brackets and its other attributes."""
    shapes, *other_columns = values_by_column
    return list(zip([f"[{shape}]" for shape in shapes], *other_columns))
