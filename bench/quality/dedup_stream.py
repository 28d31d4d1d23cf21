"""A labelled stream of near duplicates: real pages, seeded edits, the true similarity of every pair.

Nothing of the pages is kept in the repository: the stream is made again from the pages and a seed. The true similarity
is the Jaccard similarity of the shingle sets (`bench/quality/shingles.py`), computed from the sets themselves.
"""

from __future__ import annotations

import random
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.quality.shingles import shingles
from bench.web.pages import html_files
from bench.web.realweb import unpacked
from crawler.config import DedupConfig, ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.fingerprint import FingerprintStage
from crawler.stages.parse.stage import ParseStage
from crawler.stages.text.units import tokens

Paragraphs = list[str]
Edit = Callable[[Paragraphs, random.Random, Paragraphs], Paragraphs]
"""(paragraphs, randomness, paragraphs of another page) -> edited paragraphs; how hard it edits is left to chance."""


@dataclass(frozen=True, slots=True)
class Fingerprinted:
    """A text of the stream with what the index asks for, and its shingles as a set."""

    url: str
    doc_id: str
    signature: bytes
    shingles: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """A page, an edited copy of it, and how similar they are."""

    edit: str
    original: Fingerprinted
    copy: Fingerprinted
    jaccard: float


def jaccard(left: Fingerprinted, right: Fingerprinted) -> float:
    """|A ∩ B| / |A ∪ B| of the shingles; 0 for two texts without any."""
    common = len(left.shingles & right.shingles)
    return common / max(1, len(left.shingles) + len(right.shingles) - common)


class Fingerprinter:
    """The project's own fingerprint stage, with the shingles kept."""

    def __init__(self, config: DedupConfig) -> None:
        self._stage = FingerprintStage(config)
        self._words = config.shingle_words

    def __call__(self, url: str, text: str) -> Fingerprinted:
        doc = Document(url=url, text=text)
        self._stage(doc)
        units, joiner, factor = tokens(text)
        return Fingerprinted(url, doc.doc_id, doc.signature, frozenset(shingles(units, joiner, self._words * factor)))


# --- edits: what happens to a page on its way to a mirror ------------------------------------------------------------
def words_replaced(paragraphs: Paragraphs, rnd: random.Random, other: Paragraphs) -> Paragraphs:
    """Single words, up to one in twelve, replaced by words of another page."""
    spare, share = " ".join(other).split() or ["word"], rnd.uniform(0.0, 1 / 12) ** 1.3
    return [" ".join(rnd.choice(spare) if rnd.random() < share else w for w in p.split()) for p in paragraphs]


def words_dropped(paragraphs: Paragraphs, rnd: random.Random, _other: Paragraphs) -> Paragraphs:
    """Single words left out."""
    share = rnd.uniform(0.0, 1 / 15)
    return [" ".join(w for w in p.split() if rnd.random() >= share) for p in paragraphs]


def paragraphs_dropped(paragraphs: Paragraphs, rnd: random.Random, _other: Paragraphs) -> Paragraphs:
    """Whole paragraphs left out."""
    share = rnd.uniform(0.0, 0.5)
    return [p for p in paragraphs if rnd.random() >= share] or paragraphs[:1]


def paragraphs_added(paragraphs: Paragraphs, rnd: random.Random, other: Paragraphs) -> Paragraphs:
    """Paragraphs of another page in between."""
    result, share = list(paragraphs), rnd.uniform(0.0, 0.6)
    for p in other:
        if rnd.random() < share:
            result.insert(rnd.randrange(len(result) + 1), p)
    return result


def boilerplate(paragraphs: Paragraphs, rnd: random.Random, other: Paragraphs) -> Paragraphs:
    """The same header and footer around the page, as a mirror puts it there."""
    block = " ".join(other).split()
    size = rnd.randrange(5, 120)
    return [" ".join(block[:size]), *paragraphs, " ".join(block[-size:])]


def reordered(paragraphs: Paragraphs, rnd: random.Random, _other: Paragraphs) -> Paragraphs:
    """The same paragraphs in another order."""
    return rnd.sample(paragraphs, len(paragraphs))


def numbers_changed(paragraphs: Paragraphs, rnd: random.Random, _other: Paragraphs) -> Paragraphs:
    """Every digit another one, and one word replaced."""
    table = str.maketrans("0123456789", "".join(rnd.sample("0123456789", 10)))
    result = [p.translate(table) for p in paragraphs]
    return ["changed " + result[0].partition(" ")[2], *result[1:]]


