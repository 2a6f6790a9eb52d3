"""Values as events should have them, out of whatever is there. One event at a time: the slow, careful way."""

from __future__ import annotations

from typing import Any

_INT64_END = 1 << 63
_NONE_IDS = frozenset((0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF))
#: Ids of flow events that mean "not connected": producers shift an id that is none, or write it as it is.
UNCONNECTED = frozenset((0xFFFFFFFF << 32, 0xFFFFFFFFFFFFFFFF))
CORRELATION_KEYS = ("connection_id", "correlation_id", "correlation")

MARK = "mstx"  #: the category of ranges of mstx and msproftx
_MARK_TYPES = ("marker", "push/pop", "start/end", "marker_ex")
TIMED = frozenset("XCstfiIBE")
FLOWS = frozenset("stf")


class Literal(str):
    """A JSON number that is kept as its text."""

    __slots__ = ()


def normalise_events(elements: list[Any], first: int) -> tuple[list[dict[str, Any]], list[int], int]:
    """Return (events with the fields of their phase in usable types, their ordinals, number of others).

    An object without fields is none of the others where there are events, here or before: writers end the
    array with one, where all events are followed by a comma.
    """
    events: list[dict[str, Any]] = []
    ordinals: list[int] = []
    for ordinal, element in enumerate(elements, first):
        event = _event(element)
        if event is not None:
            events.append(event)
            ordinals.append(ordinal)
    empty = elements.count({}) if events or first else 0
    return events, ordinals, len(elements) - len(events) - empty


def _event(element: Any) -> dict[str, Any] | None:
    if not isinstance(element, dict):
        return None
    phase = element.get("ph")
    if not isinstance(phase, str):
        return None
    if phase in TIMED and "ts" not in element:
        return None
    if phase in FLOWS and not isinstance(element.get("id"), (str, int, float)):
        return None
    args = element.get("args")
    if not isinstance(args, dict):
        args = {}
    if phase == "C":
        args = {key: value for key, value in args.items() if number_of(value) is not None}
    elif phase != "M":
        args = {key: value for key, value in args.items() if isinstance(value, (str, int, float))}
    event = {
        "ph": phase,
        "name": _scalar_or_empty(element.get("name")),
        "pid": _scalar_or_empty(element.get("pid")),
        "tid": _scalar_or_empty(element.get("tid")),
        "cat": _scalar_or_empty(element.get("cat")),
        "ts": element.get("ts"),
        "dur": element.get("dur", 0),
        "args": args,
    }
    if "id" in element:
        event["id"] = element["id"]
    return event


def _scalar_or_empty(value: Any) -> str | int | float:
    return value if isinstance(value, (str, int, float)) else ""


def text_of(value: Any) -> str:
    """Return a string, number or None as text; a number without fraction as an integer is written."""
    if isinstance(value, Literal):
        value = _float(value)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, (int, float)) else ""


def number_of(value: Any) -> float | None:
    """Return a number, truth value or numeric text as float; None for anything else."""
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return None
    return _float(value) if isinstance(value, str) and len(value) < 1000 else None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def correlation_of(args: dict[str, Any]) -> int:
    """Return the first usable of the three ids that link a device task to its launch; -1 for none."""
    numbers = (whole_below(args.get(key), _INT64_END) for key in CORRELATION_KEYS)
    return next((number for number in numbers if number >= 0), -1)


def int32_of(value: Any) -> int:
    """Return a number that fits 31 bits, else -1."""
    return whole_below(value, 1 << 31)


def whole_below(value: Any, end: int) -> int:
    """Return an integer from 0 to below `end` that is not one of those that mean none; else -1."""
    number = whole_of(value)
    return number if 0 <= number < end and number not in _NONE_IDS else -1


def signed_below(value: Any, end: int) -> int:
    """Return an integer between -end and end; 0 for anything else."""
    return value if type(value) is int and -end < value < end else 0


def whole_of(value: Any) -> int:
    """Return an integer of any size out of an int, a float without fraction or text of digits; else -1."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Literal):
        value = _float(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else -1
    if isinstance(value, str) and len(value) < 400 and value.isascii() and value.isdigit():
        return int(value)
    return -1


def flow_id(value: Any) -> int | str:
    """Return the id's decimal value where it fits 63 bits, else its text; -1 where it means no connection."""
    if type(value) is str and len(value) < 19 and value.isdecimal() and value.isascii():
        return int(value)
    number = whole_of(value)
    if 0 <= number < _INT64_END:
        return number
    if number in UNCONNECTED:
        return -1
    return str(number) if number >= 0 else text_of(value)


def name_in_scope(name: Any, args: dict[str, Any]) -> Any:
    """Return what an event is called with its scope, where its args tell that: "Default/fc1/MatMul-op9".

    Timelines for MindInsight call an operator "MatMul-op9", and have all of its name in `fullname`.
    """
    whole = args.get("fullname")
    if type(name) is str and type(whole) is str and name and whole.endswith(f"/{name}"):
        return whole
    return name


def category_of(category: Any, args: dict[str, Any]) -> Any:
    """Return the category of an event, MARK for a range of mstx or msproftx, which has none.

    A flow tells such ranges only where they have a part on the device.
    """
    return MARK if category in (None, "") and args.get("event_type") in _MARK_TYPES else category
