"""What the language and quality stages do with good texts and with junk: lost and let through, by kind.

    python -m bench.quality.good_and_junk [--only good|junk] [--reasons] [--most 1000]

Good: texts that people marked as the main text (`../shared/data`: wcxb-dev by page type, forum threads with their
posts joined, news). Junk, at least a thousand of each kind where the pages give so many: navigation, footers and
consent texts of those pages, words of them in alphabetical order, keyword spam, and sentences drawn from a few
templates and from chains of words. The last three are made here, from the words of the pages, with a fixed seed.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import islice, pairwise

import zstandard
from lxml import html

from bench.places import SHARED_DATA
from crawler.config import LanguageConfig, QualityConfig
from crawler.document import Document, Drop
from crawler.stages.language.stage import LanguageStage
from crawler.stages.quality.stage import QualityStage
from crawler.stages.text.words import count_words

LEAST_WORDS = 50
MOST = 1_000


def main() -> int:
    """Print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("good", "junk"))
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--most", type=int, default=MOST, help="junk texts of a kind")
    options = parser.parse_args()
    stages = LanguageStage(LanguageConfig()), QualityStage(QualityConfig())
    kinds = {"good": good, "junk": partial(junk, options.most)}
    print("| texts | kind | number | dropped | kept |\n|---|---|---|---|---|")
    for name, texts in kinds.items():
        if options.only in (None, name):
            found: dict[str, Counter[str]] = defaultdict(Counter)
            for kind, text in texts():
                found[kind][_verdict(stages, text)] += 1
            for kind, reasons in found.items():
                number, kept = reasons.total(), reasons[""]
                print(f"| {name} | {kind} | {number} | {1 - kept / number:.4f} | {kept / number:.4f} |")
                if options.reasons:
                    print("   ", [item for item in reasons.most_common(9) if item[0]])
    return 0


def _verdict(stages: tuple[LanguageStage, QualityStage], text: str) -> str:
    doc = Document("https://example.org/", text=text)
    return next((str(found.reason) for stage in stages if isinstance(found := stage(doc), Drop)), "")


def _lines(name: str) -> Iterator[dict[str, object]]:
    with (SHARED_DATA / name).open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        yield from map(json.loads, io.TextIOWrapper(reader, "utf-8"))


def good() -> Iterator[tuple[str, str]]:
    """Kind and text, of 50 words and more."""
    for page in _lines("wcxb-dev.jsonl.zst"):
        yield from _long(f"web: {page['page_type']}", str(page["main_content"]))
    for page in _lines("pages-dev/forums.jsonl.zst"):
        yield from _long("forum threads", "\n\n".join(map(str, page["posts"])))
    for page in _lines("pages-dev/news.jsonl.zst"):
        yield from _long("news", str(page["truth"]))


def _long(kind: str, text: str) -> Iterator[tuple[str, str]]:
    if count_words(text) >= LEAST_WORDS:
        yield kind, text


_OF = {"navigation": "//nav | //header", "footers": "//footer | //aside"}
_CONSENT = "//*[contains(@class, 'cookie') or contains(@id, 'cookie') or contains(@class, 'consent')]"


def junk(most: int) -> Iterator[tuple[str, str]]:
    """Kind and text; what the pages do not give is made of their words."""
    rnd, numbers, words = random.Random(7), Counter[str](), list[str]()
    for page in islice(_lines("wcxb-dev.jsonl.zst"), 2 * most):
        tree = html.fromstring(str(page["html"]).encode("utf-8", "replace"), parser=html.HTMLParser(encoding="utf-8"))
        for script in tree.xpath("//script | //style | //noscript"):
            script.drop_tree()
        for kind, path in (*_OF.items(), ("consent", _CONSENT)):
            text = "\n".join(" ".join(t.split()) for place in tree.xpath(path) for t in place.itertext() if t.strip())
            if numbers[kind] < most and count_words(text) >= LEAST_WORDS:
                numbers[kind] += 1
                yield kind, text
        words += str(page["main_content"]).split()[:400]
    yield from _made(rnd, words, most)


def _made(rnd: random.Random, words: list[str], most: int) -> Iterator[tuple[str, str]]:
    chain: dict[str, list[str]] = defaultdict(list)
    for one, following in pairwise(words):
        chain[one].append(following)
    plain = [word.strip(".,;:()\"'").lower() for word in words if word.strip(".,;:()\"'").isalpha()]
    for _ in range(most):
        yield "word lists", "\n".join(sorted(rnd.sample(plain, 150)))
        key = rnd.sample(plain, 4)
        yield "keyword spam", ". ".join(" ".join(rnd.sample(key, 3)).capitalize() for _ in range(60)) + "."
        place = [f"The best {key[0]} in {word} is {key[1]} for every {key[2]}." for word in rnd.sample(plain, 25)]
        yield "templates", "\n".join(place)
        word, out = rnd.choice(words), list[str]()
        while len(out) < 200:
            out.append(word)
            word = rnd.choice(chain[word]) if chain[word] else rnd.choice(words)
        yield "chains of words", " ".join(out)


if __name__ == "__main__":
    sys.exit(main())
