"""Edited copies: found, and taken for one wrongly: `python -m bench.quality.edited [--read] [--time 100000]`.

Texts of ../shared/data: what people marked as main text, what the project extracts from pages that have no mark, and
sentences of 75 languages in documents of ten. The longest texts of a group (English, others) are cut in two until there
are 2,600. Of every eighth text of 60 words or more a copy is made: its sentences shuffled,
then 5, 20 or 40 % of its words dropped (in scripts without spaces of its pieces of two or four characters), by a fixed
seed. Printed by group: copies found, and pairs of texts none of which is a copy: with their 5-word Jaccard below .2
they are wrong. `--read` prints the beginnings of such pairs. `--time N` writes N texts of drawn words, one in twenty an
edited copy, into a corpus in a temporary folder, and prints CPU seconds and peak memory of the search.
"""

from __future__ import annotations

import argparse
import heapq
import io
import random
import re
import resource
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

import orjson
import zstandard

from bench.places import SHARED_DATA
from crawler.config import LanguageConfig, from_mapping
from crawler.dataset.semantic import COSINE, bars, find
from crawler.dataset.tfidf import Vectors
from crawler.document import Document
from crawler.stages.chain import Chain
from crawler.stages.fingerprint import exact_id
from crawler.stages.language.stage import LanguageStage
from crawler.stages.text.units import tokens
from crawler.stages.text.words import count_words
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of

MARKED = {
    "wcxb-dev.jsonl.zst": "main_content",
    "pages-dev/news.jsonl.zst": "truth",
    "pages-dev/forums.jsonl.zst": "truth",
    "pages-dev/blogs-2012.jsonl.zst": "truth",
}
EXTRACTED = ("pages-dev/dates.jsonl.zst", "readability-pages.jsonl.zst")
LEAST, MANY = 60, 2_600
DROPPED = (0.05, 0.2, 0.4)
WRONG = 0.2
_SENTENCE = re.compile(r"[^.!?。！？।\n]+[.!?。！？।]*\s*")


def lines(name: str) -> Iterator[dict[str, str]]:
    with (SHARED_DATA / name).open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        yield from (orjson.loads(line) for line in io.BufferedReader(reader))


def raw_texts() -> Iterator[str]:
    for name, field in MARKED.items():
        yield from (line[field] or "" for line in lines(name))
    chain = Chain(from_mapping({"EXTRACTION_MIN_WORDS": 20}), ("parse", "extraction"))
    pages = [line["html"].encode() for name in EXTRACTED for line in lines(name)]
    with tarfile.open(SHARED_DATA / "extraction" / "pages.tar.gz") as archive:
        pages += [file.read() for member in archive if (file := archive.extractfile(member)) is not None]
    for number, page in enumerate(pages):
        url = f"https://example.org/{number}"
        doc = Document(url, canonical_url=url, html=page, content_type="text/html", text_allowed=True)
        yield chain.run(doc, ("parse", "extraction")).text
    by_language = defaultdict(list)
    for line in (SHARED_DATA / "languages" / "sentences.tsv").read_text().splitlines():
        language, _, sentence = line.partition("\t")
        by_language[language].append(sentence)
    for said in by_language.values():
        yield from ("\n".join(said[at : at + 10]) for at in range(0, len(said), 10))


def halves(text: str) -> list[str]:
    """The text cut in two at the sentence in its middle."""
    sentences = _SENTENCE.findall(text)
    ends = list(accumulate(map(len, sentences)))
    middle = min(range(1, len(sentences)), key=lambda at: abs(2 * ends[at - 1] - ends[-1]), default=0)
    return ["".join(sentences[:middle]), "".join(sentences[middle:])]


def many(whole: list[str]) -> list[str]:
    """At least `MANY` different texts: the longest one is cut in two until there are so many."""
    heap = [(-len(text), text) for text in whole]
    heapq.heapify(heap)
    while len(heap) < MANY:
        for half in halves(heapq.heappop(heap)[1]):
            heapq.heappush(heap, (-len(half), half))
    return sorted(text for _, text in heap)


