"""How busy the devices of a trace are while there is no analysis that could say how idle they are.

Pure: knows the picture of a trace and what is not read of it. Without a device it is about the host.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int64s
from tracetui.trace.model import Layer
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import track_key


def device_load(picture: Picture, edges: Int64s) -> tuple[Int64s, Int64s]:
    """Return ns busy of the busiest track in each column, and the level of what is not read there.

    `edges`, ns, are those of the columns. Both are int64[columns]; the level is as in `Sketch.levels`.
    """
    sketch = picture.sketch
    layers = (Layer.PYTHON, Layer.OTHER) if is_of_host(picture) else (Layer.DEVICE,)
    busy = level = np.zeros(len(edges) - 1, np.int64)
    for track in picture.trace.tracks:
        if track.layer in layers and len(track.lanes):
            busy = np.maximum(busy, picture.folded(track, edges).busy)
    if sketch is not None:
        for track in sketch.tracks:
            if track.layer in layers:
                level = np.maximum(level, sketch.levels(track_key(track), edges))
    return busy, level


def is_of_host(picture: Picture) -> bool:
    """Return whether the load is that of the host."""
    expected = picture.sketch.tracks if picture.sketch is not None else ()
    return all(track.layer is not Layer.DEVICE for track in (*picture.trace.tracks, *expected))
