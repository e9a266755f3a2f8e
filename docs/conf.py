"""How the documentation site is built: `make docs` writes it to `build/docs`.

The source folder is the root of the repository, so links and pictures of the Markdown files work on the site exactly as
they do where the files are read one by one. The files themselves hold no directives: `docs/README.md` is the table of
contents, `docs/reference.md` the list of documented modules, and both are completed here as they are read. The table of
contents also says where pages moved to: the site keeps their old addresses. `docs/search_words.toml` has the words that
people search by, and `docs/search.js` ranks by them.
"""

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from shutil import copyfile
from typing import Any, cast

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from wildtool import __version__

ROOT = Path(__file__).resolve().parents[1]

project = "wildtool"
version = release = __version__
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "bench/README.md", "src/wildtool/benchmarks/*/card.md"]
include_patterns += ["src/wildtool/training/procedures/card.md", "src/wildtool/own_cases/card.md"]
exclude_patterns = [
    *(path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in ("docs", "bench", "src")),
    "**/__pycache__",
]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
default_role = "code"
"""Docstrings are written with single backticks, as in Markdown."""

html_theme = "furo"
html_title = f"wildtool {__version__}"
html_copy_source = False
html_use_index = False
"""The list of all Python names is what the search is for."""
html_domain_indices = False
html_baseurl = "https://wildtool.readthedocs.io/en/latest/"
"""For the canonical address of each page, wherever else the site is."""


STARTS = {"README": "en", "README_ZH": "zh"}
"""The start page in each language."""

Sections = dict[str, list[tuple[str, str]]]
"""By heading, the label and the document name of each page."""


def listed(page: str) -> Sections:
    """The pages that the lists of a page link to; the link is the first thing of its line."""
    sections: Sections = {}
    heading = ""
    for line in (ROOT / f"{page}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
        elif found := re.match(r"- \[([^]]+)]\((\S+)\.md\)", line):
            target = (ROOT / page).parent.joinpath(found[2]).resolve().relative_to(ROOT)
            sections.setdefault(heading, []).append((found[1], target.as_posix()))
    return sections


def cards(page: str) -> Sections:
    """The cards of benchmarks that the table of a page links to."""
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[([^]]+)].*\| \[card]\(\.\./(\S+)\.md\) \|$", text, re.MULTILINE)
    return {"": [(f"Card of {label}", name) for label, name in rows]}


def tables_of_contents(sections: Sections) -> str:
    text = ""
    for heading, pages in sections.items():
        options = ":hidden:" + (f"\n:caption: {heading}" if heading else "")
        entries = "\n".join(f"{label} </{page}>" for label, page in pages)
        text += f"\n```{{toctree}}\n{options}\n\n{entries}\n```\n"
    return text


def complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Adds what the site needs and a reader of the file does not: tables of contents, and the names of modules."""
    if page == root_doc:
        above = [("中文", "README_ZH"), ("Contents", "docs/README"), ("Changelog", "CHANGELOG")]
        source[0] += tables_of_contents({"": above, **listed("docs/README")})
    elif page.startswith("docs/decisions/0"):
        # Listed on their own page, and not in the menu of every other one, which would be most of the site.
        source[0] = "---\norphan: true\n---\n" + source[0]
    elif page == "docs/benchmarks":
        source[0] += tables_of_contents(cards(page))
    elif page == "docs/reference":
        names = "\n### `\\1`\n\n```{eval-rst}\n.. automodule:: \\1\n```\n"
        source[0] = re.sub(r"^- `(wildtool[.\w]*)`.*$", names, source[0], flags=re.MULTILINE)


@cache
def search_phrases() -> dict[str, list[str]]:
    """By page its title and what people type who look for it."""
    table = tomllib.loads((ROOT / "docs" / "search_words.toml").read_text(encoding="utf-8"))["words"]
    return {page: [title_of(page), *map(str.strip, words.split(","))] for page, words in table.items()}


def title_of(page: str) -> str:
    return (ROOT / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def rank_by_phrases(app: Sphinx, config: Config) -> None:
    """The ranking of the site's search, with the phrases filled in."""
    script = (ROOT / "docs" / "search.js").read_text(encoding="utf-8")
    filled = Path(app.doctreedir, "search.js")
    filled.parent.mkdir(parents=True, exist_ok=True)
    phrases = json.dumps(search_phrases(), ensure_ascii=False)
    filled.write_text(script.replace("PHRASES = {}", f"PHRASES = {phrases}"), encoding="utf-8")
    config.html_search_scorer = str(filled)


def find_by_phrases(app: Sphinx, doctree: nodes.document) -> None:
    """A page is found by the words of its phrases, too."""
    phrases = search_phrases().get(app.env.docname, [])
    words = dict.fromkeys(word.lower() for phrase in phrases for word in re.findall(r"\w+", phrase))
    if words:
        doctree.insert(0, nodes.meta(name="keywords", content=", ".join(words)))


