FINGERPRINT: str  #: of the sources that it is compiled from, see `tracetui.reader.fingerprint`

#: By "table.column", as `extract.PartReader` names them: (numpy dtype, what it counts), see `columns.h`.
COLUMNS: dict[str, tuple[str, str]]

class Scanner:
    """Scans blocks of events, and keeps their columns until they are taken; for one thread at a time."""

    def __new__(cls, seed: int, factor: int, /) -> Scanner:
        """`seed`, `factor`: secret 64 bits each, for the hashes of what is numbered."""

    def scan(self, text: bytes, length: int, /) -> int:
        """Add the events in the first `length` bytes of `text`, separated by commas; other threads may run.

        Returns how many; 0 where one of them is not as it should be, and nothing was added. Raises ValueError
        where the text is shorter than that, RuntimeError where another thread is scanning.
        """

    def take(self) -> tuple[dict[str, bytes], dict[str, list[list[bytes]]]]:
        """Return what was added since the last time: (columns, what was numbered for the first time).

        For each of "shapes", "samples", "texts" and "flow_ids" there are lists of JSON values; their numbers
        go on from one time to the next.
        """

def read_leaves(
    file: int, page: int, usable: int, leaves: bytes, wanted: bytes, /
) -> tuple[int, int, int, list[bytearray]] | None:
    """Read the rows of leaves of a table of SQLite; other threads may run.

    Returns how many, the rowids of the first and the last, and 8 bytes a row of each wanted column; None
    where something is unusual. Raises ValueError where pages or columns can't be so, MemoryError.

    Args:
        file: descriptor.
        page: bytes of a page.
        usable: how many of them hold cells.
        leaves: int64 numbers of pages, from 1 on.
        wanted: int32 pairs, by their first: the place of a column, and 0 for int64, 1 for float64, or 2 for
            int64 of a column that is another name of the rowid.
    """

def scan_scheduler(text: bytes, /) -> list[bytearray]:
    """Read the lines of a recording of the scheduler; other threads may run. Raises ValueError beyond 2 GB.

    Returns, a row for each line: int64 time, int16 cpu, int8 kind (-1 where the line is left to others, -2
    where it says nothing), int32 pid, int32 other, int8 state, int16 target, as SchedulerColumns has them;
    and int32 place of the line in the text. Then a row for each name that is new or changes: int32 row, int32
    pid and 16 bytes; and one for each process of a thread that is: int32 thread and int32 process.
    """

def searchsorted(
    ordered: int, count: int, wanted: int, wanted_count: int, places: int, after: bool, /
) -> None:
    """Fill in the place of each wanted number as `numpy.searchsorted` does; other threads may run.

    Args:
        ordered: address of int64 numbers, sorted.
        count: how many these are.
        wanted: address of int64 numbers.
        wanted_count: how many these are.
        places: address of as many int64, which are written.
        after: look from the right: a place is after all that are equal.
    """
