"""The producer's own sums beside a trace, held against what is computed of the trace.

A table that differs is no error of the trace: it may be of a longer recording, or of another version. It is
said, for the numbers of the two would else contradict each other without a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tracetui.analysis.communication.analyse import Communication
from tracetui.analysis.kernels import Kernels
from tracetui.analysis.search import distinct, rows_of
from tracetui.analysis.steps import Step
from tracetui.databases.names import is_database
from tracetui.language import state
from tracetui.siblings.beside import Refusal
from tracetui.siblings.formats import API_STATISTIC, KERNEL_DETAILS, OP_STATISTIC, STEP_TIMES
from tracetui.siblings.of_run import COMMUNICATION, LINKS, document_of_run, read_of_run, source_of
from tracetui.siblings.tables import Format, SiblingTable, find_table
from tracetui.trace.clean import printable
from tracetui.trace.model import Layer, Trace
from tracetui.trace.order import numbered
from tracetui.units import format_bytes, format_count, format_duration

_ROUNDED_NS = 1000  #: sums of times that the producer rounds one by one may be so far apart
_APART = ("HCCL", "COMMUNICATION")  #: cores of collectives, which op_statistic.csv may leave out
_SHOWN = 60  #: characters of a name
_LINK_KEYS = ("Transit Size(MB)", "Transit Time(ms)")
#: Columns of step_trace_time.csv, and what a Step calls them.
_STEP_COLUMNS = {
    "computing": "computing_ns",
    "communication_not_overlapped": "communication_not_overlapped_ns",
    "overlapped": "overlapped_ns",
    "communication": "communication_ns",
    "free": "free_ns",
    "stage": "stage_ns",
    "bubble": "bubble_ns",
    "exclude_receive": "communication_not_overlapped_exclude_receive_ns",
    "preparing": "until_work_ns",
}

_Key = TypeVar("_Key", bound=Hashable)

_COMPARISON = "{listed} there, {computed} in the trace"
#: of one, and of several
_COUNTS = {
    "kernel": ("1 kernel", "{count} kernels"),
    "type": ("1 type", "{count} types"),
    "call": ("1 call", "{count} calls"),
    "step": ("1 step", "{count} steps"),
    "operation": ("1 operation", "{count} operations"),
    "link": ("1 link", "{count} links"),
}
_MORE = {
    "type": ("{words}, and 1 more type", "{words}, and {count} more types"),
    "call": ("{words}, and 1 more call", "{words}, and {count} more calls"),
    "time": ("{words}, and 1 more time", "{words}, and {count} more times"),
    "link": ("{words}, and 1 more link", "{words}, and {count} more links"),
}


class Check(NamedTuple):
    """What a table of the producer's says of what is computed too."""

    table: str  #: the name of its file
    agrees: bool
    words: str  #: "57 types"; of one that differs where, printable

    @property
    def sentence(self) -> str:
        """The check in words: "op_statistic.csv agrees: 57 types"."""
        template = "{table} agrees: {words}" if self.agrees else "{table} differs: {words}"
        return state(template, table=self.table, words=self.words)


def find_checks(
    trace: Trace, kernels: Kernels | None, steps: Sequence[Step], communication: Communication
) -> tuple[Check, ...]:
    """Return what the tables beside a trace say, those that there are. Reads them."""
    checks = (
        _kernels(trace, kernels),
        _types(trace, kernels),
        _calls(trace),
        _steps(trace, steps),
        _operations(trace, communication),
        _links(trace, communication),
    )
    path = Path(trace.path)
    return tuple(check._replace(table=source_of(path, check.table)) for check in checks if check is not None)


def _kernels(trace: Trace, kernels: Kernels | None) -> Check | None:
    """Check that the trace has every kernel of the table, and that each lasts as long there."""
    if kernels is None or is_database(Path(trace.path)):
        return None  # the kernels of a database are its tasks
    if not kernels.table.rows:
        return _without_rows(kernels.table, KERNEL_DETAILS)
    table = find_table(Path(trace.path), KERNEL_DETAILS)
    name = KERNEL_DETAILS.name if table is None else table.name
    joined = kernels.row >= 0
    dur = kernels.table.numbers["dur"][joined]
    differs = np.abs(trace.slices.dur[kernels.row[joined]] - dur)[dur >= 0] > 1
    missing, longer = int(np.count_nonzero(~joined)), int(np.count_nonzero(differs))
    kernel_count = format_count(len(joined))
    if missing or longer:
        templates = (
            (missing, "{count} of {kernels} kernels are not in the trace"),
            (longer, "{count} of {kernels} kernels last another time there"),
        )
        found = [
            state(template, count=format_count(count), kernels=kernel_count)
            for count, template in templates
            if count
        ]
        both = state("{missing}, {longer}", missing=found[0], longer=found[-1])
        return Check(name, False, both if len(found) > 1 else found[0])
    return Check(name, True, _count_text(len(joined), "kernel"))


