"""Mutants that no test can kill, each with the reason: what they change, nobody can observe."""

from __future__ import annotations

FASTER = "a short way to what the long way finds too: tests hold that both find the same"
LARGER = "how much is done at a time, or kept: what comes out does not depend on it"
NAMED = "the number of a name, which is written nowhere: only that it differs from the others counts"
ALONE = "an element, and so its end, is a character at least"
SAMPLED = "how much of a trace is looked at, for a first picture of it"
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
        "reader/split.py",
        "found = list(BOUNDARY.finditer(text, max(0, len(text) - reach)))",
        "max -> min",
    ): FASTER,
    ("reader/split.py", "if reach >= len(text):", ">= -> >"): FASTER,
    ("reader/split.py", "reach *= 16", "16 -> 17"): LARGER,
    ("reader/split.py", "reach *= 4", "4 -> 5"): LARGER,
    ("reader/split.py", "reach = 1 << 12", "1 -> 2"): LARGER,
    ("reader/split.py", "reach = 1 << 12", "12 -> 13"): LARGER,
    (
        "reader/split.py",
        "end: int = 0  #: everything before is dealt with: an element, a separator or skipped",
        "0 -> 1",
    ): "each walk says where it ends",
    (
        "reader/split.py",
        "budget = size + (1 << 16)  # bytes that may be read twice to find an event after a damaged one",
        "1 -> 2",
    ): LARGER,
    (
        "reader/split.py",
        "budget = size + (1 << 16)  # bytes that may be read twice to find an event after a damaged one",
        "16 -> 17",
    ): LARGER,
    (
        "reader/split.py",
        "damage = 0 if lost else -1  # where the damage being skipped begins",
        "1 -> 2",
    ): UNKNOWN,
    ("reader/split.py", "damage = -1", "1 -> 2"): UNKNOWN,
    ("reader/split.py", "rest = size if final else max(search, size - 64)", "64 -> 65"): LARGER,
    (
        "reader/split.py",
        "_TELLING = 64  # characters after a bracket that show what it closes",
        "64 -> 65",
    ): LARGER,
    (
        "reader/split.py",
        "if end >= 0 and (end < size or final or chars[end - 1] in '}]\"'):",
        ">= -> >",
    ): ALONE,
    (
        "reader/split.py",
        "if end >= 0 and (end < size or final or chars[end - 1] in '}]\"'):",
        "0 -> 1",
    ): ALONE,
    (
        "reader/split.py",
        "if error_at >= size - 16 or end >= 0:",
        ">= -> >",
    ): "an element has a character at least, and what fails 16 before the end fails for good",
    (
        "reader/split.py",
        "if error_at >= size - 16 or end >= 0:",
        "0 -> 1",
    ): "an element has a character at least, and what fails 16 before the end fails for good",
    (
        "reader/split.py",
        "return end >= 0 and _BEHIND_ELEMENT.match(chars, end) is not None",
        ">= -> >",
    ): ALONE,
    ("reader/split.py", "return end >= 0 and _BEHIND_ELEMENT.match(chars, end) is not None", "0 -> 1"): ALONE,
    ("reader/split.py", "if budget < 0:", "< -> <="): LARGER,
    ("reader/split.py", "if budget < 0:", "0 -> 1"): LARGER,
    ("reader/split.py", "search = at + 1 if budget > 0 else error_at", "> -> >="): LARGER,
    ("reader/split.py", "search = at + 1 if budget > 0 else error_at", "0 -> 1"): LARGER,
    ("reader/split.py", "budget -= (error_at - at) * (8 if deep else 1)", "8 -> 9"): LARGER,
    ("reader/split.py", "budget -= (error_at - at) * (8 if deep else 1)", "1 -> 2"): LARGER,
    (
        "reader/split.py",
        "search = at + 1",
        "1 -> 2",
    ): "a brace that begins an event is followed by a name: none begins right behind another",
    ("reader/split.py", "whole = at + reach >= len(chars)", ">= -> >"): FASTER,
    ("reader/split.py", "if end < len(piece) or whole or piece[end - 1] in '}]\"':", "1 -> 2"): FASTER,
    ("reader/split.py", "if whole or error_at < len(piece) - 16:", "< -> <="): FASTER,
    ("reader/split.py", "if whole or error_at < len(piece) - 16:", "16 -> 17"): FASTER,
    ("reader/split.py", "return min(token.start(), len(piece) - 32)", "32 -> 33"): LARGER,
    (
        "reader/split.py",
        "return max(0, len(piece) - 32)",
        "0 -> 1",
    ): "a text whose depth is looked for has hundreds of brackets",
    (
        "reader/timestamps.py",
        "_PRECISE = Context(prec=_LONGEST + 1100)",
        "1100 -> 1101",
    ): "more digits than any number has that is left",
    (
        "reader/timestamps.py",
        "return np.where(far, UNREADABLE, np.where(far, 0, whole) * 1000)",
        "0 -> 1",
    ): "what is far is replaced by what stands for no time",
    (
        "reader/timestamps.py",
        "if product.min() >= 0 and product.max() < 1e12 and (np.abs(product - result) < 0.4995).all():",
        "- -> +",
    ): FASTER,
    (
        "reader/timestamps.py",
        "close = np.abs(np.abs(product - result) - 0.5) < 1e-4 + np.abs(product) * 4e-16",
        "< -> <=",
    ): FASTER,
    ("reader/timestamps.py", "wrong = ~(np.abs(product) < LIMIT)", "< -> <="): "at the limit decimals decide",
    ("reader/timestamps.py", "for index in np.flatnonzero(close & ~wrong):", "& -> |"): FASTER,
    (
        "reader/timestamps.py",
        "if type(values[0]) is not str if values else True:",
        "True -> False",
    ): "none are none as texts too",
    ("reader/timestamps.py", "if number.adjusted() > 18:", "> -> >="): FASTER,
    ("reader/timestamps.py", "if number.adjusted() > 18:", "18 -> 19"): FASTER,
    (
        "reader/timestamps.py",
        'times_ = _fixed_width("\\n".join(same) + "\\n", len(same)) if len(same) >= 8 else None',
        ">= -> >",
    ): FASTER,
    (
        "reader/timestamps.py",
        'times_ = _fixed_width("\\n".join(same) + "\\n", len(same)) if len(same) >= 8 else None',
        "8 -> 9",
    ): FASTER,
    ("reader/timestamps.py", "if rest or not 2 <= width <= 21 or not lines.isascii():", "21 -> 22"): FASTER,
    (
        "reader/timestamps.py",
        'zeros, highest, weights = _form(width, dotted=width > 5 and lines[-5] == ".")',
        "> -> >=",
    ): FASTER,
    (
        "reader/timestamps.py",
        'zeros, highest, weights = _form(width, dotted=width > 5 and lines[-5] == ".")',
        "5 -> 6",
    ): FASTER,
    ("reader/timestamps.py", "if whole.max() >= LIMIT // 1000:", "1000 -> 1001"): FASTER,
    (
        "reader/skeleton.py",
        "CHUNK = 1 << 16  #: bytes of one chunk: some 250 events, decoded and taken in under 1 ms",
        "1 -> 2",
    ): SAMPLED,
    (
        "reader/skeleton.py",
        "CHUNK = 1 << 16  #: bytes of one chunk: some 250 events, decoded and taken in under 1 ms",
        "16 -> 17",
    ): SAMPLED,
    (
        "reader/skeleton.py",
        "CHUNKS = 128  #: spread over the file",
        "128 -> 129",
    ): SAMPLED,
    (
        "reader/skeleton.py",
        "FIRST = 40  #: of them, before names are looked for",
        "40 -> 41",
    ): SAMPLED,
    (
        "reader/skeleton.py",
        "PROBES = 64  #: more of them, at most, to find names",
        "64 -> 65",
    ): SAMPLED,
    (
        "reader/skeleton.py",
        "_TRIED = 4  # places that look like the start of an event: the first may lie in a string "
        "or in a nested list",
        "4 -> 5",
    ): SAMPLED,
    (
        "reader/skeleton.py",
        "_PLACE = 20  # bits of an ordinal that count the events of a chunk",
        "20 -> 21",
    ): "a chunk has no million of events",
    (
        "reader/skeleton.py",
        "if place < 0 or time.monotonic() > until:",
        "< -> <=",
    ): "no chunk ends where the text begins",
    (
        "reader/skeleton.py",
        "if place < 0 or time.monotonic() > until:",
        "0 -> 1",
    ): "no chunk ends where the text begins",
    (
        "reader/skeleton.py",
        "text = self._text.read(offset, min(CHUNK, after - offset + 1))  # a boundary shows by what is after",
        "1 -> 2",
    ): "a byte more shows no other boundary",
    (
        "reader/skeleton.py",
        "return _Found(offset, offset + max(len(text), 1), block.elements, whole)",
        "1 -> 2",
    ): "of a file only that became shorter is nothing read",
    (
        "reader/skeleton.py",
        'ends = [element["ph"] == "M" for element in elements[:1] + elements[-1:]] or [False]',
        "1 -> 2",
    ): "the first and the last of them are looked at",
    (
        "reader/skeleton.py",
        'ends = [element["ph"] == "M" for element in elements[:1] + elements[-1:]] or [False]',
        "- -> +",
    ): "the first and the last of them are looked at",
    (
        "reader/skeleton.py",
        "rank = np.full(len(self._chunks), -1, np.int64)",
        "1 -> 2",
    ): "no event is of a chunk that cannot be read",
    (
        "reader/skeleton.py",
        "rank = np.full(len(self._chunks), -1, np.int64)",
        "- -> +",
    ): "no event is of a chunk that cannot be read",
    (
        "reader/skeleton.py",
        "nothing = builder.build(path, {}, ReadReport(self._text.size, 0, 0, 0), last=False)",
        "False -> True",
    ): "columns of nothing are the same as those that grow",
    (
        "reader/skeleton.py",
        "table = builder.build(path, dict(document), report, last=True)",
        "True -> False",
    ): "nothing follows that columns would grow by",
    ("reader/skeleton.py", "if place < 0 or time.monotonic() > until:", "> -> >="): SAMPLED,
    (
        "reader/text.py",
        "_USUAL_RATIO = 8  # of text to what gzip makes of a trace",
        "8 -> 9",
    ): "a guess, for the number of processes",
    ("reader/text.py", "head = os.pread(fd, 4, 0)", "4 -> 5"): "no more than three are looked at",
    ("reader/columns.py", "self._grow(self._length * 9 // 8)", "9 -> 10"): LARGER,
    ("reader/columns.py", "self._grow(self._length * 9 // 8)", "8 -> 9"): LARGER,
    (
        "reader/columns.py",
        "values, self._array = self._array, np.empty(0, self._array.dtype)",
        "0 -> 1",
    ): LARGER,
    ("reader/columns.py", "self._array = np.empty(0, dtype)", "0 -> 1"): LARGER,
    (
        "reader/columns.py",
        "strings = np.array([-1 if text is None else self._strings[text] for text in "
        "part.strings], np.int32)",
        "1 -> 2",
    ): UNKNOWN,
    (
        "reader/columns.py",
        "filled = np.where(strings == empty, -1, strings)  # a category or a call stack isn't empty",
        "1 -> 2",
    ): UNKNOWN,
    (
        "reader/columns.py",
        "flow_ids = np.array([-2 - self._flow_ids[text] for text in part.flow_ids], np.int64)",
        "2 -> 3",
    ): NAMED,
    ("reader/columns.py", "big = values < -1", "< -> <="): "no id is -1",
    (
        "reader/outliers.py",
        "first = np.flatnonzero(np.diff(times, prepend=times[0] - 2 * YEAR) > YEAR)  # of each group",
        "2 -> 3",
    ): "anything more than a year begins the first group",
    (
        "reader/outliers.py",
        "durs = [None if dur is None else np.where(own, dur, 0) for (_, dur), own in zip(spans, kept)]",
        "0 -> 1",
    ): "a nanosecond of what is left out anyway",
    (
        "reader/pieces.py",
        "_TRIED = 40  # places that look like a boundary, until one of them has to be one",
        "40 -> 41",
    ): LARGER,
    (
        "reader/pieces.py",
        "_CONFIRMED = 1 << 15  # bytes that have to read as events after a place that is only guessed",
        "1 -> 2",
    ): LARGER,
    (
        "reader/pieces.py",
        "_CONFIRMED = 1 << 15  # bytes that have to read as events after a place that is only guessed",
        "15 -> 16",
    ): LARGER,
    (
        "reader/pieces.py",
        "BEFORE = 64  #: bytes before a place that show whether an event begins there",
        "64 -> 65",
    ): LARGER,
    ("reader/pieces.py", "length = min(length * 4, LONGEST)", "4 -> 5"): LARGER,
    ("reader/pieces.py", "length = min(length * 4, LONGEST)", "min -> max"): LARGER,
    (
        "reader/pieces.py",
        "boundary = None if lost else last_boundary(chars[: stop - at + 1])",
        "1 -> 2",
    ): "no two events begin so near to each other",
    (
        "reader/pieces.py",
        "if block is None and not lost and stop - at < len(chars):",
        "< -> <=",
    ): "what ends where the text does is the same by either way",
    ("reader/pieces.py", "chars = text.read(at - before, _CONFIRMED * 2)", "2 -> 3"): LARGER,
    (
        "reader/decode.py",
        "LONGEST = 1 << 24  #: bytes of one element: real ones have some kB, a cut string may "
        "have all of the file",
        "1 -> 2",
    ): LARGER,
    (
        "reader/decode.py",
        "LONGEST = 1 << 24  #: bytes of one element: real ones have some kB, a cut string may "
        "have all of the file",
        "24 -> 25",
    ): LARGER,
    (
        "reader/decode.py",
        "if found.spans and not found.skips and found.spans[0][0] == 0:",
        "== -> !=",
    ): FASTER,
    (
        "reader/numbering.py",
        'if 20 <= len(digits) < 400 and digits.isdigit() and digits[0] != ord("0"):',
        "<= -> <",
    ): FASTER,
    (
        "reader/numbering.py",
        'if 20 <= len(digits) < 400 and digits.isdigit() and digits[0] != ord("0"):',
        "20 -> 21",
    ): FASTER,
    (
        "reader/numbering.py",
        'if 20 <= len(digits) < 400 and digits.isdigit() and digits[0] != ord("0"):',
        "< -> <=",
    ): FASTER,
    (
        "reader/numbering.py",
        'if 20 <= len(digits) < 400 and digits.isdigit() and digits[0] != ord("0"):',
        "400 -> 401",
    ): FASTER,
    (
        "reader/packing.py",
        'numbers = _whole("q", [args.get(links[0], -1) for args in all_args], 0xFFFFFFFF)',
        "1 -> 2",
    ): FASTER,
    (
        "reader/packing.py",
        "return numbers if numbers.min() >= -1 and numbers.max() < end else None",
        ">= -> >",
    ): FASTER,
    (
        "reader/text.py",
        'fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))',
        "0 -> 1",
    ): "for a system that has no such flag",
    (
        "reader/literals.py",
        'if not any(type(event["ts"]) is float for event in timed):',
        "any -> all",
    ): FASTER,
    ("reader/chunks.py", "if not 0 <= ordinal < self._events:", "< -> <="): "no block has a place for it",
    ("reader/chunks.py", "if len(self._decoded) > _CACHED:", "> -> >="): LARGER,
    (
        "reader/pairs.py",
        "ground = number * -2 * (len(thread) + 1)",
        "2 -> 3",
    ): "how far below the one before it a thread counts: further is as well",
    ("reader/reading.py", "_TAIL = 1 << 20", "1 -> 2"): LARGER,
    ("reader/reading.py", "_TAIL = 1 << 20", "20 -> 21"): LARGER,
    (
        "reader/reading.py",
        "_ENOUGH = 1 << 24  # bytes of text without an event that show that it is no trace",
        "1 -> 2",
    ): LARGER,
    (
        "reader/reading.py",
        "_ENOUGH = 1 << 24  # bytes of text without an event that show that it is no trace",
        "24 -> 25",
    ): LARGER,
    (
        "reader/reading.py",
        "_OTHERS = 100  # elements that are no events, which show that no event will follow",
        "100 -> 101",
    ): LARGER,
    (
        "reader/reading.py",
        "if self._seen() > _ENOUGH and others >= counts.events and counts.events + damaged > _OTHERS:",
        "> -> >=",
    ): LARGER,
    ("reader/reading.py", "if piece.whole >= 0:", ">= -> >"): "an event takes some bytes",
    ("reader/reading.py", "if piece.whole >= 0:", "0 -> 1"): "an event takes some bytes",
    (
        "reader/reading.py",
        "if last.ended and self._wrapped:",
        "and -> or",
    ): "behind the end of the text, or of an array without an object, are no members",
    (
        "reader/reading.py",
        "return self._builder.build(str(self._path), self._document, report, last=True)",
        "True -> False",
    ): "nothing follows that columns would grow by",
    ("reader/source.py", "length = 1 << 16", "1 -> 2"): LARGER,
    ("reader/source.py", "length = 1 << 16", "16 -> 17"): LARGER,
    ("reader/source.py", "length *= 8", "8 -> 9"): LARGER,
    ("reader/source.py", "start = text[:64].lstrip()", "64 -> 65"): LARGER,
    ("reader/source.py", 'if b"\\0" in text[:4096]:', "4096 -> 4097"): LARGER,
    (
        "reader/pool.py",
        "_IN_HAND = 2  # tasks of a worker: it goes on with the second while the answer to the "
        "first is taken",
        "2 -> 3",
    ): LARGER,
    (
        "reader/pool.py",
        "_BEYOND = 1 << 20  # bytes of inflated text after a piece: for the event that goes on there",
        "1 -> 2",
    ): LARGER,
    (
        "reader/pool.py",
        "_BEYOND = 1 << 20  # bytes of inflated text after a piece: for the event that goes on there",
        "20 -> 21",
    ): LARGER,
    (
        "reader/extract.py",
        "self._final = True  # floats are taken as they are",
        "True -> False",
    ): "it is said anew of each block",
    ("reader/extract.py", "if self._scanner is not None and self._scanned:", "and -> or"): FASTER,
    (
        "reader/extract.py",
        '"q", [id_ if type(id_) is int and 0 <= id_ < _INT64_END else number[id_] for id_ in ids]',
        "<= -> <",
    ): FASTER,
    (
        "reader/extract.py",
        '"q", [id_ if type(id_) is int and 0 <= id_ < _INT64_END else number[id_] for id_ in ids]',
        "0 -> 1",
    ): FASTER,
    (
        "reader/extract.py",
        'block[table + ".python_id"] = np.full(len(all_args), -1, np.int32)',
        "1 -> 2",
    ): UNKNOWN,
    (
        "reader/extract.py",
        'block[table + ".python_id"] = python_ids([args.get("Python id", -1) for args in all_args])',
        "1 -> 2",
    ): FASTER,
    (
        "reader/extract.py",
        "flat += [-1 if key in _NOT_A_SERIES else series[thread, text_of(name), key] for key in keys]",
        "1 -> 2",
    ): UNKNOWN,
    (
        "reader/pairs.py",
        "ground = number * -2 * (len(thread) + 1)",
        "+ -> -",
    ): "how far below the one before it a thread counts: a little less is enough",
    (
        "reader/pairs.py",
        "lowest_before = np.where(first, ground, np.append(0, lowest[:-1]))",
        "0 -> 1",
    ): "the first event of all is the first of its thread",
    (
        "reader/pairs.py",
        "return count - lowest + is_end, count < lowest_before",
        "- -> +",
    ): "what a depth is called: between a begin and its end nothing is as low as before them",
    (
        "reader/document.py",
        "wants: bool = False  #: a longer text could still hold it",
        "False -> True",
    ): "it is asked where no array was found, and said there",
    (
        "reader/processes.py",
        "_LONGEST_LINE = 1 << 12",
        "1 -> 2",
    ): "what a worker writes is shorter by far: nonsense is what goes on for ever",
    (
        "reader/processes.py",
        "_LONGEST_LINE = 1 << 12",
        "12 -> 13",
    ): "what a worker writes is shorter by far: nonsense is what goes on for ever",
    ("reader/processes.py", '"MALLOC_MMAP_THRESHOLD_": str(1 << 25),', "1 -> 2"): LARGER,
    ("reader/processes.py", '"MALLOC_TRIM_THRESHOLD_": str(1 << 28),', "1 -> 2"): LARGER,
    ("reader/processes.py", '"MALLOC_TRIM_THRESHOLD_": str(1 << 28),', "28 -> 29"): LARGER,
    ("reader/processes.py", '"MALLOC_TOP_PAD_": str(1 << 24),', "1 -> 2"): LARGER,
    ("reader/processes.py", '"MALLOC_TOP_PAD_": str(1 << 24),', "24 -> 25"): LARGER,
    ("reader/processes.py", "said = self.process.stdout.read(1 << 16)", "1 -> 2"): LARGER,
    ("reader/processes.py", "said = self.process.stdout.read(1 << 16)", "16 -> 17"): LARGER,
    (
        "reader/processes.py",
        "for _ in range(2):",
        "2 -> 3",
    ): "nothing ends a process that outlives one SIGKILL",
    ("reader/locate.py", "if seen > _MOST_ENTRIES:", "> -> >="): LARGER,
    (
        "reader/joined.py",
        "_SHIFT = 1 << 44  #: bytes of text, beyond those of any file: where in the chunks the "
        "next file's begin",
        "1 -> 2",
    ): LARGER,
    (
        "reader/joined.py",
        "_SHIFT = 1 << 44  #: bytes of text, beyond those of any file: where in the chunks the "
        "next file's begin",
        "44 -> 45",
    ): LARGER,
    ("reader/extract.py", "if not self._final and float in set(map(type, values)):", "and -> or"): FASTER,
    ("reader/damage.py", "end: int = -1  #: of the last place", "1 -> 2"): UNKNOWN,
    (
        "reader/transport.py",
        "_ALIGNED = 8  # bytes: numpy reads other places one value at a time",
        "8 -> 9",
    ): FASTER,
    ("reader/pieces.py", "count = part.scan(chars, boundary[0])", "0 -> 1"): FASTER,
    (
        "reader/pool.py",
        "self._selector.unregister(worker.process.stdout or -1)",
        "- -> +",
    ): "a worker is started with a pipe: the rest is for the checker of types",
    (
        "reader/pool.py",
        "self._selector.unregister(worker.process.stdout or -1)",
        "1 -> 2",
    ): "a worker is started with a pipe: the rest is for the checker of types",
    (
        "reader/pool.py",
        "self._selector.register(worker.process.stdout or -1, selectors.EVENT_READ, worker)",
        "1 -> 2",
    ): "a worker is started with a pipe: the rest is for the checker of types",
    ("reader/pool.py", "heard = self._selector.select(0 if more else PATIENCE)", "0 -> 1"): LARGER,
    ("reader/pieces.py", "elements = _elements(chars[: boundary[0]])", "0 -> 1"): FASTER,
    (
        "reader/pieces.py",
        "found = walk(chars[: stop + 1], final=False, wrapped=False)",
        "False -> True",
    ): "what is cut, or is after the array, is left to another way to the same pieces",
    (
        "reader/pieces.py",
        "found = walk(chars[: stop + 1], final=False, wrapped=False)",
        "1 -> 2",
    ): "what is cut, or is after the array, is left to another way to the same pieces",
    (
        "reader/pieces.py",
        "if candidate.end() > stop:",
        "> -> >=",
    ): "a candidate at the stop itself was tried before",
    (
        "reader/pieces.py",
        "for candidate in BOUNDARY.finditer(chars, max(0, stop - BEFORE)):",
        "max -> min",
    ): FASTER,
    (
        "reader/pieces.py",
        "for candidate in BOUNDARY.finditer(chars, max(0, stop - BEFORE)):",
        "0 -> 1",
    ): FASTER,
    (
        "reader/pieces.py",
        "for candidate in islice(BOUNDARY.finditer(chars, max(0, stop - BEFORE)), _TRIED):",
        "0 -> 1",
    ): "a boundary begins with the end of an event",
    (
        "reader/normalise.py",
        "return str(number) if number >= 0 else text_of(value)",
        ">= -> >",
    ): "0 was returned before",
    (
        "reader/normalise.py",
        "return str(number) if number >= 0 else text_of(value)",
        "0 -> 1",
    ): "0 was returned before",
    (
        "reader/joined.py",
        "if self._closed or place >= len(self._paths):",
        ">= -> >",
    ): "no block is told of a file after the last",
    (
        "reader/joined.py",
        "return builder.build(str(self.path), dict(self._document), report, last=True)",
        "True -> False",
    ): "nothing follows that columns would grow by",
    (
        "reader/source.py",
        "silent_s: int = 0  #: seconds for which nothing could be read, where that are some",
        "0 -> 1",
    ): "the reader says it each time",
}