def truncated(paragraphs: Paragraphs, rnd: random.Random, _other: Paragraphs) -> Paragraphs:
    """Cut off after 40 to 100 % of the words."""
    words = [word for p in paragraphs for word in [*p.split(), "\n"]]
    kept = " ".join(words[: max(1, round(len(words) * rnd.uniform(0.4, 1.0)))])
    return kept.split("\n")


EDITS: dict[str, Edit] = {
    edit.__name__: edit
    for edit in (words_replaced, words_dropped, paragraphs_dropped, paragraphs_added, boilerplate, reordered,
                 numbers_changed, truncated)
}  # fmt: skip


def pairs(texts: Iterable[str], config: DedupConfig, copies: int, seed: int = 1) -> Iterator[Pair]:
    """Every page with `copies` edited copies; kinds of edit take turns, two of them on every third copy.

    Pairs with a text of under `min_shingles` shingles are left out: it is compared exactly only.
    """
    prints, kinds = Fingerprinter(config), list(EDITS)
    pages = [[line for line in text.split("\n") if line.strip()] for text in texts]
    for number, page in enumerate(pages):
        original = prints(f"http://original.example/{number}", "\n".join(page))
        for copy in range(copies):
            rnd = random.Random(f"{seed}/{number}/{copy}")
            chosen = [kinds[(number + copy) % len(kinds)]] + ([rnd.choice(kinds)] if copy % 3 == 2 else [])
            edited = page
            for name in chosen:
                edited = EDITS[name](edited, rnd, pages[rnd.randrange(len(pages))])
            made = prints(f"http://copy{copy}.example/{number}", "\n".join(edited))
            if min(len(original.shingles), len(made.shingles)) >= config.min_shingles:
                yield Pair("+".join(chosen), original, made, jaccard(original, made))


# --- short texts -----------------------------------------------------------------------------------------------------
def end_added(words: list[str], rnd: random.Random, spare: list[str]) -> list[str]:
    """A word in front or at the end: the same text with a scrap of its page."""
    return [rnd.choice(spare), *words] if rnd.random() < 0.5 else [*words, rnd.choice(spare)]


def one_word_replaced(words: list[str], rnd: random.Random, spare: list[str]) -> list[str]:
    """One word in the middle: a template filled in with another name."""
    at = rnd.randrange(len(words) // 4, 3 * len(words) // 4)
    return [*words[:at], rnd.choice(spare), *words[at + 1 :]]


def three_words_replaced(words: list[str], rnd: random.Random, spare: list[str]) -> list[str]:
    """Three words anywhere: certainly about something else."""
    places = set(rnd.sample(range(len(words)), 3))
    return [rnd.choice(spare) if i in places else word for i, word in enumerate(words)]


SHORT_EDITS = {edit.__name__: edit for edit in (end_added, one_word_replaced, three_words_replaced)}


def short_pairs(texts: list[str], config: DedupConfig, low: int, high: int, seed: int = 1) -> Iterator[Pair]:
    """The beginning of every page, low to high words long, each with every one of `SHORT_EDITS`."""
    prints = Fingerprinter(config)
    for number, text in enumerate(texts):
        rnd = random.Random(f"{seed}/{number}/{low}")
        words, spare = text.split()[: rnd.randrange(low, high)], texts[rnd.randrange(len(texts))].split()
        original = prints(f"http://original.example/{number}", " ".join(words))
        for name, edit in SHORT_EDITS.items():
            made = prints(f"http://{name}.example/{number}", " ".join(edit(words, rnd, spare)))
            yield Pair(name, original, made, jaccard(original, made))


# --- pages -----------------------------------------------------------------------------------------------------------
def extraction_pages(data: Path) -> Iterator[bytes]:
    """The HTML of the public extraction test set (`pages.tar.gz` in `data`), in the order of their names."""
    with tarfile.open(data / "pages.tar.gz") as archive:
        for member in sorted((m for m in archive if m.isfile()), key=lambda m: m.name):
            if (file := archive.extractfile(member)) is not None:
                yield file.read()


def package_pages(names: Iterable[str], seed: int = 1) -> Iterator[bytes]:
    """The HTML of documentation packages (`bench/web/realweb.py`), shuffled."""
    for file in html_files(*map(unpacked, names), seed=seed):
        yield file.read_bytes()


def texts_of(pages: Iterable[bytes], limit: int, min_words: int = 150) -> list[str]:
    """Main texts of the first `limit` pages that have enough words, no two the same."""
    parse, extract = ParseStage(), ExtractionStage(ExtractionConfig(extractor="resiliparse", min_words=min_words))
    found: dict[str, None] = {}
    for html in pages:
        doc = Document(url="http://page.example/", html=html, content_type="text/html")
        if isinstance(parse(doc), Document) and isinstance(extract(doc), Document):
            found.setdefault(doc.text)
        if len(found) == limit:
            break
    return list(found)
