"""Draws charts as SVG at build time from altair specifications; nothing is drawn in the browser.

A chart has two widths, one for screens and one for phones. Inside a page it uses the page's colours (CSS
variables) and so follows light and dark; as a file it uses the light ones. Only known harmless elements and attributes
are kept, because a chart contains names from outside.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import vl_convert

from wildtool.report.charts.data import CellPlace, ChartData
from wildtool.report.charts.spec import chart_spec, max_models
from wildtool.report.charts.theme import LOOK, NARROW, WIDE, colour_in_page
from wildtool.sanitize import escape_text, single_line

_LONGEST = 10_000
_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = frozenset({"svg", "g", "path", "line", "rect", "text", "tspan", "circle", "a"})
_ATTRIBUTES = frozenset(
    {
        "width",
        "height",
        "viewBox",
        "d",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "dx",
        "dy",
        "r",
        "cx",
        "cy",
        "transform",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-width",
        "stroke-opacity",
        "stroke-dasharray",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "opacity",
        "text-anchor",
        "font-family",
        "font-size",
        "font-weight",
        "display",
    }
)
_OF_TEXTS = {"font-family": LOOK["font"], "font-size": "12px"}
"""What most texts of a chart have, and so the chart as a whole."""
_IS_DEFAULT: Mapping[str, str] = {
    **_OF_TEXTS,
    "opacity": "1",
    "stroke-width": "1",
    "font-weight": "normal",
    "text-anchor": "start",
    "transform": "translate(0,0)",
    "stroke-miterlimit": "10",
    "stroke-dasharray": "1,0",
    "x2": "0",
    "y2": "0",
}
"""Attributes that say what holds without them; corners of miters occur in no chart."""
_INHERITED = frozenset(
    {
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-width",
        "stroke-opacity",
        "stroke-dasharray",
        "text-anchor",
        "font-size",
        "font-weight",
    }
)
"""Attributes that a group can have for all that is in it."""
_MEASURES = frozenset({"d", "x", "y", "x1", "x2", "y1", "y2", "transform"})
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_BACK = re.compile(r"^(M([-\d.]+),[-\d.]+h([\d.]+)v[\d.]+)h-\3Z$")
"""The way back along a rectangle, which ends where it began."""
ET.register_namespace("", _SVG)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as elements for a page, and as files."""

    wide: str
    narrow: str
    """SVG elements for a page."""
    svg: bytes
    png: bytes
    left_out: str
    """What the chart leaves out; empty if it shows everything."""
    is_long: bool = False
    """Whether it cannot be read on one sheet of paper."""


def render_chart(drawing: ChartData) -> Chart:
    """Draws a chart in both widths."""
    drawing = _sanitized(drawing)
    wide, narrow = (vl_convert.vegalite_to_svg(chart_spec(drawing, width)) for width in (WIDE, NARROW))
    return Chart(
        wide=_in_page(wide, drawing, "wide"),
        narrow=_in_page(narrow, drawing, "narrow"),
        svg=sanitize_svg(wide, (drawing.title, drawing.about), lambda colour: colour).encode(),
        png=vl_convert.svg_to_png(wide, scale=2),
        left_out=_left_out(drawing),
        is_long=_is_long(wide),
    )


def _sanitized(drawing: ChartData) -> ChartData:
    """The chart with texts that are safe to draw: on one line, without control characters."""
    return replace(
        drawing,
        title=single_line(drawing.title, _LONGEST),
        about=single_line(drawing.about, _LONGEST),
        axis=single_line(drawing.axis),
        values=single_line(drawing.values),
        colours={_safe_name(model): colour for model, colour in drawing.colours.items()},
        models=tuple(map(_safe_name, drawing.models)),
        names=tuple(map(_safe_name, drawing.names)),
        points=tuple(
            replace(
                point,
                model=_safe_name(point.model),
                name=_safe_name(point.name),
                short=single_line(point.short),
                behind=single_line(point.behind),
            )
            for point in drawing.points
        ),
    )


def _safe_name(name: str) -> str:
    """A name on one line that the library can look up; one of every object gets a blank at its end."""
    line = single_line(name)
    return f"{line}\N{NO-BREAK SPACE}" if line in _OF_EVERY_OBJECT else line


_OF_EVERY_OBJECT = frozenset(
    {
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
    }
)
"""Names that every object of JavaScript has. The library keeps what it draws in objects, by name, and fails at these."""


