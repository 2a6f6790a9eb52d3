"""The terminal's driver, which tells whether the device has taken all that was written.

Knows Textual's driver, whose thread writes: on a slow link a write waits until there is room.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, cast

from textual.drivers.linux_driver import LinuxDriver

from tracetui.ui._textual import app_of, loop_of, wrap_output

if TYPE_CHECKING:
    from tracetui.ui.sending.link import LinkApp


class LinkDriver(LinuxDriver):
    """Calls `link_is_free` of its app whenever nothing is left to write."""

    def __init__(self, app: LinkApp[Any], **options: Any) -> None:
        super().__init__(app, **options)
        wrap_output(self, lambda file: _Device(file, self._written))
        self._given = self._taken = 0

    @property
    def is_writing(self) -> bool:
        """Whether something that was given has not been taken by the device."""
        return self._taken < self._given

    def write(self, data: str) -> None:
        self._given += 1
        super().write(data)

    def _written(self, writes: int) -> None:
        """In the thread that writes: so many writes have been taken."""
        self._taken = writes
        if not self.is_writing:
            loop_of(self).call_soon_threadsafe(cast("LinkApp[Any]", app_of(self)).link_is_free)


class _Device:
    """A file that counts what it has taken."""

    def __init__(self, file: IO[str], written: Callable[[int], None]) -> None:
        self._file, self._written, self._writes = file, written, 0

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, text: str) -> int:
        self._writes += 1
        return self._file.write(text)

    def flush(self) -> None:
        self._file.flush()
        self._written(self._writes)
