"""Where slices are shown: by the name of their process, their category, or what else of them tells."""

from __future__ import annotations

import re

from tracetui.trace.dialects.dialect import ProcessPlace
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Family, Layer

#: What slices of a known process hint at, most certain first; and what a slice with a task type hints at.
CERTAIN_HINTS = KNOWN.hints.certain
TASK_TYPE_HINT = next(name for name, (layer, _) in KNOWN.processes.places.items() if layer == Layer.DEVICE)
HINTS = tuple(
    dict.fromkeys(
        [
            *CERTAIN_HINTS,
            TASK_TYPE_HINT,
            *KNOWN.hints.categories.values(),
            *KNOWN.hints.names.values(),
            *(hint for _, hint in KNOWN.hints.name_beginnings),
        ]
    )
)

_GPU_LABEL = re.compile(rf"(?:{'|'.join(KNOWN.processes.gpu_labels)})\b", re.IGNORECASE)
_DEVICE_LABEL = re.compile(rf"(?:{'|'.join(KNOWN.processes.device_labels)})\b", re.IGNORECASE)


def process_place(process: str | None, label: str, thread: str, category: str, marks: bool) -> ProcessPlace:
    """Return where the slices of a category of a thread are shown.

    A process name that is known decides, except that the framework's own process is divided by category;
    then the category; then a GPU label.

    Args:
        process: the process name, None where the trace has none.
        label: the process label, "" where none.
        thread: the thread name, "" where none.
        category: the category of the slices, lower case, "" where none.
        marks: whether user ranges are, or their flows start, in the process.
    """
    place = KNOWN.processes.places.get(process or "")
    by_category = KNOWN.categories.places.get(category)
    if place is not None:
        if place.layer == Layer.PYTHON and by_category is not None:
            return by_category
        if place.family == Family.GROUP and thread.startswith(KNOWN.threads.planes):
            return ProcessPlace(Layer.COMMUNICATION, Family.PLANE)
        if place.layer == Layer.DEVICE and thread.startswith(KNOWN.threads.annotations):
            return ProcessPlace(Layer.DEVICE, Family.ANNOTATIONS)
        return place
    if by_category is not None:
        return by_category
    if marks:
        return ProcessPlace(Layer.MARKS, Family.OTHER)
    if is_gpu(label):
        return ProcessPlace(Layer.DEVICE, Family.ANNOTATIONS)
    return ProcessPlace(Layer.OTHER, Family.OTHER)


def layer_of(process: str | None) -> Layer | None:
    """Return the layer that a process of this name is; None where the name is not known."""
    place = KNOWN.processes.places.get(process or "")
    return None if place is None else place.layer


def hint_of(name: str, category: str) -> str | None:
    """Return the process whose slices have such a name and category; None where nothing fits."""
    hint = KNOWN.hints.categories.get(category.lower()) or KNOWN.hints.names.get(name)
    return hint or next((hint for start, hint in KNOWN.hints.name_beginnings if name.startswith(start)), None)


def device_label(label: str) -> str | None:
    """Return the device of a process label, e.g. "NPU 0"; None for a host label and for none."""
    stripped = label.strip()
    return stripped if _DEVICE_LABEL.match(stripped) else None


def is_gpu(label: str) -> bool:
    """Return whether a process label is that of a GPU."""
    return _GPU_LABEL.match(label) is not None
