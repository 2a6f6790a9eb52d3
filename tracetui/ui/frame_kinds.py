"""Whose a frame of a stack is: the user's, a module of the model, the framework's, or another's."""

from __future__ import annotations

from enum import Enum

from tracetui.analysis.idle.frames import FrameRules, Origin
from tracetui.analysis.modules import module_of
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.stack import Frame
from tracetui.ui.branches import package_of


class FrameKind(Enum):
    """Told by colour and by the mark before the name."""

    YOURS = "your code"
    MODULE = "nn.Module"
    FRAMEWORK = "torch and the like"
    OTHER = "packages, Python, built-ins"


def frame_kind(frame: Frame, rules: FrameRules) -> FrameKind:
    """Return the kind of a frame, by the rules that choose the lines that are charged."""
    if rules.origin(frame) is Origin.USER:
        return FrameKind.YOURS
    if module_of(frame.function) is not None and not frame.file:
        return FrameKind.MODULE
    return (
        FrameKind.FRAMEWORK
        if package_of(frame, rules) in KNOWN.frames.framework_packages
        else FrameKind.OTHER
    )