def say_language(app: Sphinx, page: str, template: str, context: dict[str, object], tree: object) -> None:
    """Tells browsers and screen readers which page is Chinese, and where a page is in the other language."""
    context["language"] = "zh" if page.endswith("_ZH") else "en"
    if page in STARTS:
        links = (
            f'<link rel="alternate" hreflang="{code}" href="{name}.html">' for name, code in STARTS.items()
        )
        context["metatags"] = str(context.get("metatags", "")) + "\n".join(links)


MENU_OF_DECISIONS = """<ul>
<li class="toctree-l1"><a class="reference internal" href="../README.html">Contents</a></li>
<li class="toctree-l1"><a class="reference internal" href="README.html">Decisions</a></li>
</ul>"""


def has_own_menu(page: str) -> bool:
    return page.startswith("docs/decisions/0")


@cache
def titles(env: BuildEnvironment) -> dict[str, nodes.bullet_list]:
    """By page its part of the table of contents, cut down to its title."""
    made: dict[str, nodes.bullet_list] = {}
    for page, toc in env.tocs.items():
        has_pages_below = any(toc.findall(addnodes.toctree))
        made[page] = toc if has_pages_below else toc.deepcopy()
        for entry in () if has_pages_below else made[page].children:
            cast(nodes.Element, entry)[1:] = []
    return made


def shorten_menu(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Lets the theme make the menu, which shows titles only, of titles: it would copy the sections and names of all pages
    for each page, which takes half of the time of the whole build."""
    menu = context["toctree"]

    def of_titles(**options: object) -> str:
        if has_own_menu(page):
            return ""
        whole, app.env.tocs = app.env.tocs, titles(app.env)
        try:
            return menu(**options)
        finally:
            app.env.tocs = whole

    context["toctree"] = of_titles


def leave_out_menu(app: Sphinx, page: str, template: str, context: dict[str, object], tree: object) -> None:
    """Decisions are short and many: each leads to the list of them instead of repeating the menu of the whole site."""
    if has_own_menu(page):
        context["furo_navigation_tree"] = MENU_OF_DECISIONS


FURNITURE = re.compile(r"(?P<before>.*?<article)(?P<article>.*</article>)(?P<after>.*)", re.DOTALL)
ONE_NAME = re.compile(r'<span class="pre">([^<]*)</span>')


def slim(app: Sphinx, failure: Exception | None) -> None:
    """Pages without what only takes room: the theme's indentation outside the text, and spans around single names."""
    for path in [] if failure else Path(app.outdir).rglob("*.html"):
        text = ONE_NAME.sub(r"\1", path.read_text(encoding="utf-8"))
        if found := FURNITURE.fullmatch(text):
            before, after = (
                re.sub(r">\s+<", "><", re.sub(r"\n\s+", "\n", found[name])) for name in ("before", "after")
            )
            text = before + found["article"] + after
        path.write_text(text, encoding="utf-8")


def add_index(app: Sphinx, failure: Exception | None) -> None:
    """The start page once more, under the name that browsers and servers look for."""
    if failure is None:
        copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


MOVED = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{page}">
<meta http-equiv="refresh" content="0; url={page}{section}">
<script>location.replace("{page}" + (location.hash || "{section}"))</script>
<a href="{page}{section}">This page has moved.</a>
</html>
"""
"""Most sections kept their names, so a link to one of an old page finds it in the new one."""


def moved_pages() -> dict[str, tuple[str, str]]:
    """By old name, the page of `docs/` that has its content now, and the section, with `#`, if it is not all of it."""
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+)\.md \| \[[^]]+]\(([\w-]+)\.md(#[\w-]+)?\) \|$", text, re.MULTILINE)
    return {old: (page, section) for old, page, section in rows}


def keep_old_addresses(app: Sphinx, failure: Exception | None) -> None:
    """A page at each old address that leads to the new one."""
    if failure is not None:
        return
    for old, (page, section) in moved_pages().items():
        text = MOVED.format(page=f"{page}.html", section=section)
        Path(app.outdir, "docs", f"{old}.html").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("config-inited", rank_by_phrases)
    app.connect("source-read", complete)
    app.connect("doctree-read", find_by_phrases)
    app.connect("html-page-context", say_language)
    # Before and after the theme's own, which gives the menu.
    app.connect("html-page-context", shorten_menu, priority=100)
    app.connect("html-page-context", leave_out_menu, priority=900)
    app.connect("build-finished", slim)
    app.connect("build-finished", add_index)
    app.connect("build-finished", keep_old_addresses)