def _is_long(svg: str) -> bool:
    """Whether a drawing is so much higher than wide that its texts are too small on one sheet of paper."""
    width, height = (float(ET.fromstring(svg).get(side, "0")) for side in ("width", "height"))
    return height > _LONGEST_ON_PAPER * width


_LONGEST_ON_PAPER = 3.0
"""Height by width of a chart that is 24 cm high, and whose texts are about half as large as on a screen."""


def _left_out(drawing: ChartData) -> str:
    most = max_models(drawing)
    if len(drawing.models) <= most:
        return ""
    return f"The chart shows the first {most} of {len(drawing.models)} models; the table shows all"


def _in_page(svg: str, drawing: ChartData, name: str) -> str:
    label = drawing.title, drawing.about
    return sanitize_svg(svg, label, colour_in_page, name, [point.cell for point in drawing.points])


def sanitize_svg(
    svg: str,
    label: tuple[str, str],
    colour: Callable[[str], str],
    name: str = "",
    cells: Sequence[CellPlace | None] = (),
) -> str:
    """A safe SVG for a page or a file.

    Args:
        label: its title, and its description in words.
        colour: maps each colour to the one to use.
        name: class of the SVG in a page; empty for a file.
        cells: of each of its links, by number, the cell of a table that has the address; without one it is no link.
    """
    title, description = map(escape_text, label)
    root = ET.fromstring(svg)
    _strip(root, colour, cells)
    # What is inside of an image has no names of its own.
    root.set("role", "group" if any("data-cell" in each.attrib for each in root.iter()) else "img")
    for key, value in _OF_TEXTS.items():
        root.set(key, value)
    root.set("aria-label", f"{title}. {description}")
    if name:
        root.set("class", name)
    first = ET.Element(f"{{{_SVG}}}title")
    first.text = title
    root.insert(0, first)
    # A `>` of a text or an attribute is escaped.
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _strip(element: ET.Element, colour: Callable[[str], str], cells: Sequence[CellPlace | None]) -> None:
    _strip_attributes(element, colour, cells)
    kept: list[ET.Element] = []
    for inner in element:
        if inner.tag.removeprefix(f"{{{_SVG}}}") not in _ELEMENTS or inner.get("display") == "none":
            continue
        _strip(inner, colour, cells)
        if not _draws_nothing(inner) and (cells or not _is_unseen(inner)):
            kept += inner if _only_groups(inner) else [inner]
    element[:] = kept
    if element.tag == f"{{{_SVG}}}g":
        _share_attributes(element)


def _strip_attributes(
    element: ET.Element, colour: Callable[[str], str], cells: Sequence[CellPlace | None]
) -> None:
    number = element.get(_LINK, "").rpartition("#")[2]
    cell = cells[int(number)] if number.isdecimal() and int(number) < len(cells) else None
    for key, value in list(element.attrib.items()):
        if key not in _ATTRIBUTES or _IS_DEFAULT.get(key) == value:
            del element.attrib[key]
        elif key in ("fill", "stroke"):
            element.set(key, colour(value))
        elif key in _MEASURES:
            element.set(key, _BACK.sub(r"\1H\2Z", _LONG_NUMBER.sub(_rounded, value)))
    if cell:
        element.set("data-cell", f"{cell[0]}.{cell[1]}")


def _share_attributes(group: ET.Element) -> None:
    """Gives a group what all of several elements in it have alike, so that they need not repeat it."""
    if len(group) < 2:
        return
    first, *others = group
    for key in sorted(_INHERITED & first.attrib.keys()):
        value = first.attrib[key]
        if all(inner.get(key) == value for inner in others):
            group.set(key, value)
            for inner in group:
                del inner.attrib[key]


def _rounded(number: re.Match[str]) -> str:
    """A measure in tenths of a pixel."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _draws_nothing(element: ET.Element) -> bool:
    """Whether an element is a group, a link or a path in which nothing is drawn."""
    kind = element.tag.removeprefix(f"{{{_SVG}}}")
    is_point = element.get("d", "") in ("", "M0,0h0v0h0Z")
    return not len(element) and (kind in ("g", "a") or (kind == "path" and is_point))


def _only_groups(element: ET.Element) -> bool:
    """Whether an element says nothing of what is in it."""
    return element.tag == f"{{{_SVG}}}g" and not element.attrib


def _is_unseen(element: ET.Element) -> bool:
    """Whether an element only takes clicks, for which a file has no use."""
    inked = any(each.attrib.keys() & {"fill", "stroke"} for each in element.iter())
    return element.tag == f"{{{_SVG}}}a" and not inked
