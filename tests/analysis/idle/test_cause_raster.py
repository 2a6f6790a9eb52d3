"""Which cause paints a column of a screen."""

import numpy as np

from tracetui.analysis.idle.cause_raster import main_causes


def test_a_column_is_of_its_longest_cause_of_equal_ones_the_first_and_of_none_without_idle_time() -> None:
    ns = np.array([[0, 3, 5, 0], [0, 4, 5, 0], [0, 0, 0, 1]], np.int64)
    found = main_causes(ns)
    assert found.dtype == np.int8
    assert found.tolist() == [-1, 1, 0, 2]
