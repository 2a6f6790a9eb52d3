"""Call stacks of operators: a row a frame in the database, one text of all frames in the event table."""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int32s, Int64s
from tracetui.reader.database.assembly import Texts
from tracetui.reader.database.reading import TableReader, places_of, taken

_BETWEEN = ";\r\n"  #: as text exports join frames, the innermost first


def call_stacks(reader: TableReader, texts: Texts, chains: Int64s) -> Int32s:
    """Return the number of the text of each operator's stack; -1 for none.

    Many operators have the same stack: each different one is put together once.
    """
    rows = reader.columns("PYTORCH_CALLCHAINS", ("id", "stack", "stackDepth"))
    if not rows.count:
        return np.full(len(chains), -1, np.int32)
    order = np.lexsort((rows["stackDepth"], rows["id"]))
    id_, frame = rows["id"][order], texts.of(rows["stack"][order])
    first = np.flatnonzero(np.append(True, id_[1:] != id_[:-1]))
    size = np.diff(np.append(first, len(id_)))
    number = np.empty(len(first), np.int32)
    known: dict[bytes, int] = {}
    all_texts = texts.all()
    for place, (start, count) in enumerate(zip(first.tolist(), size.tolist())):
        own = frame[start : start + count]
        key = own.tobytes()
        found = known.get(key)
        if found is None:
            text = _BETWEEN.join(all_texts[each] for each in own.tolist() if each >= 0)
            found = known[key] = texts.number(text) if text else -1
        number[place] = found
    return taken(number, places_of(id_[first], chains), -1).astype(np.int32)
