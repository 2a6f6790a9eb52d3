"""Keeping what a command printed about a large trace, and finding it again for the same question.

An answer counts for the trace and all files around it as they are, for one program, and for all that was
asked. The last answers about a trace are one entry. Nothing here ever fails.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np

from tracetui.cache.entries import ANSWERS, entry_key, keep_entry, program, read_entry
from tracetui.cache.traces import SMALLEST
from tracetui.reader.joined import stamp_of
from tracetui.reader.source import COARSEST_CLOCK
from tracetui.siblings.surroundings import surroundings

_MOST = 16  # answers about one trace
LARGEST = 4_000_000  #: bytes of all of them

_log = logging.getLogger("tracetui.cache")


class Output(NamedTuple):
    """A text that was written, and where."""

    stream: str  #: "stdout" or "stderr"
    text: str


class Question(NamedTuple):
    """A question about a trace as it is now, and as the files around it are."""

    path: str  #: of the trace, without links
    stamp: list[int]
    digest: str  #: tells the question from all others


def question_of(trace: Path, words: Mapping[str, Any], *more: Path) -> Question | None:
    """Return a question, asked in `words` (JSON), whose answer may be kept; it depends on the files in `more`
    directories, too.

    None about a small trace, and where a file was only just written: a change since would not show.
    """
    try:
        path, stamp, around = os.path.realpath(trace), stamp_of(trace), surroundings(trace, *more)
        latest = time.time_ns() - COARSEST_CLOCK
        if stamp.size < SMALLEST or stamp.modified > latest or around is None:
            return None
        if any(max(file.modified, file.changed) > latest for file in around):
            return None
        asked = json.dumps(
            [str(trace.absolute()), path, stamp, around, program(ANSWERS), words], sort_keys=True
        )
        return Question(path, list(stamp), hashlib.sha256(asked.encode()).hexdigest())
    except Exception as error:  # whatever is in the way, the command itself can still run
        _log.debug("not asked: %s: %r", trace, error)
        return None


def find_answer(question: Question) -> list[Output] | None:
    """Return what was written as the answer before; None where that is not kept."""
    try:
        return _kept_answers(question).get(question.digest)
    except Exception as error:
        _log.debug("not used: %s: %r", question.path, error)
        return None


def keep_answer(
    question: Question, outputs: Sequence[Output], should_stop: Callable[[], bool] = lambda: False
) -> bool:
    """Keep an answer for `find_answer`, and the latest of others; return whether that was done."""
    try:
        answers = {question.digest: list(outputs)}
        answers.update(
            (digest, kept) for digest, kept in _kept_answers(question).items() if digest not in answers
        )
        places, texts, size = [], [], 0
        for digest, kept in [*answers.items()][:_MOST]:
            encoded = [output.text.encode("utf-8", "surrogatepass") for output in kept]
            size += sum(map(len, encoded))
            if size > LARGEST:
                break
            texts += encoded
            places.append([digest, [[output.stream, len(text)] for output, text in zip(kept, encoded)]])
        if not places:
            return False
        arrays = {"texts": np.frombuffer(b"".join(texts), np.uint8)}
        return keep_entry(ANSWERS, _key(question), lambda: ({"answers": places}, arrays), should_stop)
    except Exception as error:  # a full or read-only disk
        _log.debug("not kept: %s: %r", question.path, error)
        return False


def _kept_answers(question: Question) -> dict[str, list[Output]]:
    """Return the answers about the trace of a question, by their digests, the last one first."""
    entry = read_entry(ANSWERS, _key(question))
    if entry is None:
        return {}
    document, text = entry[0], entry[1]["texts"].tobytes()
    answers: dict[str, list[Output]] = {}
    end = 0
    for digest, places in document["answers"]:
        outputs = []
        for stream, length in places:
            start, end = end, end + length
            if stream not in ("stdout", "stderr") or end < start or end > len(text):
                raise ValueError("misplaced answer")
            outputs.append(Output(stream, text[start:end].decode("utf-8", "surrogatepass")))
        answers[digest] = outputs
    return answers


def _key(question: Question) -> dict[str, Any]:
    return entry_key(ANSWERS, question.path, question.stamp)
