"""The places of numbers among sorted ones are numpy's, compiled or not."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tracetui.arrays import searchsorted

_EXTREMES = st.sampled_from([np.iinfo(np.int64).min, -1, 0, np.iinfo(np.int64).max])
_NUMBERS = arrays(np.int64, st.integers(0, 300), elements=st.integers(-30, 30) | _EXTREMES)


@given(_NUMBERS, _NUMBERS, st.sampled_from(["left", "right"]), st.booleans())
def test_places_are_those_of_numpy(
    numbers: Any, wanted: Any, side: Literal["left", "right"], in_order: bool
) -> None:
    ordered, wanted = np.sort(numbers), np.sort(wanted) if in_order else wanted
    found = searchsorted(ordered, wanted, side)
    assert found.dtype == np.int64
    assert found.tolist() == np.searchsorted(ordered, wanted, side).tolist()


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_other_columns_are_looked_up_too(dtype: type[np.integer[Any]], step: int) -> None:
    ordered = np.arange(0, 600, 2, dtype=dtype)[::step]
    wanted = np.arange(400, dtype=dtype)[::step]
    assert searchsorted(ordered, wanted).tolist() == np.searchsorted(ordered, wanted).tolist()
    two_columns = wanted.reshape(2, -1)
    assert searchsorted(ordered, two_columns).shape == two_columns.shape
