"""Short names for the numpy array types of the columns."""

from __future__ import annotations

from typing import Any

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
