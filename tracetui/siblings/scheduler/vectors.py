"""Blocks of a recording to columns by numpy, thousands of lines at once, where nothing is compiled.

A line whose fields do not stand where they do in most is left to `line`; of a damaged one more may be read
here than there, of any that is whole the same. Eight bytes are looked at as one number: texts are compared,
and decimal digits counted and added up.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.siblings.scheduler.events import MOST_PIDS, NAMES, NO_PID, EventKind, SchedulerColumns
from tracetui.siblings.scheduler.line import INTERRUPTS, STATE_BITS
from tracetui.siblings.scheduler.parsed import LEFT, REMARK, Comms, ReadLines, Words

_PAD = 32  # bytes before and after a block, so that no look beyond its edges fails
_WORD = 8  # bytes
_LONGEST_NAME = 16  # bytes that a name is compared by


def read_vectors(data: bytes) -> ReadLines:
    """Return what the lines of a block hold that are as usual; the last may lack its line break."""
    return _Block(data).read()


class _Spelling(NamedTuple):
    """How the name of an event is written: its length, its first and its last eight bytes."""

    kind: EventKind
    length: int
    first: int
    last: int


def _word(text: bytes) -> int:
    return int.from_bytes(text[:_WORD].ljust(_WORD, b"\0"), "little")


_RARE = (EventKind.FORK, EventKind.EXEC, EventKind.EXIT)  # left to `line`
_SPELLINGS = tuple(
    _Spelling(kind, len(name), _word(name), _word(name[-_WORD:]))
    for name, kind in (
        *((name, kind) for name, kind in NAMES.items() if kind not in _RARE),
        *((name, EventKind.OTHER) for name in (b"softirq_raise", b"sched_stat_runtime")),
    )
)
_WIDEST = 6  # words of spaces that stand between a time and the name of its event
_FULL = (1 << 64) - 1
#: The highest bytes of a word, by how many; and the lowest.
_HIGH = np.array([(_FULL << 8 * (_WORD - n)) & _FULL for n in range(_WORD + 1)], np.uint64)
_LOW = np.array([(1 << 8 * n) - 1 for n in range(_WORD + 1)], np.uint64)
_ONES = 0x0101010101010101


def _every(byte: int) -> np.uint64:
    return cast(np.uint64, np.uint64(_ONES * byte))


_ZEROS, _SPACES, _SEVEN, _TOP = _every(0x30), _every(0x20), _every(0x7F), _every(0x80)
_OVER_NINE = _every(0x76)


def _not_digits(words: Words) -> Words:
    """Return words in which the top bit of each byte says that it is no decimal digit."""
    value = words ^ _ZEROS
    return cast(Words, (((value & _SEVEN) + _OVER_NINE) | value) & _TOP)


def _not_spaces(words: Words) -> Words:
    value = words ^ _SPACES
    return cast(Words, (((value & _SEVEN) + _SEVEN) | value) & _TOP)


def _count_last(marks: Words) -> Int64s:
    """Return how many bytes at the end of each word have no mark."""
    exponent = np.frexp(marks.astype(np.float64))[1].astype(np.int64)
    return np.where(marks == 0, _WORD, 7 - (exponent - 1) // 8)


def _count_first(marks: Words) -> Int64s:
    """Return how many bytes at the beginning of each word have no mark."""
    lowest = marks & (~marks + np.uint64(1))
    exponent = np.frexp(lowest.astype(np.float64))[1].astype(np.int64)
    return np.where(marks == 0, _WORD, (exponent - 1) // 8)


def _decimal(words: Words) -> Int64s:
    """Return the numbers that the eight digits of words are, or bytes of 0 before them."""
    value = words & _every(0x0F)
    value = (value * np.uint64(10) + (value >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    value = (value * np.uint64(100) + (value >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    value = (value * np.uint64(10000) + (value >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    return cast(Int64s, value.astype(np.int64))


def _state_letters(numbers: Int64s) -> Int64s:
    """Return the letters of the states that raw text gives as numbers."""
    letters = np.full(len(numbers), ord("R"), np.int64)
    for bit, letter in STATE_BITS:
        letters[(numbers & bit) > 0] = ord(letter)
    return letters


class _Block:
    def __init__(self, data: bytes) -> None:
        if not data.endswith(b"\n"):
            data += b"\n"
        self._bytes = np.frombuffer(b"\0" * _PAD + data + b"\0" * _PAD, np.uint8)
        # Each place as the start of eight bytes: a view, nothing is copied.
        self._words = cast(
            Words, np.ndarray((len(self._bytes) - _WORD + 1,), "<u8", self._bytes.data, strides=(1,))
        )
        self._ends = self._places(b"\n")
        self._starts = np.concatenate((np.array([_PAD], np.int64), self._ends[:-1] + 1))

    def read(self) -> ReadLines:
        lines = len(self._starts)
        time, kind = np.zeros(lines, np.int64), np.full(lines, LEFT, np.int8)
        cpu, target = np.zeros(lines, np.int16), np.full(lines, -1, np.int16)
        pid, other = np.full(lines, NO_PID, np.int32), np.full(lines, NO_PID, np.int32)
        state = np.zeros(lines, np.int8)
        columns = SchedulerColumns(time, cpu, kind, pid, other, state, target)
        found = ReadLines(columns, self._starts - _PAD)
        self._equals, self._brackets = self._places(b"="), self._places(b"[")
        self._read_remarks(columns)
        self._read_headers(columns, found)
        for count, next_comm in ((9, 6), (7, 4)):  # `==>` is two of nine; raw text of trace-cmd lacks it
            self._read_switches(columns, found, count, next_comm)
        self._read_short_switches(columns, found)
        self._read_wakes(columns)
        self._read_short_wakes(columns)
        self._read_numbers(columns)
        return found

    # -- what stands before the fields of an event -----------------------------------------------------

    def _read_remarks(self, columns: SchedulerColumns) -> None:
        """Mark empty lines, and those of call stacks, which perf writes below each event."""
        is_stack = (self._bytes[self._starts] == ord("\t")) & (self._bytes[self._ends - 1] == ord(")"))
        columns.kind[is_stack | (self._starts == self._ends)] = REMARK

    def _read_headers(self, columns: SchedulerColumns, found: ReadLines) -> None:
        """Read thread, core, time and name of each event; leaves alone what is not as usual."""
        brackets, colons = self._brackets, self._places(b":")
        rows = np.arange(len(self._starts))
        bracket, kept = self._next(brackets, self._starts, rows)
        rows = rows[kept]
        after = self._words[bracket + 1]
        is_cpu = (self._bytes[bracket + 4] == ord("]")) & ((_not_digits(after) & _LOW[3]) == 0)
        bracket, rows, after = bracket[is_cpu], rows[is_cpu], after[is_cpu]
        cpu = _decimal((after & _LOW[3]) << np.uint64(40))
        colon, kept = self._next(colons, bracket, rows)
        bracket, cpu, rows = bracket[kept], cpu[kept], rows[kept]
        time, good = self._times(colon)
        # A name may look like a thread and a core: then the true one stands before the time, too.
        good &= np.searchsorted(brackets, colon) - np.searchsorted(brackets, bracket) == 1
        thread, process, is_thread = self._threads(bracket)
        good &= is_thread
        start = self._after_spaces(colon + 1)
        first = self._bytes[start]
        numbered = np.flatnonzero((first == ord("(")) | ((first >= ord("0")) & (first <= ord("9"))))
        if len(numbered):  # time since the event before, or how many events perf counted
            length = _count_first(~_not_spaces(self._words[start[numbered]]) & _TOP)
            start[numbered] = self._after_spaces(start[numbered] + length)
        perf = self._words[start]
        start += np.where(perf == np.uint64(_word(b"sched:sc")), 6, 0)
        start += np.where(perf & _LOW[4] == np.uint64(_word(b"irq:")), 4, 0)
        name_end, kept = self._next(colons, start, rows)
        start, good, rows = start[kept], good[kept], rows[kept]
        time, thread, process, cpu, bracket = (
            column[kept] for column in (time, thread, process, cpu, bracket)
        )
        kind = self._kinds(start, name_end)
        flags = self._after_spaces(bracket + 5)
        first = self._bytes[flags]
        by_interrupt = (first < ord("0")) | (first > ord("9"))  # else no flags, but the time
        by_interrupt &= np.isin(self._bytes[flags + 2], [*INTERRUPTS])
        by_interrupt &= (kind >= EventKind.WAKING) & (kind <= EventKind.WAKEUP_NEW)
        good &= kind != LEFT
        rows = rows[good]
        columns.time[rows], columns.kind[rows] = time[good], kind[good]
        columns.cpu[rows], columns.other[rows] = cpu[good], np.where(by_interrupt, NO_PID, thread)[good]
        self._fields = np.zeros(len(self._starts), np.int64)  # where the fields of an event begin
        self._fields[rows] = self._after_spaces(name_end[good] + 1)
        known = good & (process >= 0)
        pairs = np.sort(thread[known] << 32 | process[known])
        pairs = pairs[np.concatenate((np.ones(min(len(pairs), 1), np.bool_), pairs[1:] != pairs[:-1]))]
        found.processes.update(zip((pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist()))

    def _times(self, colon: Int64s) -> tuple[Int64s, Bools]:
        """Return the time before each colon, ns, and whether it is one."""
        micro = self._bytes[colon - 7] == ord(".")
        dot = np.where(micro, colon - 7, colon - 10)
        good = self._bytes[dot] == ord(".")
        last = self._words[colon - 8]
        digits = np.where(micro, 6, 8)
        good &= (_not_digits(last) & _HIGH[digits]) == 0
        fraction = _decimal(last & _HIGH[digits])
        first = self._bytes[dot + 1].astype(np.int64) - 48
        good &= micro | ((first >= 0) & (first <= 9))
        ns = np.where(micro, fraction * 1000, first * 10**8 + fraction)
        whole = self._words[dot - 8]
        length = _count_last(_not_digits(whole))
        good &= (length > 0) & (length < _WORD)
        return _decimal(whole & _HIGH[length]) * 10**9 + ns, good

    def _threads(self, bracket: Int64s) -> tuple[Int64s, Int64s, Bools]:
        """Return the thread before each core, its process (-1 where not recorded), and whether it is one."""
        has_process = (self._bytes[bracket - 2] == ord(")")) & (self._bytes[bracket - 10] == ord("("))
        inside = self._words[bracket - 10]
        length = np.minimum(_count_last(_not_digits(inside)), 7)
        process = np.where(has_process & (length > 0), _decimal(inside & _HIGH[length]), -1)
        end = np.where(has_process, bracket - 10, bracket)
        end = end - _count_last(_not_spaces(self._words[end - 8]))
        number = self._words[end - 8]
        length = _count_last(_not_digits(number))
        dash = self._bytes[np.maximum(end - length - 1, 0)]
        good = (length > 0) & (length < _WORD) & ((dash == ord("-")) | (dash == ord(" ")))
        thread = _decimal(number & _HIGH[length])
        # Process and thread of perf's `12/13` are left to `line`, and so is a name of nothing but digits.
        return thread, process, good & (thread < MOST_PIDS)

    def _kinds(self, start: Int64s, end: Int64s) -> Int64s:
        length, first, last = end - start, self._words[start], self._words[np.maximum(end - 8, 0)]
        kind = np.full(len(start), LEFT, np.int64)
        for spelling in _SPELLINGS:
            same = (first == np.uint64(spelling.first)) & (last == np.uint64(spelling.last))
            kind[same & (length == spelling.length)] = spelling.kind
        return kind

    # -- the fields -------------------------------------------------------------------------------------

    def _read_switches(self, columns: SchedulerColumns, found: ReadLines, count: int, next_comm: int) -> None:
        """Read switches with `count` equals signs; that of number `next_comm` stands before the next name."""
        rows, signs = self._signs(columns, (EventKind.SWITCH,), count)
        comm, got_end = signs[:, next_comm], signs[:, count - 1]
        good = self._says(self._fields[rows], b"prev_com")
        for place, text in ((1, b"prev_pid"), (2, b"rev_prio"), (3, b"ev_state"), (next_comm, b"ext_comm")):
            good &= self._says(signs[:, place] - 8, text)
        good &= self._says(signs[:, next_comm + 1] - 8, b"next_pid") & self._says(got_end - 8, b"ext_prio")
        if next_comm > 4:
            good &= (signs[:, 5] == signs[:, 4] + 1) & (self._bytes[signs[:, 5] + 1] == ord(">"))
        left, is_left = self._number(signs[:, 1] + 1, signs[:, 2] - 10)
        got, is_got = self._number(signs[:, next_comm + 1] + 1, got_end - 10)
        names = ((signs[:, 0] + 1, signs[:, 1] - 9), (comm + 1, signs[:, next_comm + 1] - 9))
        state = self._bytes[signs[:, 3] + 1].astype(np.int64)
        number, is_number = self._number(signs[:, 3] + 1, comm - 10)
        state = np.where(is_number, _state_letters(number), state)
        self._add_switches(columns, found, rows, good & is_left & is_got, (left, got), names, state)

    def _read_short_switches(self, columns: SchedulerColumns, found: ReadLines) -> None:
        """Read trace-cmd's `comm:pid [prio] state ==> comm:pid [prio]`, which names no fields."""
        rows = np.flatnonzero((columns.kind == EventKind.SWITCH) & (columns.pid == NO_PID))
        arrows = self._equals[self._bytes[self._equals + 2] == ord(">")]
        arrows = arrows[(self._words[arrows - 1] & _LOW[5]) == np.uint64(_word(b" ==> "))]
        fields, ends = self._fields[rows], self._ends[rows]
        first = np.searchsorted(arrows, fields)
        usual = np.searchsorted(arrows, ends) - first == 1
        columns.kind[rows[~usual]] = LEFT
        rows, fields, ends, arrow = rows[usual], fields[usual], ends[usual], arrows[first[usual]]
        longer = self._bytes[arrow - 3] != ord(" ")  # a state of two letters: R+
        space = arrow - 3 - longer
        left, left_end, good = self._short_thread(space)
        got, got_end, is_got = self._short_thread(ends)
        good &= is_got & (self._bytes[space] == ord(" "))
        names = ((fields, left_end), (arrow + 4, got_end))
        state = self._bytes[space + 1].astype(np.int64)
        self._add_switches(columns, found, rows, good, (left, got), names, state)

    def _add_switches(
        self,
        columns: SchedulerColumns,
        found: ReadLines,
        rows: Int64s,
        good: Bools,
        pids: tuple[Int64s, Int64s],
        names: tuple[tuple[Int64s, Int64s], tuple[Int64s, Int64s]],
        state: Int64s,
    ) -> None:
        """Keep those switches that were read well, and leave the others to `line`.

        `pids`, `names`: of who leaves the core and who gets it; where each name begins and ends.
        """
        for begin, end in names:
            good = good & (end >= begin) & (end - begin <= _LONGEST_NAME)
        columns.kind[rows[~good]] = LEFT
        rows = rows[good]
        columns.pid[rows], columns.other[rows] = (pid[good] for pid in pids)
        columns.state[rows] = state[good]
        for pid, (begin, end) in zip(pids, names):
            length = (end - begin)[good]
            first = self._words[begin[good]] & _LOW[np.minimum(length, _WORD)]
            second = self._words[begin[good] + 8] & _LOW[np.clip(length - _WORD, 0, _WORD)]
            found.comms.append(Comms(rows, pid[good].astype(np.int32), first, second))

    def _short_thread(self, end: Int64s) -> tuple[Int64s, Int64s, Bools]:
        """Return the thread in `comm:pid [prio]` before each end, the end of its name, and if it is one."""
        place = np.searchsorted(self._brackets, end) - 1
        bracket = self._brackets[np.maximum(place, 0)] if len(self._brackets) else np.zeros_like(end)
        length = end - 1 - (bracket + 1)
        word = self._words[bracket + 1]
        is_negative = (word & _LOW[1]) == np.uint64(ord("-"))
        is_priority = ((_not_digits(word) & _LOW[np.clip(length, 0, _WORD)]) >> np.uint64(8) == 0) & (
            is_negative | ((_not_digits(word) & _LOW[1]) == 0)
        )
        good = (self._bytes[end - 1] == ord("]")) & (length > is_negative) & (length < _WORD) & is_priority
        number = self._words[np.maximum(bracket - 9, 0)]
        digits = _count_last(_not_digits(number))
        colon = np.maximum(bracket - 2 - digits, 0)
        good &= (self._bytes[np.maximum(bracket - 1, 0)] == ord(" ")) & (self._bytes[colon] == ord(":"))
        pid = _decimal(number & _HIGH[digits])
        return pid, colon, good & (digits > 0) & (digits < _WORD) & (pid < MOST_PIDS)

    def _read_wakes(self, columns: SchedulerColumns) -> None:
        kinds = (EventKind.WAKING, EventKind.WAKEUP, EventKind.WAKEUP_NEW)
        for which, count, cpu in ((kinds, 4, b"rget_cpu"), ((EventKind.MIGRATE,), 5, b"dest_cpu")):
            rows, signs = self._signs(columns, which, count)
            good = (self._words[self._fields[rows]] & _LOW[5]) == np.uint64(_word(b"comm="))
            good &= (self._words[signs[:, 1] - 4] & _LOW[4]) == np.uint64(_word(b" pid"))
            good &= (self._words[signs[:, 2] - 5] & _LOW[5]) == np.uint64(_word(b" prio"))
            good &= self._says(signs[:, count - 1] - 8, cpu)
            pid, is_pid = self._number(signs[:, 1] + 1, signs[:, 2] - 5)
            target = self._words[signs[:, count - 1] + 1]
            length = np.minimum(_count_first(_not_digits(target)), 5)
            last = self._bytes[signs[:, count - 1] + 1 + length]
            good &= is_pid & (length > 0) & (length < 4) & ((last == ord("\n")) | (last == ord(" ")))
            number = _decimal(target << ((_WORD - length) * 8).astype(np.uint64))
            columns.kind[rows[~good]] = LEFT
            columns.pid[rows[good]], columns.target[rows[good]] = pid[good], number[good]

    def _read_short_wakes(self, columns: SchedulerColumns) -> None:
        """Read trace-cmd's `comm:pid [prio] CPU:001`; a move has no such form."""
        kinds = (columns.kind >= EventKind.WAKING) & (columns.kind <= EventKind.MIGRATE)
        rows = np.flatnonzero(kinds & (columns.pid == NO_PID))
        word = self._words[self._ends[rows] - 8]
        length = _count_last(_not_digits(word))
        end = self._ends[rows] - length - 5
        good = (self._words[end] & _LOW[5]) == np.uint64(_word(b" CPU:"))
        good &= (length > 0) & (length < 4) & (columns.kind[rows] != EventKind.MIGRATE)
        end = np.where(self._says(end - 10, b" success"), end - 10, end)
        pid, _, is_thread = self._short_thread(end)
        good &= is_thread
        columns.kind[rows[~good]] = LEFT
        columns.pid[rows[good]] = pid[good]
        columns.target[rows[good]] = _decimal(word & _HIGH[length])[good]

    def _read_numbers(self, columns: SchedulerColumns) -> None:
        """Read which interrupt it is; a line without is good as well."""
        rows = np.flatnonzero((columns.kind >= EventKind.IRQ_ENTRY) & (columns.kind < EventKind.OTHER))
        fields = self._fields[rows]
        named = self._bytes[fields + 3] == ord("=")
        words = self._words[fields + 4]
        length = np.minimum(_count_first(_not_digits(words)), 7)
        number = _decimal(words << ((_WORD - length) * 8 % 64).astype(np.uint64))
        columns.pid[rows] = np.where(named & (length > 0), number, NO_PID)

    def _signs(
        self, columns: SchedulerColumns, kinds: tuple[EventKind, ...], count: int
    ) -> tuple[Int64s, Int64s]:
        """Return the rows of events with `count` equals signs, and the places of these, int64[rows, count].

        Those that were read before are left out.
        """
        wanted = np.zeros(EventKind.OTHER + 3, np.bool_)
        wanted[list(kinds)] = True
        rows = np.flatnonzero(wanted[columns.kind] & (columns.pid == NO_PID))
        first = np.searchsorted(self._equals, self._fields[rows])
        usual = np.searchsorted(self._equals, self._ends[rows]) - first == count
        return rows[usual], self._equals[first[usual, None] + np.arange(count)]

    def _number(self, begin: Int64s, end: Int64s) -> tuple[Int64s, Bools]:
        """Return the thread in each `[begin, end)`, and whether it is one."""
        length = np.clip(end - begin, 0, _WORD)
        word = self._words[np.maximum(end - 8, 0)]
        mask = _HIGH[length]
        value = _decimal(word & mask)
        good = ((_not_digits(word) & mask) == 0) & (end - begin > 0) & (end - begin < _WORD)
        return value, good & (value < MOST_PIDS)

    def _after_spaces(self, places: Int64s) -> Int64s:
        """Return the first place from each on that is no space, or one after many of them."""
        counted = _count_first(_not_spaces(self._words[places]))
        places = places + counted
        more = np.flatnonzero(counted == _WORD)
        for _ in range(_WIDEST):
            if not len(more):
                break
            counted = _count_first(_not_spaces(self._words[places[more]]))
            places[more] += counted
            more = more[counted == _WORD]
        return places

    def _says(self, places: Int64s, text: bytes) -> Bools:
        is_text: Bools = self._words[places] == np.uint64(_word(text))
        return is_text

    def _places(self, byte: bytes) -> Int64s:
        return np.flatnonzero(self._bytes == byte[0])

    def _next(self, places: Int64s, after: Int64s, rows: Int64s) -> tuple[Int64s, Bools]:
        """Return the first of sorted places from each of `after` on, and which have one in their row."""
        index = np.searchsorted(places, after)
        held = index < len(places)
        held[held] = places[index[held]] < self._ends[rows[held]]
        return places[index[held]], held
