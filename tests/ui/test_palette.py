"""All that is drawn can be read: contrasts of WCAG 2, on dark and on light backgrounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
from rich.color import Color
from rich.style import Style

from tests.pages import check
from tracetui.trace.model import Activity
from tracetui.ui.drawing.causes import ROLES
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.ramp import Heat, Ramp, ramp_of

Rgb = Sequence[float]


def rgb(text: str) -> Rgb:
    return [int(text[place : place + 2], 16) for place in (0, 2, 4)]


class Theme(NamedTuple):
    """What a terminal makes of its own colours."""

    background: Rgb
    foreground: Rgb
    colours: tuple[Rgb, ...] = ()  #: black, red, green, yellow, blue, magenta, cyan, white; then bright
    bold_is_bright: bool = False


def theme(background: str, foreground: str, colours: str, bold_is_bright: bool = False) -> Theme:
    return Theme(rgb(background), rgb(foreground), tuple(map(rgb, colours.split())), bold_is_bright)


_XTERM = (
    "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 "
    "7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
)
_TANGO = (
    "2e3436 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf "
    "555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec"
)
XTERM_DARK = theme("000000", "e5e5e5", _XTERM, bold_is_bright=True)
XTERM_LIGHT = theme("ffffff", "000000", _XTERM, bold_is_bright=True)
TANGO_LIGHT = theme("ffffff", "2e3436", _TANGO)
#: of 256 and true colours: black, the grey of editors; white, the cream of Solarized
DARK = [theme("000000", "e5e5e5", ""), theme("1e1e1e", "d4d4d4", "")]
LIGHT = [theme("ffffff", "000000", ""), theme("fdf6e3", "586e75", "")]

LEAST = 4.5
#: What 16 colours cannot do better. On black xterm has no magenta but this one and the glaring one of cause
#: letters, and no lighter blue. How dim a default colour is that is no black is the terminal's choice.
SHORT_OF_IT = {"magenta": 4.4, "bright_blue": 4.4, "dim": 4.4}

#: How slices are drawn, by how loud that is: the causes of idle time, what works, and what is quiet so that
#: both stand out from it: what a device does beside its work, and frames. The names of hosts' operators and
#: files have several quiet hues. All that is written on a slice has the contrast of text.
CAUSES = (
    Role.IDLE,
    Role.SELECTED,
    *(role for role in dict.fromkeys(ROLES.values()) if isinstance(role, Role)),
)
WORK = (Role.HOST, Activity.COMPUTE, Activity.AICPU, Activity.COMMUNICATION, Activity.COPY, Activity.NONE)
QUIET = (Role.FRAME, Activity.COMMUNICATION_TASK, Activity.WAIT, Activity.EVENT, Activity.OTHER)


def luminance(colour: Rgb) -> float:
    linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Rgb, other: Rgb) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def shown(style: Style, on: Theme) -> tuple[Rgb, Rgb]:
    """The colour of text in a style, and that behind it."""

    def seen(colour: Color | None, usual: Rgb, bold: bool = False) -> Rgb:
        if colour is None or colour.is_default:
            return usual
        if on.colours and colour.number is not None:
            return on.colours[colour.number + 8 * (bold and on.bold_is_bright and colour.number < 8)]
        return list(colour.get_truecolor())

    front = seen(style.color, on.foreground, bool(style.bold))
    behind = seen(style.bgcolor, on.background)
    if style.reverse:
        front, behind = behind, front
    if style.dim:  # as xterm draws it
        front = [(2 * ink + paper) / 3 for ink, paper in zip(front, behind)]
    return front, behind


def texts(palette: Palette) -> Iterator[tuple[object, Style]]:
    """All styles of text: of roles and activities, and of names on slices of all kinds."""
    for what in (*Role, *Activity):
        yield what, palette.style_of(what)
    painted = [what for what in (*Role, *Activity) if what in palette._paints]
    for what in painted:
        yield (what, "box"), palette.paint_of(what).box
    for number in range(200):
        yield ("hue", number), palette.hue(f"aten::{number}").box
        yield ("file", number), palette.file_hue(f"{number}.py").box


def test_the_contrast_of_wcag() -> None:
    assert contrast(rgb("000000"), rgb("ffffff")) == pytest.approx(21)
    assert contrast(rgb("767676"), rgb("ffffff")) == pytest.approx(4.54, abs=0.01)
    assert shown(Style.parse("bold red"), XTERM_LIGHT) == (rgb("ff0000"), rgb("ffffff"))
    assert shown(Style.parse("dim reverse"), XTERM_LIGHT)[1] == rgb("000000")


@pytest.mark.parametrize("name", ["256", "true"])
@pytest.mark.parametrize(("light", "themes"), [(False, DARK), (True, LIGHT)], ids=["dark", "light"])
def test_all_text_can_be_read(name: str, light: bool, themes: list[Theme]) -> None:
    palette = Palette(name, light)
    for on in themes:
        for what, style in texts(palette):
            if style.color is not None and not style.color.is_default:
                assert contrast(*shown(style, on)) >= LEAST, (what, str(style), on.background)


@pytest.mark.parametrize(
    ("light", "on"),
    [(False, XTERM_DARK), (True, XTERM_LIGHT), (True, TANGO_LIGHT)],
    ids=["xterm dark", "xterm light", "tango light"],
)
def test_all_text_can_be_read_in_16_colours(light: bool, on: Theme) -> None:
    for what, style in texts(Palette("ansi", light)):
        colour = style.color.name if style.color is not None else "dim" if style.dim else ""
        least = LEAST if light and colour != "dim" else SHORT_OF_IT.get(colour, LEAST)
        assert contrast(*shown(style, on)) >= least, (what, str(style))


@pytest.mark.parametrize("name", ["256", "true"])
@pytest.mark.parametrize(("light", "themes"), [(False, DARK), (True, LIGHT)], ids=["dark", "light"])
def test_what_is_drawn_without_text_is_seen(name: str, light: bool, themes: list[Theme]) -> None:
    """Glyphs need a contrast of 3; idle time stands out from what devices do, as text does."""
    palette = Palette(name, light)
    inks = {what: palette.paint_of(what).ink for what in palette._paints}
    assert {*CAUSES, *WORK, *QUIET} == {*inks}
    for on in themes:
        for what, ink in inks.items():
            least = LEAST if what in CAUSES else 3 if what in WORK else 1.15
            assert contrast(*shown(ink, on)) >= least, (what, on.background)
    for what in (Activity.COMPUTE, Activity.COMMUNICATION, Activity.COPY):
        assert inks[what].color not in (inks[Role.IDLE].color, inks[Role.WAITING].color)


def test_without_colours_the_background_is_all_the_same() -> None:
    dark, light = (list(texts(Palette("none", light))) for light in (False, True))
    assert dark == light
    assert all(style.color is None and style.bgcolor is None for _, style in dark)


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_which_colours_say_what(light: bool, request: pytest.FixtureRequest) -> None:
    """In 16, 256 and true colours: glyphs and text, a name on a slice; shades of heat from the floor on."""
    palettes = [Palette(name, light) for name in ("ansi", "256", "true")]

    def line(what: str, *styles: object) -> str:
        return f"{what:<20}" + "".join(f" | {style!s:<32}" for style in styles).rstrip()

    lines = [line(what.name.lower(), *(of.style_of(what) for of in palettes)) for what in (*Role, *Activity)]
    for what in palettes[0]._paints:
        lines.append(line(f"on {what.name.lower()}", *(of.paint_of(what).box for of in palettes)))
    for kind, hues in (("operator", "_hues"), ("file", "_file_hues")):
        for paints in zip(*(getattr(of, hues) for of in palettes)):
            lines += [
                line(kind, *(paint.ink for paint in paints)),
                line(f"on {kind}", *(paint.box for paint in paints)),
            ]
    for heat in Heat:
        for shades in zip(*(_shades(ramp_of(heat, of.name, BLOCKS, light)) for of in palettes)):
            lines.append(line(heat.value, *shades))
    check("\n".join(lines), f"colours-{'light' if light else 'dark'}", request)


def _shades(ramp: Ramp) -> Iterator[str]:
    for glyph, style, text in zip(ramp.glyphs, ramp.styles, ramp.written):
        yield f"{glyph} {style}" + ("" if text == Style() else f" ({text.color and text.color.name})")
