"""The arguments of commands on many ranks."""

from __future__ import annotations

from pathlib import Path

from tracetui.cli.parser import Parser, add_reading, add_scheduler


def add_job(parser: Parser) -> None:
    """Add the ranks, and how they are read."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a directory of ranks, a trace or a digest"
    )
    parser.add_argument(
        "--only",
        metavar="GLOB",
        default="*",
        help="only ranks whose path or name matches, like 'run2/*'",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="have them digested by the workers of a Dask scheduler, like 'tcp://node00:8786', each of which "
        "sees other ranks below PATH on its own host",
    )
    add_reading(
        parser,
        "read with N processes, each a rank (default: one for each core that may be used, as far as memory "
        "allows)",
    )
    add_scheduler(parser)
