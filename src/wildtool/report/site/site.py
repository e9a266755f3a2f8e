"""Writes a static site that opens from disk: pages, files next to them and data in shards, or everything in one file.

From disk, browsers load neither modules nor `fetch` results, so scripts are classic ones and data are in shards: scripts
that pass their JSON to a function (`wildtool.put`), loaded when needed (`wildtool.load`). A page may run only
those files; a single file may run only the scripts whose digests it names.
"""

import base64
import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from wildtool import __version__, outputs
from wildtool.report.links import units_of_number
from wildtool.report.site.shards import Shards
from wildtool.sanitize import escape_text

_KINDS = {".csv": "text/csv", ".svg": "image/svg+xml", ".png": "image/png"}
SCRIPTS = ("site.js", "addresses.js", "copy_tables.js")
STYLES = ("site.css", "copy_tables.css")
"""What every page has."""
BESIDE = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
"""What a page of a folder may load: files next to it."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page before its frame is added."""

    slug: str
    """Its file name without `.html`."""
    title: str
    group: str
    """Its heading in the list of pages; empty for none."""
    body: Markup
    scripts: tuple[str, ...]
    """Files of `assets/` that it needs in addition to `site.js`."""
    styles: tuple[str, ...]


class _CompiledTemplates(BytecodeCache):
    """Keeps what one site has compiled for the next of this process: to compile takes a fifth of a small report."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _CompiledTemplates()


class Site:
    """A site in progress. Add pages, shards and files, then call `finish`."""

    def __init__(self, folder: Path, *, title: str, single: bool = False, policy: str = BESIDE) -> None:
        """Args:
        folder: where pages and shards go (for a single file: its parts, until they are joined).
        single: whether everything becomes one file.
        policy: what the pages of a folder may load.
        """
        self.folder = folder
        self.policy = policy
        self.title = title
        self.single = single
        self.pages: list[Page] = []
        self.shards = Shards(folder / "data", single)
        self._shards: list[str] = []
        self._numbers: dict[str, int] = {}
        self.colours: Mapping[str, str] = {}
        """By name of a model: its colour in all charts."""
        outputs.make_folder(folder)
        self._jinja = Environment(
            loader=PackageLoader("wildtool.report"),
            bytecode_cache=_COMPILED,
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_displayed,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        shared = {
            "link": self.link,
            "unique": self.unique,
            "units_of_number": units_of_number,
            "single": single,
            "version": __version__,
        }
        self._jinja.globals.update(shared)  # pyright: ignore[reportUnknownMemberType]

    def link(self, slug: str, query: str = "") -> str:
        """The address of a page; `query` is what its script reads with `wildtool.query()`, already quoted."""
        if self.single:
            return f"#{slug}" + (f"?{query}" if query else "")
        return f"{slug}.html" + (f"#{query}" if query else "")

    def unique(self, stem: str) -> str:
        """An id that is unique in the site."""
        number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return f"{stem}-{number}"

    def draw(self, template: str, **values: Any) -> Markup:
        """A rendered template; every text in it is escaped."""
        return Markup(self._jinja.get_template(template).render(values))

    def add(
        self,
        slug: str,
        title: str,
        template: str,
        *,
        group: str = "",
        scripts: tuple[str, ...] = (),
        styles: tuple[str, ...] = (),
        **values: Any,
    ) -> None:
        """Adds a page: `template` renders what is below its heading."""
        body = self.draw(template, slug=slug, **values)
        self.pages.append(Page(slug, title, group, body, scripts, styles))

    def shard(self, name: str, data: Any) -> None:
        """Writes data that a page's script loads with `wildtool.load(name)`."""
        self.shards.write(name, data)
        self.wrote(name)

    def wrote(self, name: str) -> None:
        """Adds data that were written to `shards`, perhaps by another process."""
        self._shards.append(name)

    def file(self, path: str, content: bytes) -> str:
        """Writes a file to download; its address."""
        if self.single:
            kind = _KINDS[Path(path).suffix]
            return f"data:{kind};base64,{base64.b64encode(content).decode()}"
        place = self.folder / path
        outputs.make_subfolder(place.parent)
        outputs.write_file(place, content)
        return path

    def finish(self, out: Path) -> Path:
        """Adds the frame around each page and writes everything; returns the path to open.

        Args:
            out: the file to write a single file to; unused for a folder.
        """
        return self._finish_single(out) if self.single else self._finish_folder()

    def _finish_folder(self) -> Path:
        assets = self.folder / "assets"
        outputs.make_subfolder(assets)
        for name in (*STYLES, *SCRIPTS, *_each(self.pages, "styles"), *_each(self.pages, "scripts")):
            outputs.write_file(assets / name, _asset(name))
        for page in self.pages:
            frame = self.draw(
                "page.html",
                policy=self.policy,
                title=self.title,
                pages=self.pages,
                shown=[page],
                styles=[*STYLES, *page.styles],
                scripts=[*SCRIPTS, *page.scripts],
            )
            outputs.write_file(self.folder / f"{page.slug}.html", frame.encode())
        return self.folder / f"{self.pages[0].slug}.html"

    def _finish_single(self, out: Path) -> Path:
        styles = [_asset(name).decode() for name in (*STYLES, *_each(self.pages, "styles"))]
        scripts = [_asset(name).decode() for name in (*SCRIPTS, *_each(self.pages, "scripts"))]
        policy = (
            f"default-src 'none'; script-src {' '.join(map(_digest, scripts))}; "
            f"style-src {' '.join(map(_digest, styles))}; img-src data:; base-uri 'none'; form-action 'none'"
        )
        frame = self.draw(
            "page.html",
            policy=policy,
            title=self.title,
            pages=self.pages,
            shown=self.pages,
            styles=[Markup(text) for text in styles],
            scripts=[Markup(text) for text in scripts],
        )
        before, _, after = frame.partition("<!-- shards -->")
        with outputs.atomic_replace(out) as new, new.open("wb") as file:
            file.write(before.encode())
            for name in self._shards:
                # Browsers do not run a block of this type.
                file.write(b'<script type="application/json" id="shard-%s">' % name.encode())
                with self.shards.path(name).open("rb") as shard:
                    shutil.copyfileobj(shard, file)
                file.write(b"</script>\n")
            file.write(after.encode())
        return out


def _displayed(value: Any) -> Any:
    return escape_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asset(name: str) -> bytes:
    return (files("wildtool.report") / "assets" / name).read_bytes()


def _each(pages: list[Page], attribute: str) -> list[str]:
    return list(dict.fromkeys(name for page in pages for name in getattr(page, attribute)))


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
