"""A table as columns of numbers, of which digests are made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np

from tracetui.arrays import Bools, Int64s

AnyColumnTable = TypeVar("AnyColumnTable", bound="ColumnTable")


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """A table: int64 columns of equal length."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def at(self: AnyColumnTable, places: Int64s | Bools | slice) -> AnyColumnTable:
        """Return the rows at some places."""
        return type(self)(**{column.name: getattr(self, column.name)[places] for column in fields(self)})

    @classmethod
    def empty(cls: type[AnyColumnTable]) -> AnyColumnTable:
        """Return a table without rows."""
        return cls(**{column.name: np.empty(0, np.int64) for column in fields(cls)})
