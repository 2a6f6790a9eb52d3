"""One key after the other: what a key opens takes the next one, also where both came in one packet.

Knows Textual's messages; not what keys do. Textual hands each key at once to what has the focus, so of keys
that come together, as at the end of a slow link or pasted, all but the first would go to the wrong screen.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Union

from textual import events
from textual.app import App, ReturnType
from textual.dom import DOMNode
from textual.message import Message

#: how often a message goes round after a key: the key's own, and the one it posts to its widget; and at most
ROUNDS, MOST_ROUNDS = 2, 8
#: after that the next key goes on, should a message have been lost with a widget
LOST_S = 0.5
#: keys that wait at most: of a flood, as of a file that is pasted, the last ones count, so that q ends it
MOST_WAITING = 256

Input = Union[events.Key, events.Paste]


class KeyByKeyApp(App[ReturnType]):
    """An app that handles one key after the other. Keys of `URGENT` go first and drop those that wait."""

    URGENT = frozenset({"ctrl+c"})

    class Passed(Message):
        """Has bubbled up after a key from what had the focus; all that the key sent is before it."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, *, ansi_color: bool) -> None:
        super().__init__(ansi_color=ansi_color)
        self._waiting: deque[Input] = deque(maxlen=MOST_WAITING)
        self._round = 0  # number of the message under way; 0 where no key is
        self._rounds = 0  # how many were sent after this key
        self._sent_to: DOMNode | None = None
        self._number = 0
        self._lost: asyncio.TimerHandle | None = None

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await super().on_event(event)
        elif isinstance(event, events.Key) and event.key in self.URGENT:
            self._waiting.clear()
            await super().on_event(event)
        elif self._round:
            self._waiting.append(event)
        else:
            await self._hand_on(event)

    async def _hand_on(self, event: Input) -> None:
        self._rounds = 0
        target = self._target
        await super().on_event(event)
        self._follow(target)

    @property
    def _target(self) -> DOMNode:
        """What keys go to now."""
        return self.focused or self.screen

    def _follow(self, target: DOMNode) -> None:
        """Send a message after what the target has got."""
        self._number += 1
        self._round, self._sent_to = self._number, target
        self._rounds += 1
        if self._lost is not None:
            self._lost.cancel()
        self._lost = asyncio.get_running_loop().call_later(LOST_S, self._give_up, self._round)
        target.post_message(self.Passed(self._round))

    def _give_up(self, number: int) -> None:
        self.post_message(self.Passed(number))

    async def on_key_by_key_app_passed(self, message: Passed) -> None:
        """Go round again for what the key has posted, or where it has changed what is in front."""
        message.stop()
        if message.number != self._round:
            return
        target = self._target
        if self._rounds < ROUNDS or (target is not self._sent_to and self._rounds < MOST_ROUNDS):
            self._follow(target)
            return
        self._round = 0
        if self._lost is not None:
            self._lost.cancel()
        if self._waiting:
            await self._hand_on(self._waiting.popleft())
