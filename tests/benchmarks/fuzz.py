"""Damage what tracetui reads and look what it makes of it: python -m tests.benchmarks.fuzz [--what files]

`scanner`: events through the scanner in C, which has to give what decoding gives; .ci/run does this with a
scanner compiled with sanitizers, which end the program where memory is misused. `leaves`: pages of databases
through C in the same way, which has to read what SQLite reads. `lines`: of recordings of the scheduler,
which C has to read as each is read alone. `files`, `databases`, `siblings`, `digests`, `snapshots`: damaged
ones through the commands, each in a process of its own, which has to end in time, within its memory, with a
documented status and without a traceback.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.fuzzing import leaves, scanner, scheduler_lines
from tests.benchmarks.fuzzing.commands import SUBJECTS, fuzz_commands

IN_C = {
    "scanner": scanner.fuzz_scanner,
    "leaves": leaves.fuzz_leaves,
    "lines": scheduler_lines.fuzz_scheduler_lines,
}
KINDS = (*IN_C, *SUBJECTS, "all")


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.benchmarks.fuzz", description=__doc__.partition(":")[0])
    parser.add_argument("--what", choices=KINDS, default="scanner", help="all: what commands read, in turn")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep inputs that fail here")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    chooser = random.Random(asked.seed)
    if asked.what in IN_C:
        IN_C[asked.what](chooser, asked.seconds)
        return
    names = tuple(SUBJECTS) if asked.what == "all" else (asked.what,)
    keep = asked.keep or Path(tempfile.mkdtemp(prefix="fuzz-kept-"))
    sys.exit(fuzz_commands(names, chooser, asked.seconds, keep))


if __name__ == "__main__":
    main()
