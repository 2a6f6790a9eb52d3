"""When the next frame may be sent: never more under way than a slow link carries in a fraction of a second.

Knows sizes and moments, no terminal. What is written while the link is busy would only be shown later; a
frame that waits shows the state as it is once there is room.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

#: bytes that a terminal which answers may have before it: two dense frames, 0.1 s of 4 Mbit/s
WINDOW = 40_000
#: bytes after which the terminal is asked whether it has come so far
ASK_AFTER = 4_000
#: an answer that took longer is lost
LOST_S = 2.0
#: what a remote terminal that does not answer is taken to carry: 4 Mbit/s; and how far ahead it may be sent
RATE, AHEAD_S = 500_000, 0.05


class FramePace:
    """Frames sent and not yet shown, as far as one can know.

    A local terminal takes what it shows: there, only what is not written yet counts. Behind a remote one lie
    buffers of unknown size, so it is asked for answers, and where it gives none a slow link is assumed.
    """

    def __init__(self, remote: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._remote = remote
        self._clock = clock
        self._answers = False
        self._asked: deque[tuple[float, int]] = (
            deque()
        )  # moment, bytes up to the question since the one before
        self._unasked = 0  # bytes since the last question
        self._free_at = 0.0  # when the assumed link will have carried all

    def wait_s(self, is_writing: bool) -> float | None:
        """Return seconds until a frame may be sent; None: when nothing is being written any more."""
        if is_writing:
            return None
        if not self._remote:
            return 0.0
        now = self._clock()
        if not self._answers:
            return max(self._free_at - now - AHEAD_S, 0.0)
        if self._asked and now - self._asked[0][0] >= LOST_S:
            self._asked.clear()
        under_way = sum(size for _, size in self._asked)
        return self._asked[0][0] + LOST_S - now if under_way >= WINDOW else 0.0

    def sent(self, size: int) -> bool:
        """Count a frame of so many bytes as sent; return whether to ask the terminal after it."""
        now = self._clock()
        self._free_at = max(self._free_at, now) + size / RATE
        self._unasked += size
        if not (self._remote and self._answers) or self._unasked < ASK_AFTER:
            return False
        self._asked.append((now, self._unasked))
        self._unasked = 0
        return True

    def answered(self) -> None:
        """Take note that the terminal has come to a question."""
        self._answers = True
        if self._asked:
            self._asked.popleft()
