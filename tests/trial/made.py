"""Sides and held-out texts of our own prose, as files of records."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson

from bench.web.prose import articles, prose

MENU = [
    "Home",
    "Products",
    "Pricing",
    "About",
    "Contact",
    "Login",
    "Basket",
    "Newsletter",
    "Careers",
    "Imprint",
    "Privacy",
    "Cookies",
    "Sitemap",
    "Help",
]
Record = dict[str, Any]


def pages(count: int, words: int = 150, first: int = 0) -> list[Record]:
    """Each page on a site of its own."""
    return [
        {"url": f"https://site{number}.example/", "text": "\n".join(prose(f"page {number}", words))}
        for number in range(first, first + count)
    ]


def menu(seed: object, bytes_wanted: float) -> list[str]:
    """Lines of links as sites have them, some with numbers."""
    rng, lines = random.Random(f"menu {seed}"), []
    while bytes_wanted > 0:
        line = " | ".join(rng.sample(MENU, rng.randint(2, 5))) + rng.choice(["", f" ({rng.randint(1, 99)})", " »"])
        lines.append(line)
        bytes_wanted -= len(line.encode()) + 1
    return lines


def with_menu(records: list[Record], share: float) -> list[Record]:
    """`share` of the bytes are links."""
    return [
        one | {"text": "\n".join([*menu(one["url"], len(one["text"]) * share / (1 - share)), one["text"]])}
        for one in records
    ]


def with_copies(records: list[Record], share: float) -> list[Record]:
    """`share` of the texts are copies, under other URLs on other sites."""
    some = random.Random(1).sample(records, round(len(records) * share / (1 - share)))
    return [*records, *(one | {"url": one["url"].replace(".example", ".mirror")} for one in some)]


def write(path: Path, records: list[Record]) -> str:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return str(path)


def held_out(folder: Path, stories: int = 40) -> str:
    """Two kinds: prose by other seeds in a file of records, and articles, each in a text file."""
    (folder / "articles").mkdir(parents=True)
    write(folder / "stories.jsonl", [{"text": one["text"]} for one in pages(stories, first=100_000)])
    for number, article in enumerate(articles()[:30]):
        (folder / "articles" / f"{number}.txt").write_text("\n".join(article))
    return str(folder)
