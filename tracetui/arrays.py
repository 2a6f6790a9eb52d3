"""Short names for the numpy array types of the columns, and what tables of them have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Int8s = NDArray[np.int8]
Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Wholes = NDArray[Any]  #: of int32 where all of its numbers fit, else of int64
Smalls = NDArray[Any]  #: of int16, or of int32 where not all of its numbers fit that

AnyColumns = TypeVar("AnyColumns", bound="Columns")


@dataclass(frozen=True, eq=False)
class Columns:
    """A table: its fields are columns of equal length."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def at(self: AnyColumns, places: Int64s | Bools | slice) -> AnyColumns:
        """Return the rows at some places."""
        return type(self)(**{column.name: getattr(self, column.name)[places] for column in fields(self)})
