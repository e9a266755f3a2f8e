"""What a page of ours looks like on paper: printed to A4 by the browser, and read again from the PDF."""

import re
from collections.abc import Iterator
from ctypes import c_uint, c_ulong
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

A4 = (595, 842)
"""Width and height of a sheet in points."""
MARGIN = 34
"""Points to the right that no text reaches: the margin, but for a letter of a chart's axis that stands over its end."""
CHARTS = """() => [...document.querySelectorAll("figure svg")].filter((svg) => svg.checkVisibility())
    .map((svg) => [...svg.querySelectorAll("tspan, text:not(:has(tspan))")]
        .map((text) => text.textContent.trim()).filter(Boolean))"""
HEADINGS = "() => [...document.querySelectorAll('main :is(h2, h3)')].map((one) => one.textContent.trim())"


@dataclass(frozen=True)
class Sheet:
    """One printed page."""

    size: tuple[int, int]
    text: str
    right: float
    """Where its rightmost text ends, in points."""
    faintest: float
    """The contrast of its faintest text to white paper, as WCAG computes it."""
    inked: float
    """The share of the sheet that is dark."""


@dataclass(frozen=True)
class Paper:
    """A printed document."""

    sheets: list[Sheet]
    charts: list[list[str]]
    """The texts of each chart."""
    headings: list[str]

    @property
    def text(self) -> str:
        return "\n".join(sheet.text for sheet in self.sheets)


def printed(page: "Page") -> Paper:
    """A page as the browser prints it for somebody whose screen is dark."""
    import pypdfium2

    page.emulate_media(color_scheme="dark")
    pdf = page.pdf(format="A4", prefer_css_page_size=True, print_background=True)
    page.emulate_media(media="print", color_scheme="dark")
    charts, headings = page.evaluate(CHARTS), page.evaluate(HEADINGS)
    page.emulate_media(media="null")
    return Paper([_sheet(each) for each in pypdfium2.PdfDocument(pdf)], charts, headings)


def _sheet(page: Any) -> Sheet:
    text = page.get_textpage()
    shade = page.render(scale=1).to_numpy().mean(axis=2)
    boxes = [text.get_charbox(number) for number in range(text.count_chars())]
    return Sheet(
        size=tuple(map(round, page.get_size())),
        text=text.get_text_bounded(),
        right=max((box[2] for box in boxes), default=0.0),
        faintest=min(map(_contrast, _inks(text)), default=21.0),
        inked=float((shade < 128).mean()),
    )


def _inks(text: Any) -> Iterator[tuple[int, ...]]:
    """The colour of each letter that is seen."""
    import pypdfium2.raw as raw

    for number in range(text.count_chars()):
        parts = [c_uint() for _ in range(4)]
        if raw.FPDFText_GetUnicode(text, c_ulong(number).value) > 32 and raw.FPDFText_GetFillColor(
            text, number, *parts
        ):
            yield tuple(part.value for part in parts[:3])


def _contrast(ink: tuple[int, ...]) -> float:
    shares = [part / 255 for part in ink]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shares]
    return 1.05 / (0.05 + sum(map(float.__mul__, (0.2126, 0.7152, 0.0722), linear)))


def _letters(texts: list[str]) -> set[str]:
    """Texts without signs, since a hyphen at the end of a line is not read as one."""
    return {re.sub(r"\W", "", text) for text in texts}


def _found(texts: list[str], sheet: Sheet) -> set[str]:
    whole = re.sub(r"\W", "", sheet.text)
    return {text for text in _letters(texts) if text in whole}


def assert_readable(paper: Paper) -> None:
    """What every printed page must hold."""
    for number, sheet in enumerate(paper.sheets, 1):
        assert sheet.size == A4
        assert sheet.right <= A4[0] - MARGIN, f"sheet {number}: a text is cut at the right edge"
        assert sheet.inked < 0.2, f"sheet {number}: it is dark"
        assert sheet.faintest >= 4.5, f"sheet {number}: a text is too faint to read"
        last = sheet.text.strip().splitlines()[-1:]
        assert not set(last) & set(paper.headings), f"sheet {number} ends with a heading"
    for texts in paper.charts:
        assert any(_letters(texts) <= _found(texts, sheet) for sheet in paper.sheets), f"{texts} is cut"
    for control in ("Copy or save", "Colours", "Find", "Baseline", "SVG", "CSV", "The numbers", "↕", "Keys:"):
        assert control not in paper.text
