"""The pages of a report as a browser shows them: headless, all kinds at two widths at once."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.job import planted
from tracetui.api import load
from tracetui.export.page.comparison import comparison_sections
from tracetui.export.page.html import page
from tracetui.export.page.job import job_page_sections
from tracetui.export.page.trace import trace_sections
from tracetui.job.compare_jobs import compare_jobs

PAPER = 1030  #: px across A4 on its side, within its margins
#: Measures pages in frames of several widths, and writes what it finds into its own title.
MEASURE = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const found = {};
for (const [name, width, text] of PAGES) {
  const frame = document.createElement("iframe");
  frame.style = `width: ${width}px; height: 900px; border: 0`;
  frame.srcdoc = text;
  frame.onload = () => {
    const root = frame.contentDocument.documentElement;
    const style = (e) => frame.contentWindow.getComputedStyle(e);
    const box = (e) => e.getBoundingClientRect();
    const words = [...root.querySelectorAll("body *")].filter(
      (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    found[name] = {
      wider: root.scrollWidth - root.clientWidth,
      smallest: Math.min(...words.map((e) => parseFloat(style(e).fontSize))),
      pictures: [...root.querySelectorAll("svg")].map(box).map((area) => [area.width, area.height]),
      outside: words.filter((e) => !e.closest(".wide, pre") && box(e).right > width).length,
      wide: [...root.querySelectorAll(".wide, pre")].filter((e) => e.scrollWidth > e.clientWidth).length,
      height: root.scrollHeight, ink: style(root.querySelector("body")).color,
      paper: style(root.querySelector("body")).backgroundColor,
    };
    if (Object.keys(found).length === PAGES.length)
      document.title = JSON.stringify(found);
  };
  document.body.append(frame);
}
</script>"""


class ShownPage(NamedTuple):
    """A page in a window."""

    name: str
    width: int  #: of the window
    text: str


def on_paper(text: str) -> str:
    """A page whose style for paper counts on the screen, too."""
    assert text.count("@media print {") == 1
    return text.replace("@media print {", "@media all {")


def measured(directory: Path, pages: Sequence[ShownPage], *options: str) -> dict[str, dict[str, Any]]:
    """What a browser makes of pages, by their names."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no chromium on this machine")
    texts = json.dumps(pages).replace("</", "<\\/")
    harness = directory / "harness.html"
    harness.write_text(MEASURE.replace("<script>", f"<script>const PAGES = {texts};"), encoding="utf-8")
    quiet = (
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-background-networking",
        "--disable-component-update",
    )
    answer = subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--no-first-run", "--disable-sync", *quiet, *options),
            *(f"--user-data-dir={directory / 'profile'}", "--virtual-time-budget=20000", "--dump-dom"),
            harness.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    ).stdout.decode()
    title = re.search("<title>(.*?)</title>", answer, re.DOTALL)
    assert title is not None, answer[-2000:]
    found: dict[str, dict[str, Any]] = json.loads(unescape(title[1]))
    return found


def pages_of_all_kinds(samples: Path) -> dict[str, str]:
    late, loader = planted.job("late"), planted.job("loader")
    kinds = {
        "trace": [*trace_sections(load(samples / "moba" / "trace_view.json", cache=False, jobs=1))],
        "job": [*job_page_sections(late, "run")],
        "comparison": [*comparison_sections(compare_jobs(late, loader, ("before", "after")))],
    }
    return {kind: page(kind, "en", sections, "footer") for kind, sections in kinds.items()}


@pytest.mark.parametrize("ground", ["light", pytest.param("dark", marks=pytest.mark.thorough)])
def test_a_browser_shows_pages_on_a_phone_a_desk_and_paper(
    samples: Path, tmp_path: Path, ground: str
) -> None:
    """Nothing makes a page wider than its window, words can be read, and every picture is drawn.

    Tables and source scroll in boxes of their own; on paper, where nothing scrolls, they fit.
    """
    dark = ["--blink-settings=preferredColorScheme=0"] if ground == "dark" else []
    shown = [
        ShownPage(f"{kind} on {medium}", width, on_paper(text) if medium == "paper" else text)
        for kind, text in pages_of_all_kinds(samples).items()
        for medium, width in (("phone", 390), ("desk", 1280), ("paper", PAPER))
    ]
    found = measured(tmp_path, shown, *dark)
    assert len(found) == len(shown)
    for name, width, _ in shown:
        seen = found[name]
        assert (seen["wider"], seen["outside"]) == (0, 0), name
        if name.endswith("paper"):
            assert seen["wide"] == 0, name
        else:
            assert seen["smallest"] >= 12, name
        assert len(seen["pictures"]) >= 4, name
        assert min(across for across, _ in seen["pictures"]) > width * 0.3, name
        assert min(high for _, high in seen["pictures"]) > 10, name
        assert 2000 < seen["height"] < 20_000, name
        ink, paper = (sum(map(int, re.findall(r"\d+", seen[part])[:3])) for part in ("ink", "paper"))
        assert (ink < paper) == (ground == "light")
        assert abs(ink - paper) > 450
