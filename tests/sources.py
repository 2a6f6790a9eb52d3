"""The statements of a source, without a look at the expressions in them: nine nodes of ten are of those."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_BELOW = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield each statement of a module, and each clause of one, before those inside of it."""
    left: list[ast.AST] = list(tree.body)
    while left:
        node = left.pop()
        yield node
        for name in _BELOW:
            left += getattr(node, name, ())
