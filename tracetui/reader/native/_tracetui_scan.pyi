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
