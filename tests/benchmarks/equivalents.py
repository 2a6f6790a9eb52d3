"""Mutants that no test can kill, each with the reason: what they change, nobody can observe."""

from __future__ import annotations

FASTER = "a short way to what the long way finds too: tests hold that both find the same"
LARGER = "how much is done at a time, or kept: what comes out does not depend on it"
NAMED = "the number of a name, which is written nowhere: only that it differs from the others counts"
UNKNOWN = "any number below 0 says that there is none"

#: Reasons by file below tracetui, text of the line, and what stands there instead.
EQUIVALENTS: dict[tuple[str, str, str], str] = {
    (
        "trace/flows.py",
        "for category in np.flatnonzero(np.bincount(start_category + 1) >= LEAST_JOINED) - 1:",
        ">= -> >",
    ): FASTER,
    (
        "trace/clean.py",
        "if text.isprintable() and (text.isascii() or not _UNSEEN_PATTERN.search(text)):",
        "or -> and",
    ): FASTER,
    ("trace/layout.py", "SHORT, MANY = 64, 64", "64 -> 65"): FASTER,
    ("trace/layout.py", "short = packed & ~wide & (sizes <= SHORT)", "<= -> <"): FASTER,
    ("trace/layout.py", "if size and overlapping[first : last - 1].any():", "and -> or"): FASTER,
    ("trace/layout.py", "if size and overlapping[first : last - 1].any():", "- -> +"): FASTER,
    ("trace/layout.py", "np.maximum(lanes[:count], chosen + 1, out=lanes[:count])", "1 -> 2"): (
        "more lanes than there are: those beyond are free, and the lowest free one is taken"
    ),
    (
        "trace/order.py",
        "if ((times[1:] < times[:-1]) & (groups[1:] == groups[:-1])).any():",
        "& -> |",
    ): FASTER,
    (
        "trace/flows.py",
        "within = _paired(table, starts, ends, owner * len(ids) + number.reshape(-1))",
        "+ -> -",
    ): ("a number of each pair of owner and id as well: owner * n - id, id < n, has no pair twice"),
    ("trace/nesting.py", "place[place < first] = -1", "1 -> 2"): UNKNOWN,
    ("trace/model.py", "TASKS = 4  #: tasks of a device stream", "4 -> 5"): NAMED,
    (
        "analysis/critical/points.py",
        "TASK = 9  #: work of the device begins; of a wait of a stream, its end",
        "9 -> 10",
    ): NAMED,
    (
        "analysis/communication/lines.py",
        "key = np.where(of_frame >= 0, of_frame * 2 + exposed.backward, -1)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "analysis/advice/evidence.py",
        "return self.blame(int(lines[0]) if len(lines) else -1)",
        "1 -> 2",
    ): UNKNOWN,
    ("analysis/idle/lines.py", "return [], of_row.reshape(-1).astype(np.int64)", "1 -> 2"): (
        "numpy takes any number below 0 for the length that fits"
    ),
    ("analysis/search.py", "table = np.full(high - low + 2, -1, np.int32)", "2 -> 3"): (
        "one place more, behind the last that is asked for"
    ),
    ("reader/pairs.py", "ground = number * -2 * (len(thread) + 1)", "1 -> 2"): (
        "how far below the one before it a thread counts: further is as well"
    ),
    ("reader/split.py", "found = list(BOUNDARY.finditer(text, max(0, len(text) - reach)))", "0 -> 1"): (
        "a boundary begins with the end of an event, and an event is two characters long at least"
    ),
}
