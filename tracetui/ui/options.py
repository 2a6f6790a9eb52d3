"""What the command line asks of the viewer. Imports no Textual: the command line starts fast."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.places import SharedPlace
from tracetui.units import Window

if TYPE_CHECKING:
    from tracetui.analysis.idle.frames import FrameRules
    from tracetui.analysis.scheduler.source import SchedulerSource


@dataclass(frozen=True)
class ViewerOptions:
    """How to open the viewer."""

    palette: str = "ansi"  #: or "256", "true", "none"
    ascii: bool = False  #: draw with ASCII only
    mouse: bool = True
    sources: tuple[Path, ...] = ()  #: roots under which source files of the training host may be found
    step: int | None = None  #: open at this step
    window: Window | None = None  #: open at this window
    place: SharedPlace | None = None  #: open at this place
    all_steps: bool = False  #: means and comparisons are of all steps, also of those not to be believed
    paths: tuple[str, ...] = ()  #: what the command line opens, as it says it
    separate_runs: bool = False  #: the traces are of different runs: people choose one
    rules: FrameRules | None = None  #: which frame of a stack is the user's own; None: the usual ones
    scheduler: SchedulerSource | None = None  #: what the operating system did meanwhile; None: what is beside
    cache: bool = True  #: keep what is read, and use what was kept
    jobs: int | None = None  #: processes that decode at once; None: as many as are of use
    light: bool = False  #: the background of the terminal is light
    typed: bytes = b""  #: keys that were typed while the terminal was asked for its background

    @property
    def is_place_asked(self) -> bool:
        """Whether the command line says where to look."""
        return any(part is not None for part in (self.step, self.window, self.place))
