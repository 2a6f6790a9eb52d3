"""Which recording of the scheduler is asked for. Imports nothing else: the viewer says it before it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class SchedulerSource:
    """Which recording goes with a trace, and how its clock stands."""

    #: or a directory, of which that of a rank is taken; None: what lies beside the trace
    path: Path | None = None
    offset_ns: int | None = None  #: as given

    def of_rank(self, trace: Path, rank: int | None = None, host: str = "") -> SchedulerSource:
        """Return the source for the trace of a rank; `rank` and `host` as for `recording_in`.

        Where they are None and "", what lies beside the trace tells them.
        """
        if self.path is None or not self.path.is_dir():
            return self
        from tracetui.siblings.names import parse_name, rank_directory
        from tracetui.siblings.rank_files import rank_info
        from tracetui.siblings.scheduler.files import recording_in

        directory = rank_directory(trace)
        rank = rank_info(trace).rank if rank is None else rank
        host = host or ("" if directory is None else parse_name(directory.name).host)
        return replace(self, path=recording_in(self.path, trace, rank, host) or self.path)