def _types(trace: Trace, kernels: Kernels | None) -> Check | None:
    """Check the sums of kernels by type."""
    table = read_of_run(Path(trace.path), OP_STATISTIC)
    if table is None or kernels is None or not kernels.table.rows:
        return None
    if not table.rows:
        return _without_rows(table, OP_STATISTIC)
    listed = {
        f"{table.text('type', row) or ''} on {table.text('core', row) or '?'}": sums
        for row, sums in _sums(table)
    }
    computed = {
        key: (row.count, row.total_ns)
        for row in kernels.types()
        if (key := f"{row.type} on {row.core or '?'}") in listed or row.core not in _APART
    }
    return _compare_sums(OP_STATISTIC.name, listed, computed, "type")


def _calls(trace: Trace) -> Check | None:
    """Check the sums of the calls of CANN by name: "launch" of "Node@launch"."""
    table = read_of_run(Path(trace.path), API_STATISTIC)
    rows = rows_of(track for track in trace.tracks if track.layer == Layer.RUNTIME)
    if table is None or not len(rows):
        return None
    if not table.rows:
        return _without_rows(table, API_STATISTIC)
    listed: dict[str, tuple[int, int]] = {}
    for row, sums in _sums(table):
        _add(listed, table.text("name", row) or "", *sums)
    computed: dict[str, tuple[int, int]] = {}
    names, place = numbered(trace.slices.name[rows])
    counts = np.bincount(place, minlength=len(names)).tolist()
    totals = np.zeros(len(names), np.int64)
    np.add.at(totals, place, trace.slices.dur[rows])
    for name, count, total in zip(names.tolist(), counts, totals.tolist()):
        call = (trace.string(name) or "").rpartition("@")[2]
        if call in listed:  # what of a call is inside it, the table leaves out
            _add(computed, call, count, total)
    return _compare_sums(API_STATISTIC.name, listed, computed, "call")


def _without_rows(table: SiblingTable, format_: Format) -> Check | None:
    """Return that a table lost all its rows; None where it never had any."""
    return Check(format_.name, False, state("none of its rows can be read")) if table.problems else None


