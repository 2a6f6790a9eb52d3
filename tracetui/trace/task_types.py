"""What a device task does, by its type or its name."""

from __future__ import annotations

from tracetui.trace.dialects.known import KNOWN, any_of
from tracetui.trace.model import Activity

_COLLECTIVE = any_of(KNOWN.collectives.kernels)


def activity_of_type(task_type: str) -> Activity | None:
    """Return what a task of this `Task Type` does; None for a type that is not known."""
    key = _key(task_type)
    activity = KNOWN.tasks.types.get(key)
    return _by_beginning(key, KNOWN.tasks.type_beginnings) if activity is None else activity


def engine_of_type(task_type: str) -> str:
    """Return what a task of `Activity.AICPU` runs on: "AI CPU", "DSA"; of an unknown type the type itself.

    As written in the trace then: never print it unescaped.
    """
    key = _key(task_type)
    return next((engine for start, engine in KNOWN.tasks.engines if key.startswith(start)), task_type)


def is_generic(task_type: str) -> bool:
    """Return whether a `Task Type` is one that a producer gives to every task: it tells nothing."""
    return _key(task_type) in KNOWN.tasks.generic_types


def type_of_name(name: str) -> Activity | None:
    """Return what a task does whose name is a task type, as of one that is no known operator; else None."""
    return KNOWN.tasks.types.get(_key(name))


def activity_of_name(name: str) -> Activity | None:
    """Return what an Ascend task of this name does, where the name decides against the type; else None."""
    if name.endswith(KNOWN.collectives.kernel_endings):
        return Activity.COMMUNICATION_TASK
    return _by_beginning(name, KNOWN.tasks.name_beginnings)


def is_collective_kernel(name: str) -> bool:
    """Return whether a kernel, known as one by its category, is communication."""
    return _COLLECTIVE.match(name) is not None


def _key(text: str) -> str:
    return text.strip().upper().replace(" ", "_")


def _by_beginning(text: str, table: tuple[tuple[str, Activity], ...]) -> Activity | None:
    return next((activity for start, activity in table if text.startswith(start)), None)
