"""What the parts of the viewer tell each other of a job. They do not bubble, or would come back."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from tracetui.job.engines.digest_pool import DigestProgress
from tracetui.job.job import Job

ONLY_DIGEST = "Only the digest of this rank is here: its trace is elsewhere."


@dataclass
class JobProgress(Message, bubble=False):
    """So many ranks are digested: from the thread that does it."""

    progress: DigestProgress


@dataclass
class JobGrew(Message, bubble=False):
    """The job of the ranks that are digested so far: from the thread."""

    job: Job


@dataclass
class JobRead(Message, bubble=False):
    """All ranks are digested, or as many as will be: from the thread."""

    job: Job


@dataclass
class JobFailed(Message, bubble=False):
    """No rank can be read, or no two are of one job: from the thread."""

    sentence: str
    separate_runs: bool = False  #: no two of the ranks are of one job


class JobChanged(Message, bubble=False):
    """More ranks are digested, or are being: from the app to its screens."""
