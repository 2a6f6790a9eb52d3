"""Take the README's pictures from the real app on the sample: `python -m screenshots.make`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tracetui.reader.source import TraceFile
from tracetui.ui.app import TraceApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.session import Session

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parent / "samples" / "moba" / "trace_view.json"
SIZE = (120, 36)

#: picture -> the keys that lead to it
PICTURES = {
    "timeline": ("b", "x"),
    "gaps": ("b", "x", "G"),
    "hotspots": ("H",),
    "flame": ("F",),
    "heatmap": ("M",),
}


async def take(name: str, keys: tuple[str, ...]) -> None:
    """Open the sample, press the keys, and write screenshots/<name>.svg."""
    with TraceFile(SAMPLE) as trace_file:
        options = ViewerOptions(palette="true")
        app = TraceApp([Session(SAMPLE, options, trace_file)], options)
        app.title = "tracetui samples/moba/trace_view.json"
        async with app.run_test(size=SIZE) as pilot:
            while app.session.analysis is None:
                await pilot.pause(0.05)
            for key in keys:
                await pilot.press(key)
                await pilot.pause(0.3)
            # Sources and args are read in threads.
            await pilot.pause(1)
            app.save_screenshot(f"{name}.svg", path=str(HERE))


def main() -> None:
    for name, keys in PICTURES.items():
        asyncio.run(take(name, keys))


if __name__ == "__main__":
    main()
