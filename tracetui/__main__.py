"""`python -m tracetui`."""

from __future__ import annotations

from tracetui.cli import run

if __name__ == "__main__":
    run()
