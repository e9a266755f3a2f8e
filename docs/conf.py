"""How the documentation site is built: `make docs` writes it to `build/docs`.

The source folder is the root of the repository, so links and pictures of the Markdown files work on the site exactly as
they do where the files are read one by one. The files themselves hold no directives: `docs/README.md` is the table of
contents, `docs/reference.md` the list of documented modules, and both are completed here as they are read.
"""

import re
from pathlib import Path
from shutil import copyfile

from sphinx.application import Sphinx

from wildtool import __version__

ROOT = Path(__file__).resolve().parents[1]

project = "wildtool"
version = release = __version__
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "bench/README.md", "src/wildtool/benchmarks/*/card.md"]
include_patterns += ["src/wildtool/training/procedures/card.md", "src/wildtool/cases/card.md"]
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
    elif page == "docs/decisions/README":
        source[0] += tables_of_contents(listed(page))
    elif page == "docs/reference":
        names = "\n### `\\1`\n\n```{eval-rst}\n.. automodule:: \\1\n```\n"
        source[0] = re.sub(r"^- `(wildtool[.\w]*)`.*$", names, source[0], flags=re.MULTILINE)


def say_language(app: Sphinx, page: str, template: str, context: dict[str, object], tree: object) -> None:
    """Tells browsers and screen readers which page is Chinese."""
    context["language"] = "zh" if page.endswith("_ZH") else "en"


def add_index(app: Sphinx, failure: Exception | None) -> None:
    """The start page once more, under the name that browsers and servers look for."""
    if failure is None:
        copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    app.connect("source-read", complete)
    app.connect("html-page-context", say_language)
    app.connect("build-finished", add_index)
