"""Makes what a release consists of: wheels for two kinds of machine, one for any, and the sdist.

python -m tools.wheels [DIR]     needs pip install -e '.[release]', and a Python that has its headers

The scanner is compiled by Zig's C compiler, which makes modules for other machines and for an older libc than
the one here: any Linux makes wheels for x86_64 and aarch64 that run on any since glibc 2.17. They are checked
to need nothing else (auditwheel), and no more of Python than what 3.9 and later have in common (abi3audit).
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MACHINES = ("x86_64", "aarch64")
GLIBC = (2, 17)  #: of CentOS 7: the oldest that numpy's and orjson's wheels run on
_SCANNER = ROOT / "tracetui" / "compiled.py"


def main() -> None:
    parser = argparse.ArgumentParser("python -m tools.wheels", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, default=Path("dist"), metavar="DIR")
    directory: Path = parser.parse_args().directory
    wheels = make(directory)
    check(wheels)
    for path in sorted(directory.iterdir()):
        print(f"{path.stat().st_size:>9,}  {path}")


def make(directory: Path) -> list[Path]:
    """Make everything; returns the wheels that hold the scanner."""
    wheels: list[Path] = []
    with tempfile.TemporaryDirectory(prefix="tracetui-") as temporary:
        for machine in MACHINES:
            module = compile_scanner(machine, Path(temporary, machine))
            platform = platform_tag(machine)
            _build("wheel", directory, {"TRACETUI_SCANNER": str(module), "TRACETUI_PLATFORM": platform})
            wheels += directory.glob(f"*-{platform}.whl")
    _build("wheel", directory, {"HATCH_BUILD_NO_HOOKS": "1"})
    _build("sdist", directory, {})
    return wheels


def platform_tag(machine: str) -> str:
    """Return the platform of the oldest supported glibc: `manylinux_2_17_aarch64`."""
    return f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"


def compile_scanner(machine: str, directory: Path) -> Path:
    """Compile the scanner for a kind of machine into a new directory; returns the module."""
    directory.mkdir()
    how = runpy.run_path(str(_SCANNER))
    module: Path = directory / f"{how['MODULE']}.abi3.so"
    macro, stamp = how["stamp"]()
    compiler = [sys.executable, "-m", "ziglang", "cc"]
    target = ["-target", f"{machine}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"]
    flags = [*how["FLAGS"], "-fPIC", "-shared", "-s", f"-D{macro}={stamp}"]
    headers = [f"-I{path}" for path in _headers(machine, directory)]
    _run([*compiler, *target, *flags, *headers, str(how["MAIN"]), "-o", str(module)])
    return module


def _headers(machine: str, directory: Path) -> Iterable[Path]:
    """Python's headers. What they say of sizes holds for both machines, but Debian keeps it by machine."""
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        sys.exit(f"{include} has no Python.h: the headers of this Python are not installed")
    yield include
    machine_config = include.parent / f"{os.uname().machine}-linux-gnu" / include.name / "pyconfig.h"
    if machine_config.is_file():
        there = directory / "include" / f"{machine}-linux-gnu" / include.name
        there.mkdir(parents=True)
        shutil.copy(machine_config, there)
        yield directory / "include"


def _build(kind: str, directory: Path, environ: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "-o", str(directory), str(ROOT)]
    _run(command, {**os.environ, **environ})


def check(wheels: Iterable[Path]) -> None:
    """End with a sentence where a wheel needs more than its name says."""
    for wheel in wheels:
        platform = wheel.stem.rpartition("-")[2]
        shown = _run([sys.executable, "-m", "auditwheel", "show", str(wheel)])
        if f'platform tag: "{platform}"' not in " ".join(shown.split()):
            sys.exit(f"{wheel.name} does not run on all of {platform}: {shown}")
        _run([sys.executable, "-m", "abi3audit", "--strict", str(wheel)])


def _run(command: list[str], environ: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main()