def _sums(table: SiblingTable) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the rows of a table, and the count and the total (ns) of each."""
    return enumerate(zip(table.numbers["count"].tolist(), table.numbers["total"].tolist()))


def _add(sums: dict[_Key, tuple[int, int]], key: _Key, count: int, total: int) -> None:
    previous = sums.get(key, (0, 0))
    sums[key] = previous[0] + count, previous[1] + total


def _compare_sums(
    name: str, listed: Mapping[str, tuple[int, int]], computed: Mapping[str, tuple[int, int]], noun: str
) -> Check:
    """Compare counts and totals by what they are of; totals may differ by 1 ns for each that is counted."""
    differing = []
    for key in {**listed, **computed}:
        (listed_count, total), (computed_count, sum_) = (sums.get(key, (0, 0)) for sums in (listed, computed))
        if listed_count != computed_count or abs(total - sum_) > listed_count:
            differing.append((key, listed_count, total, computed_count, sum_))
    if not differing:
        return Check(name, True, _count_text(len(listed), noun))
    first, listed_count, total, computed_count, sum_ = differing[0]
    same_count = listed_count == computed_count
    totals = _time_texts(total, sum_) if same_count else (format_duration(total), format_duration(sum_))
    words = state(
        "{name}: {listed} of {time} there, {computed} of {total} in the trace",
        name=printable(first, _SHOWN),
        listed=format_count(listed_count),
        time=totals[0],
        computed=format_count(computed_count),
        total=totals[1],
    )
    return Check(name, False, _with_rest(words, len(differing) - 1, noun))


def _steps(trace: Trace, steps: Sequence[Step]) -> Check | None:
    """Check the parts of the time of each step."""
    table = read_of_run(Path(trace.path), STEP_TIMES)
    if table is None or len({step.device for step in steps}) != 1:
        return None
    if not table.rows:
        return _without_rows(table, STEP_TIMES)
    by_number = {step.number: step for step in steps}
    rows = [(row, by_number.get(number)) for row, number in enumerate(table.numbers["step"].tolist())]
    pairs = [(row, step) for row, step in rows if step is not None]
    if len(distinct(table.texts["device"].place)) > 1 or not pairs:
        return None
    differing = [
        _comparison(f"step {step.number}, {key.replace('_', ' ')}", listed, getattr(step, name))
        for row, step in pairs
        for key, name in _STEP_COLUMNS.items()
        if (listed := int(table.numbers[key][row])) >= 0 and abs(listed - getattr(step, name)) > _ROUNDED_NS
    ]
    return _check_of_parts(STEP_TIMES.name, len(pairs), "step", differing, "time")


def _operations(trace: Trace, communication: Communication) -> Check | None:
    """Check how long each collective moved data and waited, as the producer counts it."""
    document = _document(trace, COMMUNICATION)
    if document is None or isinstance(document, Check):
        return document
    place_of, times = _places(trace, communication), communication.master_times
    checked, differing = 0, []
    for key, entry in _entries(document):
        name = key.partition("@")[0]
        listed_times = entry.get("Communication Time Info")
        if name not in place_of or not isinstance(listed_times, dict):
            continue
        checked += 1
        for part, column in (("Transit", times.transit), ("Wait", times.wait)):
            listed = _to_base_units(listed_times.get(f"{part} Time(ms)"))
            computed = float(column[place_of[name]])
            if listed is not None and computed >= 0 and abs(listed - computed) > _ROUNDED_NS:
                what = f"{printable(name, _SHOWN)}, {part.lower()}"
                differing.append(_comparison(what, round(listed), round(computed)))
    return _check_of_parts(COMMUNICATION, checked, "operation", differing, "time")


def _links(trace: Trace, communication: Communication) -> Check | None:
    """Check what the collectives in the document moved over each link, and in how long."""
    document = _document(trace, LINKS)
    if document is None or isinstance(document, Check):
        return document
    place_of, transfers = _places(trace, communication), _moved_over_links(communication)
    checked: set[tuple[str, str]] = set()
    differing: list[str] = []
    for _, entry in _entries(document):
        for ends, link in entry.items():
            name = link.get("Op Name") if isinstance(link, dict) else None
            if not isinstance(name, str) or name not in place_of or (name, ends) in checked:
                continue
            if (place_of[name], ends) not in transfers:
                continue
            size, ns = transfers[place_of[name], ends]
            listed = [_to_base_units(link.get(key)) for key in _LINK_KEYS]
            if listed[0] is None or listed[1] is None:
                continue
            checked.add((name, ends))
            listed_size, listed_ns = round(listed[0]), round(listed[1])
            link_name = f"{printable(name, _SHOWN)}, link {ends}"
            if listed_size != size:
                listed_bytes, counted_bytes = format_bytes(listed_size), format_bytes(size)
                differing.append(
                    state(_COMPARISON, listed=f"{link_name} {listed_bytes}", computed=counted_bytes)
                )
            elif abs(listed_ns - ns) > _ROUNDED_NS:
                differing.append(_comparison(link_name, listed_ns, ns))
    return _check_of_parts(LINKS, len(checked), "link", differing, "link")


def _document(trace: Trace, name: str) -> Mapping[str, Any] | Check | None:
    """Return a document beside the trace, None where there is none, what is wrong where it is refused."""
    try:
        return document_of_run(Path(trace.path), name)
    except Refusal as refusal:
        return Check(name, False, state("it {refusal}", refusal=refusal))


def _places(trace: Trace, communication: Communication) -> dict[str, int]:
    """Return the place of each operation by its name, without names that several operations share."""
    names = [trace.name(row) for row in communication.operations.row.tolist()]
    counts = Counter(names)
    return {name: place for place, name in enumerate(names) if counts[name] == 1}


def _moved_over_links(communication: Communication) -> dict[tuple[int, str], tuple[int, int]]:
    """Return the bytes and ns of each operation from rank to rank of its group: "0-1"."""
    transfers = communication.transfers
    columns = (
        transfers.operation,
        transfers.src,
        transfers.dst,
        transfers.size,
        transfers.end - transfers.start,
    )
    totals: dict[tuple[int, str], tuple[int, int]] = {}
    for operation, src, dst, size, ns in zip(*(column.tolist() for column in columns)):
        _add(totals, (operation, f"{src}-{dst}"), size, ns)
    return totals


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what is said of each operation of each step; its sums over operations are left out."""
    for step in document.values():
        for kind in step.values() if isinstance(step, dict) else ():
            for key, entry in kind.items() if isinstance(kind, dict) else ():
                if isinstance(entry, dict) and not key.lower().startswith("total"):
                    yield key, entry


def _check_of_parts(
    name: str, checked: int, checked_noun: str, differing: Sequence[str], differing_noun: str
) -> Check | None:
    if differing:
        return Check(name, False, _with_rest(differing[0], len(differing) - 1, differing_noun))
    return Check(name, True, _count_text(checked, checked_noun)) if checked else None


def _to_base_units(value: Any) -> float | None:
    """Convert ms to ns, or MB to bytes; None for anything but a finite number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12:
        return value * 1e6
    return None


def _time_texts(listed: int, computed: int) -> tuple[str, str]:
    """Format two lengths of time (ns), to the ns where they would read alike."""
    texts = format_duration(listed), format_duration(computed)
    if texts[0] != texts[1] or listed == computed:
        return texts
    return f"{format_count(listed)} ns", f"{format_count(computed)} ns"


def _comparison(what: str, listed: int, computed: int) -> str:
    """Format two times of something as "step 3, idle 2.60 ms there, 2.56 ms in the trace"."""
    texts = _time_texts(listed, computed)
    return state(_COMPARISON, listed=f"{what} {texts[0]}", computed=texts[1])


def _count_text(count: int, noun: str) -> str:
    return state(_COUNTS[noun][count != 1], count=format_count(count))


def _with_rest(words: str, count: int, noun: str) -> str:
    """Return what is said of the first that differs, and how many more do."""
    return state(_MORE[noun][count != 1], words=words, count=format_count(count)) if count else words
