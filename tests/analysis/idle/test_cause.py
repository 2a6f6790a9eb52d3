"""The table of causes is complete: what one cause has, each has, and nothing tells two of them alike."""

from __future__ import annotations

import numpy as np
import pytest

from tracetui.analysis.idle.cause import FAMILIES, Cause, of_families


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.label)
def test_a_cause_has_everything_that_is_said_of_one(cause: Cause) -> None:
    facts = cause.facts
    assert len(facts.letter) == 1 and facts.letter.isascii()
    assert facts.letter.isupper() == (cause.family == "host"), "capitals are the host's"
    assert 0 < len(facts.name.split()) <= 2
    assert facts.brief and not facts.brief.endswith(".")
    assert facts.meaning.endswith(".")
    assert facts.rule and "|" not in facts.rule + facts.remedy, "cells of a Markdown table"
    assert facts.doing or cause is Cause.UNLINKED
    assert ("{}" in facts.doing) == bool(facts.doing_unknown)


def test_no_two_causes_look_or_read_alike() -> None:
    for attribute in ("label", "letter", "name", "brief", "meaning", "rule"):
        assert len({getattr(cause.facts, attribute) for cause in Cause}) == len(Cause), attribute


def test_the_numbers_are_those_of_the_rows() -> None:
    assert [int(cause) for cause in Cause] == list(range(len(Cause)))
    assert Cause(np.int8(0)) is Cause.GC
    assert len(Cause) <= np.iinfo(np.int8).max


def test_families_follow_the_way_of_a_task() -> None:
    assert FAMILIES == ("host", "queue", "launch", "device", "unlinked")
    assert [cause.family for cause in Cause] == sorted(
        (cause.family for cause in Cause), key=FAMILIES.index
    ), "causes of a family stand together"
    assert of_families(*FAMILIES) == tuple(Cause)
    assert of_families("queue", "launch") == (
        Cause.QUEUE_BUSY,
        Cause.QUEUE_WAKEUP,
        Cause.LAUNCH_COMPILE,
        Cause.LAUNCH_DISPATCH,
    )
