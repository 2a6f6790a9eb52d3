"""Compiles the scanner of events where there is a C compiler; hatchling runs this when it makes a wheel.

Without one the wheel is the same for all machines, and the reader decodes all events with orjson.
HATCH_BUILD_NO_HOOKS=1 makes such a wheel anywhere.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MODULE = "tracetui.reader.native.scan"


class CompileScanner(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Adds the compiled module to a wheel, or to the folder of the sources for an editable one."""

    PLUGIN_NAME = "compile-scanner"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the wheel after this kind of machine."""
        if self.target_name != "wheel":
            return
        try:
            module = _compiled(Path(self.root))
        except Exception as error:  # there are many ways, and none keeps tracetui from running
            self.app.display_warning(f"not compiled, so traces take longer to open: {error}")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp39-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(f"/{module}")


def _compiled(root: Path) -> Path:
    """The compiled module, relative to the root; raises where there is no compiler, or it fails."""
    # Here, since a build that is not isolated may lack it: that is no worse than to lack a compiler.
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    path = Path(*_MODULE.split("."))
    folder = root / path.parent
    extension = Extension(
        _MODULE,
        sources=[str(root / path.with_suffix(".c"))],
        depends=[str(header) for header in folder.glob("*.h")],
        extra_compile_args=["-O3", "-std=c11"],
        py_limited_api=True,
    )
    command = build_ext(Distribution({"name": "tracetui", "ext_modules": [extension]}))
    command.build_lib = str(root)
    command.build_temp = str(root / "build")
    command.ensure_finalized()
    command.run()
    return path.with_name(Path(command.get_ext_filename(_MODULE)).name)
