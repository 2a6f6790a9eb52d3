"""Write a sample of MindSpore: python -m simulator.mindspore --kind graph --out DIRECTORY"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from simulator.mindspore.graph import GraphProfile
from simulator.mindspore.pynative import PyNativeTrace


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m simulator.mindspore", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--kind", choices=("graph", "pynative"), default="graph", help="which mode")
    parser.add_argument("--out", type=Path, required=True, help="the directory to write into")
    parser.add_argument("--slices", type=int, default=0, help="of graph mode: slices, not iterations")
    parser.add_argument("--seed", type=int, default=1, help="seed of the variation (default 1)")
    options = parser.parse_args(arguments)
    if options.kind == "graph":
        print(GraphProfile(seed=options.seed).write(options.out, options.slices))
    else:
        print(PyNativeTrace(seed=options.seed).write(options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
