"""The option that writes the snapshots of the screens anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-snapshots",
        action="store_true",
        help="write what the screens look like now to tests/ui/snapshots: python -m pytest tests/ui"
        " --update-snapshots, then look at the difference",
    )
