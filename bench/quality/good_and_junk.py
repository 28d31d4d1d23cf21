"""What the language and quality stages do with good texts and with junk: lost and let through, by kind.

    python -m bench.quality.good_and_junk [--only good|junk] [--reasons] [--most 1000]

Good: texts that people marked as the main text (`../shared/data`: wcxb-dev by page type, forum threads with their
posts joined, news, blogs). Junk, at least a thousand of each kind where the pages give so many: navigation, footers and
consent texts of those pages, what nobody marked of them, their text several times over, words of them in alphabetical
order, keyword spam, and sentences drawn from a few templates and from chains of words. The last five are made here,
with a fixed seed.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import zstandard
from lxml import etree, html

from bench.places import SHARED_DATA
from crawler.config import LanguageConfig, QualityConfig
from crawler.document import Document, Drop
from crawler.stages.language.stage import LanguageStage
from crawler.stages.quality.stage import QualityStage
from crawler.stages.text.words import count_words
from crawler.urls.canonicalize import registrable_domain

LEAST_WORDS = 50
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, what it is, and whose: the domain, or a name for what is made here."""

    kind: str
    site: str
    text: str


def main() -> int:
    """Print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("good", "junk"))
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--most", type=int, default=MOST, help="junk texts of a kind")
    options = parser.parse_args()
    stages = LanguageStage(LanguageConfig()), QualityStage(QualityConfig())
    kinds: dict[str, Callable[[], Iterator[Sample]]] = {"good": good, "junk": partial(junk, options.most)}
    print("| texts | kind | number | dropped | kept |\n|---|---|---|---|---|")
    for name, texts in kinds.items():
        if options.only in (None, name):
            found: dict[str, Counter[str]] = defaultdict(Counter)
            for sample in texts():
                found[sample.kind][_verdict(stages, sample.text)] += 1
            for kind, reasons in found.items():
                number, kept = reasons.total(), reasons[""]
                print(f"| {name} | {kind} | {number} | {1 - kept / number:.4f} | {kept / number:.4f} |")
                if options.reasons:
                    print("   ", [item for item in reasons.most_common(9) if item[0]])
    return 0


def _verdict(stages: tuple[LanguageStage, QualityStage], text: str) -> str:
    doc = Document("https://example.org/", text=text)
    return next((str(found.reason) for stage in stages if isinstance(found := stage(doc), Drop)), "")


def _lines(name: str) -> Iterator[dict[str, Any]]:
    with (SHARED_DATA / name).open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        yield from map(json.loads, io.TextIOWrapper(reader, "utf-8"))


def labelled() -> Iterator[dict[str, Any]]:
    """Pages of wcxb-dev whose main text has 50 words and more: url, html, page_type, main_content."""
    return (page for page in _lines("wcxb-dev.jsonl.zst") if count_words(str(page["main_content"])) >= LEAST_WORDS)


def good() -> Iterator[Sample]:
    """Texts of 50 words and more."""
    for page in labelled():
        yield from _long(f"web: {page['page_type']}", site_of(page), str(page["main_content"]))
    for page in _lines("pages-dev/forums.jsonl.zst"):
        yield from _long("forum threads", site_of(page), "\n\n".join(map(str, page["posts"])))
    for name in ("news", "blogs-2012"):
        for page in _lines(f"pages-dev/{name}.jsonl.zst"):
            yield from _long(name.partition("-")[0], site_of(page), str(page["truth"]))


def site_of(page: Mapping[str, object]) -> str:
    """The registrable domain of a page; those that nobody knows the address of are one."""
    return registrable_domain(str(page["url"])) if page["url"] else "nowhere"


def _long(kind: str, site: str, text: str) -> Iterator[Sample]:
    if count_words(text) >= LEAST_WORDS:
        yield Sample(kind, site, text)


_ITEM = "- "
_OF = {"navigation": "//nav | //header", "footers": "//footer | //aside"}
_CONSENT = "//*[contains(@class, 'cookie') or contains(@id, 'cookie') or contains(@class, 'consent')]"
_INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "q", "s",
     "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr")
)  # fmt: skip


def junk(most: int) -> Iterator[Sample]:
    """What the pages do not give is made of their words."""
    rnd, numbers, words = random.Random(7), Counter[str](), list[str]()
    for page in _lines("wcxb-dev.jsonl.zst"):
        site, marked = site_of(page), str(page["main_content"])
        words += marked.split()[:400]
        if numbers["repeated"] < most and len(lines := marked.splitlines()) > 3:
            numbers["repeated"] += 1
            yield Sample("repeated", site, "\n".join(lines * rnd.randint(2, 5)))
        for kind, text in _beside(str(page["html"]), marked, _ITEM if zlib.crc32(site.encode()) % 2 else ""):
            if numbers[kind] < most and count_words(text) >= LEAST_WORDS:
                numbers[kind] += 1
                yield Sample(kind, site, text)
    yield from _made(rnd, words, most)


def _beside(page: str, marked: str, item: str) -> Iterator[tuple[str, str]]:
    """What stands on a page beside the text that people marked. item: begins an item of a list; "" as some extractors
    write it, so that a mark alone tells nothing.
    """
    tree = html.fromstring(page.encode("utf-8", "replace"), parser=html.HTMLParser(encoding="utf-8"))
    for element in [e for e in tree.iter("script", "style", "noscript", "head") if e.getparent() is not None]:
        element.drop_tree()
    for kind, path in (*_OF.items(), ("consent", _CONSENT)):
        yield kind, "\n".join(line for place in tree.xpath(path) for line in _block_texts(place, item))
    known = "".join(marked.split())
    lines = (line for line in _block_texts(tree, item) if "".join(line.removeprefix(_ITEM).split()) not in known)
    yield "unmarked", "\n".join(lines)


def _block_texts(tree: html.HtmlElement, item: str) -> Iterator[str]:
    """The text of each block, white space folded, and `item` before items of lists."""
    found: list[str] = []
    around: list[str] = []
    for event, element in etree.iterwalk(tree, events=("start", "end", "comment")):
        if event != "comment" and element.tag not in _INLINE:
            yield from _line(found, item if around and around[-1] == "li" else "")
            if event == "start":
                around.append(element.tag)
            else:
                around.pop()
        if event == "start":
            found.append(element.text or "")
        elif element is not tree:
            found.append(element.tail or "")
    yield from _line(found, "")


def _line(found: list[str], mark: str) -> Iterator[str]:
    line = " ".join("".join(found).split())
    found.clear()
    if line:
        yield mark + line


def _made(rnd: random.Random, words: list[str], most: int) -> Iterator[Sample]:
    chain: dict[str, list[str]] = defaultdict(list)
    for one, following in pairwise(words):
        chain[one].append(following)
    plain = [word.strip(".,;:()\"'").lower() for word in words if word.strip(".,;:()\"'").isalpha()]
    for number in range(most):
        site = f"made {number}"
        yield Sample("word lists", site, "\n".join(sorted(rnd.sample(plain, 150))))
        key = rnd.sample(plain, 4)
        spam = ". ".join(" ".join(rnd.sample(key, 3)).capitalize() for _ in range(60)) + "."
        yield Sample("keyword spam", site, spam)
        place = [f"The best {key[0]} in {word} is {key[1]} for every {key[2]}." for word in rnd.sample(plain, 25)]
        yield Sample("templates", site, "\n".join(place))
        word, out = rnd.choice(words), list[str]()
        while len(out) < 200:
            out.append(word)
            word = rnd.choice(chain[word]) if chain[word] else rnd.choice(words)
        yield Sample("chains of words", site, " ".join(out))


if __name__ == "__main__":
    sys.exit(main())
