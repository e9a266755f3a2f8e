"""The documentation site: whole, small, in four groups, and found by task."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_BYTES = 8_000_000
QUESTIONS = {
    "evaluate my vLLM model": "docs/models",
    "my agent": "docs/agents",
    "compare two checkpoints": "docs/compare",
    "OP": "docs/reading-results",
    "custom benchmark": "docs/adding-a-benchmark",
    "how much does a run cost": "docs/limits",
    "system prompt": "docs/run",
    "langchain": "docs/agents",
    "why is gold not 100 %": "docs/audit",
    "confidence interval": "docs/statistics",
    "fail my CI build": "docs/gate",
    "MCP server": "docs/tools",
    "fine-tuning data sharegpt": "docs/training-data",
    "reinforcement learning reward": "docs/environments",
    "prompt injection": "docs/robustness",
    "several GPUs slurm": "docs/scale",
    "my own test cases yaml": "docs/own-cases",
    "model without native tool calls": "docs/formats",
    "finance tools": "docs/own-domain",
    "is my data private": "docs/traces",
    "what may change between versions": "docs/guarantees",
    "connection refused": "docs/first-hour",
    "run bfcl": "docs/benchmarks",
    "can I trust my llm judge": "docs/judges",
    "比较 模型": "docs/compare",
}
"""What people type, and the page that answers it."""
NAME = "check_call"
"""A name of the code that pages explain."""
WITH_AN_UNKNOWN_WORD = "zzzzqqq vllm"
EXTRA = (NAME, WITH_AN_UNKNOWN_WORD)


class Links(HTMLParser):
    """The addresses that a page leads to, and the names of its places."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.names: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and not (tag == "link" and ("rel", "canonical") in attrs):
                self.addresses.append(value)
            if name in ("id", "name") and value:
                self.names.add(value)


def pages(site: Path) -> Iterator[Path]:
    return site.rglob("*.html")


def test_the_site_takes_at_most_eight_megabytes(site: Path) -> None:
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    largest = sorted(sizes, key=sizes.__getitem__)[-5:]
    assert sum(sizes.values()) <= MOST_BYTES, largest


def test_every_link_of_the_site_leads_to_a_page_and_a_place_that_are_there(site: Path) -> None:
    read = {page: Links(page) for page in pages(site)}
    assert len(read) > 100
    broken = [
        f"{page.relative_to(site)}: {address}"
        for page, links in read.items()
        for address in links.addresses
        if not leads_somewhere(page, address, read)
    ]
    assert broken == []


def leads_somewhere(page: Path, address: str, read: dict[Path, Links]) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return False
    return not parts.fragment or target not in read or unquote(parts.fragment) in read[target].names


def test_the_menu_has_four_groups_and_the_chinese_page(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<p class="caption"[^>]*><span class="caption-text">([^<]+)', text) == [
        "Start",
        "How to",
        "Reference",
        "Why",
    ]
    assert 'hreflang="zh" href="README_ZH.html"' in text
    assert '<html class="no-js" lang="zh"' in (site / "README_ZH.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found(tab: "Page", address: str) -> dict[str, list[str]]:
    """By question the pages that the site's search shows, in order, each once."""
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    answers: dict[str, list[str]] = {}
    for question in (*QUESTIONS, *EXTRA):
        tab.goto(f"{address}/search.html?q={quote(question)}")
        tab.wait_for_function(
            "!/^Search(ing)?$/.test(document.querySelector('#search-results h2')?.innerText ?? 'Search')"
        )
        links = tab.eval_on_selector_all(
            "#search-results li a", "links => links.map((a) => a.getAttribute('href'))"
        )
        answers[question] = list(
            dict.fromkeys(link.partition("#")[0].removesuffix(".html") for link in links)
        )
    assert errors == []
    return answers


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_its_page_first_or_second(question: str, found: dict[str, list[str]]) -> None:
    assert QUESTIONS[question] in found[question][:2], found[question][:5]


def test_names_of_the_code_come_after_prose(found: dict[str, list[str]]) -> None:
    prose, code = found[NAME].index("docs/python"), found[NAME].index("docs/reference")
    assert prose < code


def test_a_word_that_no_page_has_hides_no_other(found: dict[str, list[str]]) -> None:
    assert "docs/models" in found[WITH_AN_UNKNOWN_WORD]


def test_a_page_loads_nothing_from_elsewhere_and_has_no_error(tab: "Page", address: str) -> None:
    asked: list[str] = []
    faults: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
    for name in (
        "index.html",
        "docs/compare.html",
        "docs/reference.html",
        "docs/decisions/0012-docs-site.html",
    ):
        tab.goto(f"{address}/{name}")
    assert faults == []
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
