"""Second step of the demo web: turn a `Page` into the bytes the server sends; also robots.txt and sitemaps.

The Markdown is a small dialect: blank lines separate blocks; `## heading`, `- item`, `> quote`, `[text](target)`. A
target is a path, a URL, or `@site/path` for another site of the demo web.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from html import escape
from string import Template

from .pages import Page, Site
from .scripted import shell

LINK = re.compile(r"\[([^\]\n]{1,200})\]\(([^)\s]{1,300})\)")
SITEMAP_NS = "http://www.sitemaps.org/schemas/sitemap/0.9"


@dataclass(frozen=True, slots=True)
class Web:
    """The sites together with the base URL each one is served at, such as http://127.0.0.2:8080.

    draws: a crawl of it has a browser. Without one, what only a script shows cannot be read.
    """

    sites: Mapping[str, Site]
    bases: Mapping[str, str]
    draws: bool = True

    def url(self, target: str, site: str) -> str:
        """Absolute URL of a path, "@site/path" or URL as written on a page of `site`."""
        if target.startswith("@"):
            name, _, path = target[1:].partition("/")
            return f"{self.bases[name]}/{path}"
        return self.bases[site] + target if target.startswith("/") else target

    def pages(self) -> list[Page]:
        """Every page of every site."""
        return [page for site in self.sites.values() for page in site.pages.values()]


def page_html(web: Web, page: Page) -> str:
    """The whole page: the site's template around title, metadata and text."""
    site = web.sites[page.site]
    head = [f'<meta name="{escape(name)}" content="{escape(value)}">' for name, value in _metas(page)]
    return Template(site.template).substitute(
        lang=page.lang,
        head="\n".join(head),
        title=escape(page.title),
        site=escape(site.title),
        byline=escape(" · ".join(filter(None, [page.author, page.date]))),
        body=shell(page) if page.script else body_html(web, page),
    )


def _metas(page: Page) -> list[tuple[str, str]]:
    named = [("description", page.description), ("author", page.author), ("date", page.date)]
    return [pair for pair in named if pair[1]] + list(page.metas)


def body_html(web: Web, page: Page) -> str:
    """The text of the page, then the list of an index page."""
    blocks = [_block(web, page, block.strip()) for block in re.split(r"\n\s*\n", page.body) if block.strip()]
    if page.contents is not None or page.links:
        blocks.append(_list(web, page))
    return "\n".join(blocks)


def _block(web: Web, page: Page, block: str) -> str:
    lines = [_inline(web, page, line.strip()) for line in block.splitlines()]
    if block.startswith("## "):
        return f"<h2>{lines[0][3:]}</h2>"
    if block.startswith("- "):
        return "<ul>" + "".join(f"<li>{line.removeprefix('- ')}</li>" for line in lines) + "</ul>"
    if block.startswith("> "):
        return "<blockquote><p>" + " ".join(line.removeprefix("&gt; ") for line in lines) + "</p></blockquote>"
    return "<p>" + " ".join(lines) + "</p>"


def _inline(web: Web, page: Page, text: str) -> str:
    out, last = [], 0
    for match in LINK.finditer(text):
        href = escape(web.url(match[2], page.site))
        out += [escape(text[last : match.start()], quote=False), f'<a href="{href}">{escape(match[1])}</a>']
        last = match.end()
    return "".join(out) + escape(text[last:], quote=False)


def _list(web: Web, page: Page) -> str:
    """Links of an index page. Each page is linked twice, by its title and by "more", with different suffixes."""
    site, items = web.sites[page.site], []
    for index, entry in enumerate(listed_pages(site, page.contents)):
        first, second = (site.suffixes[i % len(site.suffixes)] for i in (2 * index, 2 * index + 1))
        items.append(
            f'<li><a href="{escape(entry.path + first)}">{escape(entry.title)}</a> '
            f'<a class="more" href="{escape(entry.path + second)}">»</a></li>'
        )
    items += [f'<li><a href="{escape(web.url(link, page.site))}">{escape(link)}</a></li>' for link in page.links]
    return '<ul class="contents">' + "".join(items) + "</ul>"


def listed_pages(site: Site, glob: str | None) -> list[Page]:
    """Pages whose path matches a comma-separated list of globs; folders of a site are listed by their own index."""
    globs = [g.strip() for g in glob.split(",")] if glob else []
    return [page for page in site.pages.values() if any(fnmatch(page.path, g) for g in globs)]


def robots_txt(web: Web, site: Site) -> bytes:
    """The site's robots.txt with its own base URL filled in."""
    return Template(site.robots).substitute(base=web.bases[site.name]).encode()


def sitemap_files(web: Web, site: Site) -> dict[str, tuple[str, bytes]]:
    """Path → (content type, body) of the sitemap index and its urlsets; the second urlset is gzip-compressed."""
    files: dict[str, tuple[str, bytes]] = {}
    for number, glob in enumerate(site.sitemaps, start=1):
        pages = [page for page in listed_pages(site, glob) if page.in_sitemap]
        items = "".join(_sitemap_item("url", web.url(p.path, site.name), p.date) for p in pages)
        body = _xml("urlset", items)
        if number == 2:
            files[f"/sitemap-{number}.xml.gz"] = ("application/gzip", gzip.compress(body, mtime=0))
        else:
            files[f"/sitemap-{number}.xml"] = ("application/xml", body)
    if files:
        index = _xml("sitemapindex", "".join(_sitemap_item("sitemap", web.url(p, site.name), "") for p in files))
        files["/sitemap.xml"] = ("application/xml", index)
    return files


def _sitemap_item(tag: str, url: str, date: str) -> str:
    lastmod = f"<lastmod>{escape(date)}</lastmod>" if date else ""
    return f"<{tag}><loc>{escape(url)}</loc>{lastmod}</{tag}>\n"


def _xml(root: str, items: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{SITEMAP_NS}">\n{items}</{root}>\n'.encode()
