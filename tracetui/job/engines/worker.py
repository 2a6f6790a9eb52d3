"""A process that makes digests: a request a line on stdin, answers on stdout. Run by the pool."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.job.cached_digest import digest_or_reason
from tracetui.reader.source import Progress


def main() -> int:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl+c is for the pool, which ends its workers
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer

    def answer(document: dict[str, Any], data: bytes = b"") -> None:
        answers.write(json.dumps(document).encode("ascii") + b"\n" + data)
        answers.flush()

    def progress(read: Progress) -> None:
        answer({"done": read.done_bytes})

    for line in sys.stdin:
        path, cache, recording, offset_ns = json.loads(line)
        scheduler = SchedulerSource(None if recording is None else Path(recording), offset_ns)
        try:
            result = digest_or_reason(Path(path), progress, cache, jobs=1, scheduler=scheduler)
        except Exception as error:
            result = f"unexpected {type(error).__name__}: {error}"
        if isinstance(result, bytes):
            answer({"bytes": len(result)}, result)
        else:
            answer({"error": result})
    return 0


if __name__ == "__main__":
    sys.exit(main())
