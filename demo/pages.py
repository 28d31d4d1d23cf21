"""First step of the demo web: read `demo/sites/` into `Site` and `Page` objects.

A site is a folder with `_site.toml` (address, robots.txt, sitemap) and `_template.html`. A page is one `.md` file:
front matter (`key: value` lines between two `---` lines; some keys may repeat), then the text. `expect:` is the
declared outcome of the page and is read by `demo.expectations`. Standard library only, so the server starts at once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

SITES_FOLDER = Path(__file__).with_name("sites")
SECOND_FOLDER = Path(__file__).with_name("second")
"""Pages that are new or different when the crawl comes back; everything else is as it was."""
ONCE = frozenset(
    {"title", "expect", "status", "location", "lang", "author", "date", "description", "contents", "sitemap", "type"}
    | {"address", "blocks", "script"}
)
SCRIPTS = frozenset({"", "draws", "scrolls", "late", "state", "captures"})
"""How a script draws a page (`demo.scripted`); empty: none does."""
MANY = frozenset({"header", "meta", "contains", "lacks", "link"})


class PageError(ValueError):
    """A page or site file is malformed; the message names the file and what was expected."""


@dataclass(frozen=True, slots=True)
class Page:
    """One URL of the demo web and everything the server needs to answer for it."""

    site: str
    path: str  # "/repair/kettle"; ends with "/" for an index; with a query where the same path shows several pages
    title: str
    body: str  # the small Markdown of `demo.render`
    expect: str  # "kept", "rejected <reason>[|<reason>]", "one-of <group>" or "unseen"
    lang: str = "en"
    author: str = ""
    date: str = ""  # ISO 8601
    description: str = ""
    statuses: tuple[int, ...] = (200,)  # answered in this order; the last one repeats
    location: str | None = None  # redirect target: a path, "@site/path" or a URL
    content_type: str = "text/html; charset=utf-8"
    contents: str | None = None  # index pages: glob of the files whose pages are listed
    in_sitemap: bool = True
    headers: tuple[tuple[str, str], ...] = ()
    metas: tuple[tuple[str, str], ...] = ()
    links: tuple[str, ...] = ()  # further links after the list
    script: str = ""  # how a script draws the page, a kind of `demo.scripted`; empty = the HTML has the text
    contains: tuple[str, ...] = ()  # must stand in the kept text
    lacks: tuple[str, ...] = ()  # must not stand in the kept text


@dataclass(frozen=True, slots=True)
class Site:
    """One host of the demo web."""

    name: str
    number: int  # last octet of its loopback address
    title: str
    entry: str  # how the crawl learns of it: "seed", "sitemap" or "none"
    robots: str
    template: str
    robots_status: int = 200
    sitemaps: tuple[str, ...] = ()  # globs, one urlset each; an index lists them
    suffixes: tuple[str, ...] = ("",)  # appended to links in turn: tracking parameters, fragments
    boilerplate: tuple[str, ...] = ()  # stands on every page, must not stand in a kept text
    pages: Mapping[str, Page] = field(default_factory=dict)


def load_web(folder: Path = SITES_FOLDER) -> dict[str, Site]:
    """Every site by its folder name, ordered by address.

    Raises: PageError naming the file.
    """
    sites = [load_site(path.parent) for path in folder.glob("*/_site.toml")]
    return {site.name: site for site in sorted(sites, key=lambda s: s.number)}


def load_second(folder: Path = SECOND_FOLDER) -> dict[str, Site]:
    """The web as it is when the crawl comes back: the sites of `load_web` with the pages of `demo/second/` in place.

    Raises: PageError naming the file.
    """
    sites = load_web()
    for name, site in sites.items():
        sites[name] = replace(site, pages={**site.pages, **load_pages(folder / name)})
    return sites


def load_changes(folder: Path = SECOND_FOLDER) -> list[Page]:
    """What is new or different when the crawl comes back."""
    return [page for site in folder.iterdir() for page in load_pages(site).values()]


def load_pages(folder: Path) -> dict[str, Page]:
    """The pages of a site's folder, by path."""
    files = sorted(p for p in folder.rglob("*.md") if not p.name.startswith("_"))
    return {page.path: page for page in (load_page(folder, file) for file in files)}


def load_site(folder: Path) -> Site:
    """One site with its pages, keyed by URL path."""
    facts = tomllib.loads((folder / "_site.toml").read_text("utf-8"))
    return Site(
        name=folder.name,
        number=facts["number"],
        title=facts["title"],
        entry=facts["entry"],
        robots=facts["robots"],
        template=(folder / "_template.html").read_text("utf-8"),
        robots_status=facts.get("robots_status", 200),
        sitemaps=tuple(facts.get("sitemaps", ())),
        suffixes=tuple(facts.get("suffixes", ("",))),
        boilerplate=tuple(facts.get("boilerplate", ())),
        pages=load_pages(folder),
    )


def load_page(folder: Path, file: Path) -> Page:
    """One page from its file; the URL path is the file's path without `.md`, `index.md` stands for its folder."""
    values, body = _split(file)
    once = {key: items[0] for key, items in values.items()}
    path = "/" + file.relative_to(folder).with_suffix("").as_posix()
    path = path.removesuffix("index") if file.stem == "index" else path
    if (script := once.get("script", "")) not in SCRIPTS:
        raise PageError(f"{file}: script: expected one of {', '.join(sorted(SCRIPTS - {''}))}, got {script!r}")
    return Page(
        site=folder.name,
        path=once.get("address", path),
        title=once["title"],
        body=_blocks(file, once["blocks"]) if "blocks" in once else body,
        expect=once["expect"],
        lang=once.get("lang", "en"),
        author=once.get("author", ""),
        date=once.get("date", ""),
        description=once.get("description", ""),
        statuses=tuple(int(s) for s in once.get("status", "200").split(",")),
        location=once.get("location"),
        content_type=once.get("type", "text/html; charset=utf-8"),
        contents=once.get("contents"),
        in_sitemap=once.get("sitemap", "yes") == "yes",
        headers=_pairs(values.get("header", [])),
        metas=_pairs(values.get("meta", [])),
        links=tuple(values.get("link", ())),
        script=script,
        contains=tuple(values.get("contains", ())),
        lacks=tuple(values.get("lacks", ())),
    )


def _blocks(file: Path, numbers: str) -> str:
    """These blocks of `_blocks.md` in the same folder, counted from 1: one stock of texts for several pages."""
    stock = file.with_name("_blocks.md").read_text("utf-8").strip().split("\n\n")
    return "\n\n".join(stock[int(number) - 1] for number in numbers.split(","))


def _pairs(lines: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines))


def _split(file: Path) -> tuple[dict[str, list[str]], str]:
    lines = file.read_text("utf-8").splitlines()
    if not lines or lines[0] != "---" or "---" not in lines[1:]:
        raise PageError(f"{file}: expected front matter between two '---' lines")
    end = lines.index("---", 1)
    values: dict[str, list[str]] = {}
    for number, line in enumerate(lines[1:end], start=2):
        key, colon, value = line.partition(":")
        if not colon or key not in ONCE | MANY or (key in ONCE and key in values):
            raise PageError(f"{file}:{number}: expected one of {', '.join(sorted(ONCE | MANY))}, got {line!r}")
        values.setdefault(key, []).append(value.strip())
    if missing := {"title", "expect"} - values.keys():
        raise PageError(f"{file}: front matter lacks {', '.join(sorted(missing))}")
    return values, "\n".join(lines[end + 1 :]).strip()
