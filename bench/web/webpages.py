"""Pages of the web as sites of files, for benches that serve them: what users crawl, beside documentation.

`web`: 1,497 labelled pages of 2025, most of them English. `languages`: news, forums and blogs whose `<html lang>` is
another language. Both from `../shared/data`; where that is absent, pages of our own making (`made`), which are lighter.
Lists of 100 links lead to the pages. A page says with `<base>` where it is from, so that its links go where they went,
out of the crawl's scope, and not to pages that nobody serves.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from html import escape
from itertools import islice
from pathlib import Path

from bench.places import SHARED_DATA
from bench.quality.eval_pages import read_lines
from bench.web.prose import prose
from tests.stages.sentences import SENTENCES

ENGLISH = ("wcxb-dev.jsonl.zst",)
OTHERS = ("pages-dev/news.jsonl.zst", "pages-dev/dates.jsonl.zst", "pages-dev/forums.jsonl.zst")
LINKS = 100
"""Pages that one list leads to."""
MADE = {"web": 1_400, "languages": 200}
"""Pages of our own making."""
_LANGUAGE = re.compile(r"<html\b[^>]*?\slang\s*=\s*[\"']?([a-z]{2,3})", re.IGNORECASE)
_HEAD = re.compile(r"<head(?:\s[^>]*)?>", re.IGNORECASE)
_BASE = re.compile(r"<base\b", re.IGNORECASE)


def write_sites(folder: Path, data: Path = SHARED_DATA, pages: int = 0) -> dict[str, Path]:
    """The document roots of the sites by name, written into `folder`; of each so many pages at most, 0 = all."""
    there = all((data / name).is_file() for name in (*ENGLISH, *OTHERS))
    found = {name: (real if there else made)(name, data) for name in MADE}
    return {name: _written(folder / name, islice(some, pages or None)) for name, some in found.items()}


def source(data: Path = SHARED_DATA) -> str:
    """Where the pages of `write_sites` are from, for a report."""
    there = all((data / name).is_file() for name in (*ENGLISH, *OTHERS))
    return "labelled pages of the web" if there else "pages of our own making"


def real(name: str, data: Path) -> Iterator[str]:
    """The HTML of the pages that have a URL, as they stand in the data."""
    for file in ENGLISH if name == "web" else OTHERS:
        for page in read_lines(data / file):
            if page["url"] and (name == "web" or _language(page["html"]) not in {"", "en"}):
                yield _from(page["url"], page["html"])


def _language(html: str) -> str:
    found = _LANGUAGE.search(html, 0, 5_000)
    return found[1].lower() if found else ""


def _from(url: str, html: str) -> str:
    """The page with its own address as its base, unless it names one."""
    if _BASE.search(html) or not (head := _HEAD.search(html)):
        return html
    return f'{html[: head.end()]}<base href="{escape(url)}">{html[head.end() :]}'


def made(name: str, _data: Path) -> Iterator[str]:
    """Pages as the web has them, menus, cards, comments, scripts and all, around text of our own."""
    languages = [""] if name == "web" else sorted(set(SENTENCES) - {"en"})
    for number in range(MADE[name]):
        yield _from(f"https://site-{number}.example/story", _page(number, languages[number % len(languages)]))


def _page(number: int, language: str) -> str:
    rng = random.Random(f"{language} {number}")
    if language:
        words = SENTENCES[language].split()
        text = [" ".join(rng.sample(words, len(words))) for _ in range(20)]
    else:
        text = prose(f"web {number}", rng.randrange(200, 1_500))
    title = text[0][:60]
    menu = "".join(f'<li><a href="/section/{i}">{escape(text[0].split()[-1])} {i}</a></li>' for i in range(40))
    end = escape(text[-1][:50])
    cards = "".join(
        f'<div class="card"><a href="/story/{i}"><img alt="" src="/{i}.jpg"><h3>{end} {i}</h3></a></div>'
        for i in range(12)
    )
    comments = [escape(text[i % len(text)][:120]) for i in range(5)]
    said = "".join(f'<div class="comment"><b>Reader {i}</b><p>{one}</p></div>' for i, one in enumerate(comments))
    body = "".join(f"<p>{escape(one)}</p>" for one in text)
    styles = "".join(f".block-{i}{{display:flex;margin:{i}px;color:#{i:06x}}}" for i in range(400))
    script = f"window.state={json.dumps({str(i): rng.random() for i in range(600)})};"
    return (
        f'<!doctype html><html lang="{language or "en"}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{styles}</style></head><body><header><nav><ul>{menu}</ul></nav></header>"
        f'<div id="cookies" class="consent-banner">This site uses cookies. <button>Accept all</button></div>'
        f"<main><article><h1>{escape(title)}</h1>{body}</article><section class='comments'>{said}</section></main>"
        f"<aside>{cards}</aside><footer>{menu}</footer><script>{script}</script></body></html>"
    )


def _written(root: Path, pages: Iterator[str]) -> Path:
    """The pages as files of `root`, its index and the lists that lead to them."""
    (root / "p").mkdir(parents=True)
    names = []
    for number, html in enumerate(pages):
        names.append(f"/p/{number:04}.html")
        (root / names[-1][1:]).write_text(html, "utf-8", errors="replace")
    lists = {f"/list-{i // LINKS}.html": names[i : i + LINKS] for i in range(0, len(names), LINKS)}
    for name, links in {"/index.html": list(lists), **lists}.items():
        anchors = "\n".join(f'<a href="{link}">{link}</a>' for link in links)
        (root / name[1:]).write_text(f"<!doctype html><title>{name}</title>\n{anchors}\n", "utf-8")
    return root
