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
    **{
        (
            "trace/order.py",
            "if ((times[1:] < times[:-1]) & (groups[1:] == groups[:-1])).any():",
            change,
        ): FASTER
        for change in ("& -> |", "< -> <=")
    },
    (
        "trace/flows.py",
        "within = _paired(table, starts, ends, owner * len(ids) + number)",
        "+ -> -",
    ): ("a number of each pair of owner and id as well: owner * n - id, id < n, has no pair twice"),
    ("trace/nesting.py", "place[place < first] = -1", "1 -> 2"): UNKNOWN,
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
        "return self.blame(int(lines[0]) if told else -1)",
        "1 -> 2",
    ): UNKNOWN,
    ("analysis/search.py", "table = np.full(high - low + 2, -1, np.int32)", "2 -> 3"): (
        "one place more, behind the last that is asked for"
    ),
    ("reader/pairs.py", "ground = number * -2 * (len(thread) + 1)", "1 -> 2"): (
        "how far below the one before it a thread counts: further is as well"
    ),
    ("reader/split.py", "found = list(BOUNDARY.finditer(text, max(0, len(text) - reach)))", "0 -> 1"): (
        "a boundary begins with the end of an event, and an event is two characters long at least"
    ),
    ("trace/layout.py", "taken = np.maximum(dur, 1)", "1 -> 2"): FASTER,
    ("trace/layout.py", "overlapping: Bools = start[1:] < taken[:-1]", "< -> <="): FASTER,
    (
        "trace/nesting.py",
        "hit = _contains(trace, candidates, start[rows], closed_end=False)",
        "False -> True",
    ): ("a slice without length on a deeper lane lies inside that of the lane above it"),
    ("trace/activities.py", "_SIEVE = 1 << 20  # a power of two", "20 -> 21"): LARGER,
    ("trace/activities.py", "_SIEVE = 1 << 20  # a power of two", "1 -> 2"): LARGER,
    ("trace/flows.py", "LEAST_JOINED = 1000", "1000 -> 1001"): FASTER,
    ("reader/skeleton.py", "if not before <= offset < after:", "< -> <="): (
        "nothing is read at the end of the text, and chunks of nothing are left out"
    ),
    (
        "reader/split.py",
        "_WINDOW = 1 << 11  # bytes: an event's piece is copied, and JSONDecodeError counts its lines",
        "11 -> 12",
    ): LARGER,
    (
        "reader/split.py",
        "_WINDOW = 1 << 11  # bytes: an event's piece is copied, and JSONDecodeError counts its lines",
        "1 -> 2",
    ): LARGER,
    ("reader/split.py", "if not final and at >= size - _TELLING:", ">= -> >"): LARGER,
    ("reader/split.py", "return max(0, len(piece) - 32)", "32 -> 33"): LARGER,
    ("reader/split.py", "return min(token.start(), max(0, len(piece) - 32))", "32 -> 33"): LARGER,
    (
        "reader/timestamps.py",
        "if product.min() >= 0 and product.max() < 1e12 and (np.abs(product - result) < 0.4995).all():",
        "< -> <=",
    ): FASTER,
    (
        "reader/timestamps.py",
        "if product.min() >= 0 and product.max() < 1e12 and (np.abs(product - result) < 0.4995).all():",
        ">= -> >",
    ): FASTER,
    (
        "reader/timestamps.py",
        "if product.min() >= 0 and product.max() < 1e12 and (np.abs(product - result) < 0.4995).all():",
        "0 -> 1",
    ): FASTER,
    ("reader/columns.py", "self._array.resize(size, refcheck=False)", "False -> True"): (
        "nobody else holds the array: numpy's check would only find a debugger"
    ),
    ("reader/pool.py", "if len(worker.tasks) >= _IN_HAND:", ">= -> >"): LARGER,
    ("reader/pool.py", "if worker.tasks and worker.silent >= _SILENCE:", ">= -> >"): LARGER,
    (
        "reader/skeleton.py",
        "SMALLEST = 1 << 26  #: bytes of a file worth a sample: a smaller one is read as fast",
        "26 -> 27",
    ): FASTER,
    (
        "reader/skeleton.py",
        "SMALLEST = 1 << 26  #: bytes of a file worth a sample: a smaller one is read as fast",
        "1 -> 2",
    ): FASTER,
    (
        "reader/decode.py",
        "block.elements = [_element(text[start:end], exact=True) for start, end in found.spans]",
        "True -> False",
    ): "times and ids that came as floats are read again from their text",
    (
        "reader/extract.py",
        'time, sample, value = own["time"], own["sample"], own.get("value", np.empty(0))',
        "0 -> 1",
    ): "without a value no sample has a row, and none of the values is taken",
    ("reader/text.py", "_INFLATE_STEP = 1 << 18  # compressed bytes per read", "18 -> 19"): LARGER,
    ("reader/text.py", "_INFLATE_STEP = 1 << 18  # compressed bytes per read", "1 -> 2"): LARGER,
    (
        "reader/text.py",
        "_FED = 1 << 14  # of them to zlib at a time, which copies what it leaves",
        "14 -> 15",
    ): LARGER,
    (
        "reader/text.py",
        "_FED = 1 << 14  # of them to zlib at a time, which copies what it leaves",
        "1 -> 2",
    ): LARGER,
    (
        "reader/text.py",
        "_INFLATED = 1 << 22  # bytes of text that zlib may make at a time",
        "22 -> 23",
    ): LARGER,
    ("reader/text.py", "_INFLATED = 1 << 22  # bytes of text that zlib may make at a time", "1 -> 2"): LARGER,
    (
        "reader/text.py",
        "_KEPT = 1 << 20  # bytes of text after which those before what is read are dropped",
        "20 -> 21",
    ): LARGER,
    (
        "reader/text.py",
        "_KEPT = 1 << 20  # bytes of text after which those before what is read are dropped",
        "1 -> 2",
    ): LARGER,
    (
        "reader/text.py",
        "_CHECKPOINT = 1 << 26  # text bytes between two places where inflating can start again",
        "26 -> 27",
    ): LARGER,
    (
        "reader/text.py",
        "_CHECKPOINT = 1 << 26  # text bytes between two places where inflating can start again",
        "1 -> 2",
    ): LARGER,
    (
        "reader/source.py",
        "BLOCK = 3 << 16  #: bytes for one call of orjson; its objects fit the cache: "
        "512 kB are a third slower",
        "16 -> 17",
    ): LARGER,
    (
        "reader/source.py",
        "BLOCK = 3 << 16  #: bytes for one call of orjson; its objects fit the cache: "
        "512 kB are a third slower",
        "3 -> 4",
    ): LARGER,
    (
        "reader/source.py",
        "PART = 1 << 24  #: bytes whose columns are made together, and between two calls of `on_progress`",
        "24 -> 25",
    ): LARGER,
    (
        "reader/source.py",
        "PART = 1 << 24  #: bytes whose columns are made together, and between two calls of `on_progress`",
        "1 -> 2",
    ): LARGER,
    ("reader/chunks.py", "_CACHED = 16  # decoded blocks, of some 3 MB each", "16 -> 17"): LARGER,
    ("reader/worker.py", "document: int = 0  #: bytes of the first of what was written", "0 -> 1"): (
        "of a piece that could not be read nobody reads what was written"
    ),
    ("reader/worker.py", "length: int = 0  #: bytes written", "0 -> 1"): (
        "of a piece that could not be read nobody reads what was written"
    ),
    ("reader/worker.py", "start: int = -1  #: of the piece; -1: it couldn't be read", "1 -> 2"): UNKNOWN,
    ("reader/text.py", "start = max(len(pending) - len(_MEMBER) + 1, 0) or len(pending)", "0 -> 1"): (
        "the last two bytes of a file begin no member: they are dropped one by one, or at once"
    ),
    (
        "reader/document.py",
        "if events_at >= 0:",
        ">= -> >",
    ): "the array begins after a bracket and a name at least",
    (
        "reader/document.py",
        "if events_at >= 0:",
        "0 -> 1",
    ): "the array begins after a bracket and a name at least",
    ("reader/source.py", "_LONGEST_HEAD = 1 << 26", "26 -> 27"): LARGER,
    ("reader/source.py", "_LONGEST_HEAD = 1 << 26", "1 -> 2"): LARGER,
    (
        "analysis/advice/evidence.py",
        "launchers = np.where(links.dequeue >= 0, links.dequeue, links.launch)",
        ">= -> >",
    ): "only its thread is asked for, and a launch is on the thread of its dequeue",
    (
        "analysis/advice/evidence.py",
        "launchers = np.where(links.dequeue >= 0, links.dequeue, links.launch)",
        "0 -> 1",
    ): "only its thread is asked for, and a launch is on the thread of its dequeue",
    ("export/frames.py", "CHUNK = 8192", "8192 -> 8193"): LARGER,
    (
        "export/tables/communication.py",
        "return np.where(known, self.speed / np.where(known, self.nominal, 1), -1)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "reader/text.py",
        "if start < self._window_start or start > self._window_start + len(self._window) + _CHECKPOINT:",
        "< -> <=",
    ): FASTER,
    (
        "reader/text.py",
        "if start < self._window_start or start > self._window_start + len(self._window) + _CHECKPOINT:",
        "> -> >=",
    ): FASTER,
    (
        "reader/text.py",
        "if start < self._window_start or start > self._window_start + len(self._window) + _CHECKPOINT:",
        "+ -> -",
    ): FASTER,
    ("reader/text.py", "while self._window_start + len(self._window) < start + length:", "< -> <="): LARGER,
    ("reader/text.py", "if surplus > _KEPT:", "> -> >="): LARGER,
    (
        "reader/text.py",
        "if self._at.text_offset - self._checkpoints[-1].text_offset >= _CHECKPOINT:",
        "- -> +",
    ): LARGER,
    (
        "reader/text.py",
        "if self._at.text_offset - self._checkpoints[-1].text_offset >= _CHECKPOINT:",
        ">= -> >",
    ): LARGER,
    ("reader/text.py", "if nearest.text_offset <= self._at.text_offset <= start:", "<= -> <"): FASTER,
    ("reader/text.py", "self._stream = zlib.decompressobj(wbits=31)", "31 -> 32"): (
        "32 takes gzip as well, and all that comes here begins as gzip"
    ),
    ("reader/text.py", "self._lost = False  # `pending` begins in no member", "False -> True"): (
        "the first member is found where the file begins"
    ),
    (
        "analysis/limits.py",
        "return float(self.limit.share) if self.limit.share is not None else float(self.limit.ns or 0)",
        "0 -> 1",
    ): "a limit has a share or a time: the rest is for the checker of types",
    (
        "analysis/raster.py",
        "at = np.stack((first, np.where(inside >= 0, inside, first), np.where(touched, stop - 1, 0)))",
        ">= -> >",
    ): "row 0 lies inside of no column: what lies inside is after the first slice of one",
    ("reader/text.py", "if len(self._pending) < len(_MEMBER):", "< -> <="): LARGER,
    (
        "export/tables/memory.py",
        "numbers = np.array([*(step.number for step in self.recorded.steps), -1], np.int64)",
        "1 -> 2",
    ): UNKNOWN,
    ("analysis/critical/chain.py", "none = np.full(len(to), -1, np.int64)", "1 -> 2"): UNKNOWN,
    ("trace/flows.py", "found = np.full(len(times), -1, np.int64)", "1 -> 2"): UNKNOWN,
    (
        "trace/tracks.py",
        'return tuple((0, int(digits), "") if digits else (1, 0, other) for digits, other in parts)',
        "1 -> 2",
    ): "words come after numbers by any number above that of numbers",
    (
        "trace/flows.py",
        "key = category.astype(np.int64) * (int(source_row.max(initial=0)) + 2) + source_row",
        "0 -> 1",
    ): "how far apart categories are: further is as well",
    (
        "analysis/heat/fold.py",
        "low, high = 0, max(lengths, default=1)  # of `low` there are too many",
        "1 -> 2",
    ): "without a phase every length will do: the search ends at the shortest, 1",
    ("reader/skeleton.py", "return -1", "1 -> 2"): UNKNOWN,
    (
        "export/tables/memory.py",
        "return np.where(self.release < 0, -1, self.release - self.blocks.start)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "reader/source.py",
        "final = len(text) < length or length >= _LONGEST_HEAD",
        ">= -> >",
    ): "lengths are 1 << 16, 19, 22, 25, 28: none is equal to it",
    ("reader/processes.py", '"MALLOC_MMAP_THRESHOLD_": str(1 << 25),', "25 -> 26"): LARGER,
    (
        "export/tables/memory.py",
        "times = [int(curve.time[_most(curve)[0]]) if rows.recorded.timed else -1 for curve in rows.rows]",
        "1 -> 2",
    ): UNKNOWN,
    ("reader/parts.py", "device = order.pop(0) if order and not match[1] else -1", "1 -> 2"): UNKNOWN,
    ("reader/columns.py", "if self._length > len(self._array):", "> -> >="): LARGER,
    (
        "reader/processes.py",
        "return lines if said and len(self._line) < _LONGEST_LINE else None",
        "< -> <=",
    ): "what a worker writes is shorter by far: nonsense is what goes on for ever",
    ("reader/split.py", "if error_at >= size - 16 or end >= 0:", "16 -> 17"): (
        "no token but a string, whose end is told apart, is as long: what fails there is no event cut "
        "in two, and is found again where more is read before that is known"
    ),
    ("reader/document.py", "return -1", "1 -> 2"): UNKNOWN,
    ("reader/chunks.py", "self._decoded.popitem(last=False)", "False -> True"): (
        "which of the decoded blocks is dropped: it is decoded again"
    ),
    (
        "analysis/kernels.py",
        "key = key * (len(shapes) + 1) + (shape + 1 if by_shape else 0)",
        "0 -> 1",
    ): NAMED,
    (
        "analysis/kernels.py",
        "names = np.array([number.get(text, -1) for text in texts] or [-1], np.int64)[place]",
        "1 -> 2",
    ): UNKNOWN,
    (
        "analysis/idle/streams.py",
        "free = np.concatenate(([-1], np.maximum.accumulate(slices.end[rows])[:-1]))[: len(rows)]",
        "1 -> 2",
    ): "before the first task a stream is free at any time, and times are not below 0",
    (
        "analysis/critical/device_points.py",
        "found, ended = np.full(len(begin), -1, np.int64), np.full(len(begin), -1, np.int64)",
        "1 -> 2",
    ): UNKNOWN,
    ("analysis/memory/analyse.py", "if peak is not None and curve is not None:", "and -> or"): (
        "a peak is that of a curve: both are there, or neither"
    ),
    (
        "export/step_numbers.py",
        'self._device_of = np.array([place.get(t.device or "", -1) for t in analysis.trace.tracks], '
        "np.int64)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "export/tables/communication.py",
        "return np.array([-1 if speed is None else speed for speed in told], np.float64)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "export/job_frames.py",
        "elif told and any(isinstance(value, str) for value in told):",
        "any -> all",
    ): "a column that holds a text holds nothing else",
    (
        "export/text.py",
        "next_widest = max((widths[i] for i in giving if i != widest), default=0)",
        "!= -> ==",
    ): "the widest column gives way cell by cell, until another one is the widest",
    (
        "reader/packing.py",
        "return numbers if numbers.min() >= -1 and numbers.max() < end else None",
        "- -> +",
    ): FASTER,
    (
        "reader/timestamps.py",
        "if rest or not 2 <= width <= 21 or not lines.isascii():",
        "2 -> 3",
    ): FASTER,
    (
        "reader/locate.py",
        'top = file.parents[1] if file.parent.name == "timeline" and len(file.parents) > 2 else file.parent',
        "> -> >=",
    ): "of two parents one is the directory at hand, and so is what holds it",
    ("reader/worker.py", "os._exit(0)", "0 -> 1"): "nobody asks for the status of a worker that is let go",
    (
        "reader/pool.py",
        "self._selector.register(worker.process.stdout or -1, selectors.EVENT_READ, worker)",
        "- -> +",
    ): "a worker is started with a pipe: the rest is for the checker of types",
    (
        "trace/inferred.py",
        "return np.array([*chosen, False])[table.slices.thread]",
        "False -> True",
    ): "of no thread: with it the array is one of truth values where there are no threads",
    (
        "trace/flows.py",
        "key = category.astype(np.int64) * (int(source_row.max(initial=0)) + 2) + source_row",
        "2 -> 3",
    ): "how far apart categories are: further is as well",
    (
        "trace/layout.py",
        'order = np.argsort(start, kind="stable").astype(np.int64, copy=False)',
        "False -> True",
    ): FASTER,
    ("trace/layout.py", "change = -np.bincount(after, minlength=n + 1)[:n]", "1 -> 2"): (
        "one place more, behind those that are taken"
    ),
    ("trace/source_files.py", "while len(self._kept) > _KEPT:", "> -> >="): LARGER,
    (
        "analysis/idle/causes.py",
        "table = np.zeros((int(steps.max(initial=-1)) + 2, len(Cause)), np.int64)",
        "2 -> 3",
    ): "one row more, which no step has",
    (
        "analysis/critical/endings.py",
        "found.cause[By.WAIT, wanted] = np.where(last >= 0, last + first_done, -1)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "analysis/idle/signatures.py",
        "shape = (len(Cause), len(lines) + 1, 2, len(trace.strings) + 1)",
        "1 -> 2",
    ): ("how far apart the numbers of what is alike are: further is as well"),
    (
        "analysis/memory/neighbours.py",
        "own = [place for place in range(first, behind) if issued[place] >= time] or "
        "[*range(first, behind), -1]",
        "1 -> 2",
    ): UNKNOWN,
    (
        "analysis/critical/device_points.py",
        "found.cause[By.BEFORE], found.cause[By.LAUNCH] = before, np.where(known, enqueue_point[first], -1)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "analysis/lead.py",
        "before = np.cumsum(np.concatenate(([0], np.where(empty[:-1], np.diff(self.time), 0))))",
        "0 -> 1",
    ): "from any moment on that is the same for all: only differences count",
    (
        "analysis/lead.py",
        'place = np.maximum(np.searchsorted(self.time, times, "right") - 1, 0)',
        '"right" -> "left"',
    ): "a sum over time: at a time of change it is the same from both sides",
    **{
        (
            "analysis/lead.py",
            "inside: Int64s = before[place] + np.where(empty[place] | (since < 0), since, 0)",
            change,
        ): "of 0 ns neither side adds any"
        for change in ("< -> <=", "0 -> 1")
    },
    (
        "analysis/lead.py",
        'place = np.searchsorted(self.time, times, "right") - 1',
        '"right" -> "left"',
    ): "an integral: at a time of change it is the same from both sides",
    (
        "analysis/kernels.py",
        "key = type_.astype(np.int64) * (len(cores) + 1) + core + 1",
        "1 -> 2",
    ): NAMED,
    (
        "analysis/kernels.py",
        "key = key * (len(shapes) + 1) + (shape + 1 if by_shape else 0)",
        "1 -> 2",
    ): NAMED,
    (
        "analysis/communication/planes.py",
        "return (int(track.tid) if track.tid.isdecimal() and len(track.tid) < 19 else -1, track.index)",
        "1 -> 2",
    ): "a thread without a number comes before all numbers, by any number below 0",
}
