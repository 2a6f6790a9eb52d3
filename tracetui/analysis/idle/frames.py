"""Which frame of a stack is the user's own: the line to show beside a gap.

A frame belongs to the standard library, to a framework (torch, torch_npu, mindspore), to a library that is
installed (site-packages), or to the user. Paths may be cut to what follows an entry of sys.path, so that
`threading.py` and `torch/nn/modules/module.py` are told by their first part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np

from tracetui.arrays import Int64s
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.stack import Frame


class Origin(IntEnum):
    """Whose code a frame is, nearest to the user last."""

    NO_FILE = 0  #: built-in functions and modules
    GENERATED = 1  #: <string>, <frozen importlib._bootstrap>, what torch.compile wrote
    LIBRARY = 2  #: the standard library and frameworks
    INSTALLED = 3  #: other packages in site-packages
    USER = 4


#: Modules of the standard library that stacks go through, at the start of a cut path. Names that a user's
#: script is likely to have (profile, code, trace) are left out.
_STANDARD_MODULE = re.compile(
    r"(?:"
    r"_collections_abc|_weakrefset|abc|argparse|ast|asyncio|base64|bdb|bisect|cProfile|codecs|collections"
    r"|concurrent|configparser|contextlib|copy|copyreg|csv|ctypes|dataclasses|datetime|decimal|encodings"
    r"|enum|fnmatch|fractions|functools|genericpath|glob|gzip|hashlib|heapq|hmac|http|importlib|inspect|io"
    r"|json|keyword|linecache|locale|logging|lzma|multiprocessing|ntpath|opcode|operator|os|pathlib|pdb"
    r"|pickle|pkgutil|posixpath|pprint|pstats|queue|random|re|reprlib|runpy|sched|selectors|shlex|shutil"
    r"|socket|socketserver|sqlite3|sre_compile|sre_parse|ssl|struct|subprocess|sysconfig|tarfile|tempfile"
    r"|textwrap|threading|timeit|tokenize|traceback|tracemalloc|types|typing|unittest|urllib|uuid|warnings"
    r"|weakref|xml|zipfile|zipimport"
    r")(?:\.py$|/)"
)

_GENERATED = compile_any(KNOWN.frames.generated_files)
_INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/(?P<package>[^/]+)")
_STANDARD = re.compile(r"(?:^|/)lib(?:64)?/python\d+(?:\.\d+)?/", re.IGNORECASE)


@dataclass(frozen=True)
class FrameRules:
    """How frames are judged; prefixes are of paths as the trace writes them."""

    user: tuple[str, ...] = ()  #: what starts with one of these is the user's, wherever it lies
    skip: tuple[str, ...] = ()  #: what starts with one of these is never the user's: judged as LIBRARY

    def origin(self, frame: Frame) -> Origin:
        """Return whose code the frame is."""
        path = frame.file.replace("\\", "/")
        if path and not path.startswith("<"):
            if self.user and frame.file.startswith(self.user):
                return Origin.USER
            if self.skip and frame.file.startswith(self.skip):
                return Origin.LIBRARY
        return _origin(path)

    def line_of(self, stack: tuple[Frame, ...]) -> Frame | None:
        """Return the frame to charge, of a stack leaf first: the first of the user.

        A stack without one is not dropped: the first frame of an installed package counts, else of a library
        or framework, and so on. None only for an empty stack.
        """
        return max(stack, key=self.origin) if stack else None

    def lines_of(self, stacks: Iterable[tuple[Frame, ...]]) -> tuple[tuple[Frame, ...], Int64s]:
        """Return the distinct lines of stacks, and the place of each stack's among them; -1 for none."""
        charged = [self.line_of(stack) for stack in stacks]
        lines = tuple(dict.fromkeys(line for line in charged if line is not None))
        number = {line: place for place, line in enumerate(lines)}
        return lines, np.array([-1 if line is None else number[line] for line in charged], np.int64)


@lru_cache(maxsize=1 << 14)
def _origin(path: str) -> Origin:
    """Return whose code a file is that no rule names; `/` separates the parts of its path."""
    if not path:
        return Origin.NO_FILE
    if path.startswith("<") or _GENERATED.match(path):
        return Origin.GENERATED
    installed = _INSTALLED.search(path)
    first = installed["package"] if installed else path.split("/", 1)[0]
    if first in KNOWN.frames.framework_packages:
        return Origin.LIBRARY
    if installed:
        return Origin.INSTALLED
    standard = _STANDARD.search(path) or _STANDARD_MODULE.match(path)
    return Origin.LIBRARY if standard else Origin.USER
