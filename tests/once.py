"""What is made for several tests, made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import signature
from typing import Any, TypeVar, cast

Made = TypeVar("Made", bound=Callable[..., Any])


def once(make: Made) -> Made:
    """Make the same once, however a call spells its arguments, and whether it leaves out those usual.

    To `functools.cache` an argument that is left out and one given as its default are two calls.
    """
    usual, made = signature(make), cache(make)

    @wraps(make)
    def known(*arguments: Any, **named: Any) -> Any:
        given = usual.bind(*arguments, **named)
        given.apply_defaults()
        return made(*given.args, **given.kwargs)

    return cast(Made, known)