def texts() -> dict[str, list[str]]:
    """By group: different texts of the data."""
    stage, found, seen = LanguageStage(LanguageConfig()), defaultdict(list), set()
    for text in raw_texts():
        doc = Document("", text=text)
        if count_words(text) < LEAST or (key := exact_id(text)) in seen:
            continue
        seen.add(key)
        stage(doc)
        found["English" if doc.language == "en" else "others"].append(text)
    for group, whole in found.items():
        found[group] = many(whole)
        print(f"{group}: {len(whole):,} texts of pages, as {len(found[group]):,} texts")
    return found


def edited(text: str, dropped: float, rng: random.Random) -> str:
    sentences = _SENTENCE.findall(text)
    rng.shuffle(sentences)
    mixed = " ".join(sentence.strip() for sentence in sentences)
    units, joiner, factor = tokens(mixed)
    if joiner:
        return " ".join(word for word in mixed.split() if rng.random() >= dropped)
    size, joined = 2 * factor, "".join(units)
    pieces = (joined[at : at + size] for at in range(0, len(joined), size))
    return "".join(piece for piece in pieces if rng.random() >= dropped)


def jaccard(one: str, two: str) -> float:
    first, second = (
        {tuple(units[at : at + 5]) for at in range(max(1, len(units) - 4))}
        for units in (tokens(one)[0], tokens(two)[0])
    )
    return len(first & second) / len(first | second)


def measure(group: str, known: list[str], read: bool) -> None:
    for dropped in DROPPED:
        rng = random.Random(f"{group}{dropped}")
        chosen = range(0, len(known), 8)
        both = [*known, *(edited(known[number], dropped, rng) for number in chosen)]
        planted = {(number, len(known) + at) for at, number in enumerate(chosen)}
        cpu = time.process_time()
        with Vectors() as vectors:
            for text in both:
                vectors.add(text)
            near = {(pair.first, pair.second): pair.cosine for pair in vectors.near(bars(COSINE))}
        cpu = time.process_time() - cpu
        found = planted & near.keys()
        others = {pair for pair in near if pair[1] < len(known)}
        wrong = {pair for pair in others if jaccard(known[pair[0]], known[pair[1]]) < WRONG}
        print(
            f"{group}: {dropped:.0%} dropped, {len(found):,} of {len(planted):,} copies found "
            f"({len(found) / len(planted):.4f}); of {len(known):,} texts {len(others):,} other pairs, {len(wrong):,} "
            f"wrong; {cpu / len(both) * 1000:.2f} CPU ms a text"
        )
        for one, two in sorted(wrong) if read and dropped == DROPPED[0] else ():
            print(f"  {near[one, two]:.3f}\n    {known[one][:300]!r}\n    {known[two][:300]!r}")


def word(number: int) -> str:
    """A word of its own for each number, in letters: digits are alike to what compares texts."""
    letters = ""
    while number:
        number, letter = divmod(number, 26)
        letters += chr(97 + letter)
    return letters


def timed(number: int) -> None:
    """Words by Zipf's law, 300 to 700 a text; a topic gives each text words that few others have."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(from_mapping({"CORPUS_DIR": folder, "WORKER_ID": "bench"}))
        corpus.open()
        rng, recent = random.Random(1), ""
        for at in range(number):
            if at % 20 == 19:
                text = edited(recent, 0.3, rng)
            else:
                drawn = [word(int(3 * 1.5e6 ** rng.random())) for _ in range(rng.randint(300, 700))]
                text = recent = ". ".join(" ".join(drawn[i : i + 12]) for i in range(0, len(drawn), 12))
            url = f"https://site{at % 997}.example/{at}"
            corpus.keep(record_of(Document(url, canonical_url=url, text=text, doc_id=str(at), crawl_id="bench")))
            if at % 1_000 == 0:
                corpus.commit()
        corpus.close()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cpu = time.process_time()
        found = find(Place(folder))
        cpu = time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{found.documents:,} documents, {found.copies:,} copies ({number // 20:,} planted): {cpu:.1f} CPU s, "
            f"peak {peak:,.0f} MiB ({before:,.0f} before)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--read", action="store_true", help="print the beginnings of wrong pairs")
    parser.add_argument("--time", type=int, metavar="N", help="documents of a corpus that is only timed")
    options = parser.parse_args()
    if options.time:
        timed(options.time)
        return
    for group, known in texts().items():
        measure(group, known, options.read)


if __name__ == "__main__":
    main()
