"""Finding a name by some of its letters, as in a command palette."""

from __future__ import annotations

from collections.abc import Sequence


def matches(query: str, names: Sequence[str]) -> list[int]:
    """Return places of the names that match, best first, equal ones in their order; all for an empty query.

    Every word of the query has to be in the name, in any order: best at the start of a word of it, else
    anywhere, else as letters in this order.
    """
    words = query.casefold().split()
    ranked = []
    for place, name in enumerate(names):
        rank = _rank(words, name.casefold())
        if rank is not None:
            ranked.append((rank, place))
    return [place for _, place in sorted(ranked)]


def _rank(words: Sequence[str], name: str) -> int | None:
    """Return how badly a name matches; None: not at all."""
    total = 0
    for word in words:
        at = name.find(word)
        if at < 0:
            if not _in_order(word, name):
                return None
            total += 10
        elif not any(_starts_word(name, place) for place in _occurrences(word, name)):
            total += 1
    return total


def _occurrences(word: str, name: str) -> list[int]:
    return [place for place in range(len(name) - len(word) + 1) if name.startswith(word, place)]


def _starts_word(name: str, place: int) -> bool:
    return place == 0 or not name[place - 1].isalnum()


def _in_order(letters: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)
