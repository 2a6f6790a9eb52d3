"""Where the code of a simulated training script is: its lines, found by the code on them, never by number."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

#: where the sources of the simulated training scripts are
SCRIPTS = Path(__file__).resolve().parents[1] / "samples"


class TrainingScript:
    """A Python file whose lines and functions stand in a trace."""

    def __init__(self, path: Path, traced_as: str) -> None:
        self.traced_as = traced_as
        self.name = Path(traced_as).name
        self._text = path.read_text(encoding="utf-8")
        self._functions = _functions(self._text)

    def line(self, code: str) -> int:
        """Return the number of the only line that holds `code`; ValueError unless there is exactly one."""
        numbers = _lines(self._text, code)
        if len(numbers) != 1:
            raise ValueError(f"{code!r} is on {len(numbers)} lines of {self.name}")
        return numbers[0]

    def function(self, line: int) -> tuple[str, int]:
        """Name and first line of the innermost function around `line`; `<module>`, 1 outside of any."""
        enclosing = [(first, name) for first, last, name in self._functions if first <= line <= last]
        if not enclosing:
            return "<module>", 1
        first, name = max(enclosing)
        return name, first


# Every process that runs a script asks the same of it, at each of its operators.


@cache
def _functions(text: str) -> list[tuple[int, int, str]]:
    return [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    ]


@cache
def _lines(text: str, code: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if code in line]
