"""A note: a line of text at a place, by somebody, at some time; and the line of JSON that it is kept as."""

from __future__ import annotations

import getpass
import re
import secrets
import socket
import time
from dataclasses import dataclass
from typing import Any

import orjson

from tracetui.language import state
from tracetui.places import NotAPlace, SharedPlace, parse_place

LONGEST_NOTE = 2000  #: characters of a text
_LONGEST_NAME = 120  #: characters of who wrote it
_ID = re.compile(r"[0-9a-f]{16}", re.ASCII)
_WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


class NotANote(ValueError):  # noqa: N818 - no error of the program
    """A line holds no note; `str()` says why."""


@dataclass(frozen=True)
class Note:
    """One note. Its texts may come from elsewhere: never print them unescaped."""

    identity: str  #: tells it from all others
    place: SharedPlace
    text: str
    who: str  #: "ada@host"
    when: str  #: in UTC: "2026-11-24T15:00:00Z"


def new_note(place: SharedPlace, text: str) -> Note:
    """Return a note of this user, written now. Raises NotANote where there is no text, or too much."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        user = "somebody"
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    who = _encodable(f"{user}@{socket.gethostname()}")[:_LONGEST_NAME]
    return Note(secrets.token_hex(8), place, _checked(_encodable(" ".join(text.split()))), who, when)


def format_note(note: Note) -> bytes:
    """Return a note as a line of JSON."""
    fields = {"id": note.identity, "at": str(note.place), "text": note.text}
    return orjson.dumps({**fields, "who": note.who, "when": note.when}) + b"\n"


def parse_note(line: bytes) -> Note:
    """Return the note of a line of JSON. Raises NotANote."""
    try:
        fields: Any = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise NotANote("a line is no JSON") from None
    if not isinstance(fields, dict):
        raise NotANote("a line is no object")
    texts = [fields.get(key) for key in ("id", "at", "text", "who", "when")]
    if not all(isinstance(text, str) for text in texts):
        raise NotANote("a note has id, at, text, who and when")
    identity, at, text, who, when = map(str, texts)
    if not (_ID.fullmatch(identity) and _WHEN.fullmatch(when) and len(who) <= _LONGEST_NAME):
        raise NotANote("an id, a name or a time is not one of a note")
    try:
        return Note(identity, parse_place(at), _checked(text), who, when)
    except NotAPlace as error:
        raise NotANote(str(error)) from None


def _encodable(text: str) -> str:
    """Return a text without the bytes that no encoding knows, as arguments may hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _checked(text: str) -> str:
    if not text.strip():
        raise NotANote(state("a note has a text"))
    if len(text) > LONGEST_NOTE:
        raise NotANote(state("a note has at most {count} characters", count=f"{LONGEST_NOTE:,}"))
    return text
