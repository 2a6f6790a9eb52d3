"""Compiles the scanner of events where there is a C compiler; hatchling runs this when it makes a wheel.

Without one the wheel is the same for all machines, and the reader decodes all events with orjson.
HATCH_BUILD_NO_HOOKS=1 makes such a wheel anywhere. TRACETUI_SCANNER is the path of a module that was compiled
already, for the machines that TRACETUI_PLATFORM names.
"""

from __future__ import annotations

import os
import runpy
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SCANNER = Path("tracetui", "compiled.py")


class CompileScanner(BuildHookInterface):  # type: ignore[misc,type-arg]
    """Adds the compiled module to a wheel, beside the package."""

    PLUGIN_NAME = "compile-scanner"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the wheel after this kind of machine."""
        if self.target_name != "wheel":
            return
        self._built = tempfile.TemporaryDirectory(prefix="tracetui-")
        given, platform = os.environ.get("TRACETUI_SCANNER"), os.environ.get("TRACETUI_PLATFORM")
        try:
            module = Path(given) if given else _compiled(Path(self.root) / _SCANNER, Path(self._built.name))
        except Exception as error:  # there are many ways, and none keeps tracetui from running
            self.app.display_warning(f"not compiled, so traces take longer to open: {error}")
            return
        platform = platform or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp39-abi3-{platform}"
        build_data["force_include"][str(module)] = module.name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what is in the wheel now."""
        if self.target_name == "wheel":
            self._built.cleanup()


def _compiled(scanner: Path, target: Path) -> Path:
    """Compile the module into `target`; raises where there is no compiler, or it fails."""
    # Here, since a build that is not isolated may lack it: that is no worse than to lack a compiler.
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    how = runpy.run_path(str(scanner))
    extension = Extension(
        how["MODULE"],
        sources=[str(how["MAIN"])],
        define_macros=[how["stamp"]()],
        extra_compile_args=[*how["FLAGS"]],
        py_limited_api=True,
    )
    command = build_ext(Distribution({"name": "tracetui", "ext_modules": [extension]}))
    command.build_lib = str(target)
    command.build_temp = str(target / "objects")
    command.ensure_finalized()
    command.run()
    return target / command.get_ext_filename(how["MODULE"])
