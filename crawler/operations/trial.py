"""`gristmill dataset trial A B …`: which corpus teaches a model more, with intervals."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.dataset.mix.sources import Counts
    from crawler.observe.report.costs import Prices
    from crawler.trial.held_out import Kind
    from crawler.trial.pack import Wanted
    from crawler.trial.trial import Trial

_LEFT_OUT = {
    "of_a_side": "repeat a text of a side", "repeats": "repeat another", "of_a_domain": "of a domain of a side",
    "empty": "empty", "withdrawn": "withdrawn", "beyond": "more than is asked",
}  # fmt: skip
"""Counts of `Kind`, and what they say of the texts that are not asked."""
NOT_SHOWN = 3
"""Exit code where --not-worse-than does not hold, or cannot be told."""


def declare(parser: argparse.ArgumentParser) -> None:
    """The sides, what is asked, and how much of it."""
    parser.add_argument("sides", nargs="+", metavar="SIDE", help="two or more: CORPUS_DIR, DIR@N, DIR@TAG, or files of "
                        "records; the others are compared with the first")  # fmt: skip
    parser.add_argument("--held-out", action="append", required=True, metavar="PLACE",
                        help="texts that no side has: a corpus, a file of records, or a folder of these or of texts; "
                        "repeatable; two kinds or more")  # fmt: skip
    parser.add_argument("--seeds", type=whole(2), default=5, metavar="N", help="samples of other pages (5)")
    parser.add_argument("--size", type=whole(1_000), default=1_000_000, metavar="BYTES",
                        help="of the largest sample (1000000)")  # fmt: skip
    parser.add_argument("--memory", action="store_true", help="also say how much of a text each side's model recites")
    parser.add_argument("--transformer", metavar="SIZES", help="also let transformers learn: tiny, small or medium, "
                        "several with commas; by equal size (needs torch)")  # fmt: skip
    parser.add_argument("--tokens", type=whole(1), metavar="N", help="bytes that each of them reads (2000000)")
    places = parser.add_mutually_exclusive_group()
    places.add_argument("--work", type=Path, metavar="FOLDER",
                        help="where they keep how far they are: ended, the same command goes on")  # fmt: skip
    places.add_argument("--pack", type=Path, metavar="FOLDER",
                        help="train none; write what another machine needs for it, without a network")  # fmt: skip
    places.add_argument("--answer", type=Path, metavar="FILE", help="train none; read the ANSWER.json of such a pack")
    parser.add_argument("--not-worse-than", type=_bits, metavar="BITS",
                        help=f"exit with {NOT_SHOWN} unless every other side is shown to be worse than the first by no "
                        "more bits a byte than this")  # fmt: skip


def _bits(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < 8.0:
        raise argparse.ArgumentTypeError(f"expected bits a byte from 0 to 8, such as 0.01, not {text!r}")
    return number


def compare(opts: argparse.Namespace, load: Load) -> Answer:
    """Learn, ask, compare. Raises: WrongCall, ConfigError, InputError, StorageError."""
    from crawler.trial.trial import run

    if len(opts.sides) < 2:
        raise WrongCall("expected two sides or more: the first is what the others are compared with")
    transformer = _transformer(opts)
    begin, config = time.process_time(), load()
    with reading() as show_status:
        amount = {"seeds": opts.seeds, "size": opts.size, "memory": opts.memory}
        found = run(opts.sides, opts.held_out, config, **amount, transformer=transformer, progress=show_status)
    problems = [] if opts.not_worse_than is None else list(_outside(found, opts.not_worse_than))
    packed = str(opts.pack) if opts.pack else None
    answer = Answer(
        _facts(found, config) | {"packed": packed}, _lines(found, packed), problems, NOT_SHOWN if problems else None
    )
    _tell_cost(time.process_time() - begin, config)
    return answer


def _transformer(opts: argparse.Namespace) -> Wanted | None:
    from crawler.trial.pack import SIZES, TOKENS, Wanted

    if opts.transformer is None:
        given = (name for name in ("tokens", "work", "pack", "answer") if getattr(opts, name) is not None)
        if name := next(given, None):
            raise WrongCall(f"--{name} is for transformers: add --transformer tiny")
        return None
    sizes = tuple(dict.fromkeys(opts.transformer.split(",")))
    if unknown := next((size for size in sizes if size not in SIZES), None):
        raise WrongCall(f"--transformer: no size is called {unknown!r}; there are {', '.join(SIZES)}")
    return Wanted(sizes, opts.tokens or TOKENS, work=opts.work, pack=opts.pack, answer=opts.answer)


def _tell_cost(seconds: float, config: Config) -> None:
    """On standard error: the answer is the same every time, and this is not."""
    prices = _prices(config)
    money = f", {prices.cpu_hour * seconds / 3600:.4f} {prices.currency}" if prices.cpu_hour else ""
    sys.stderr.write(f"the trial took {seconds:,.1f} CPU seconds{money}\n")


def _prices(config: Config) -> Prices:
    from crawler.observe.report.costs import Prices

    return Prices.of(config.report)


def _outside(found: Trial, bits: float) -> Iterator[str]:
    for one in found.overall:
        if one.found.high <= bits:
            continue
        shown = f"{one.found.low:+.4f} to {one.found.high:+.4f} bits a byte, by {one.how}"
        if one.found.low > bits:
            yield f"{one.side}: is worse than {one.first} by more than {bits:g}: {shown}"
        else:
            yield (
                f"{one.side}: is not shown to be worse than {one.first} by {bits:g} at most: {shown}; raise --size or "
                "--seeds, or give more held-out texts"
            )


def _facts(found: Trial, config: Config) -> dict[str, Any]:
    from crawler.observe.report.costs import spent_by

    prices = _prices(config)
    made = {
        place.url: spent_by([run["counters"] for run in place.manifest()["runs"]], prices) for place in found.corpora
    }
    sides = []
    for side in found.sides:
        spent = made.get(side.name.partition("@")[0])
        counts = {"documents": side.counts.read, "withdrawn": side.counts.withdrawn, "empty": side.counts.empty}
        cost = {"cpu_seconds": spent.cpu_seconds if spent else None, "cost": spent.cost if spent else None}
        why = [
            {"why": why, "corpus": corpus, "documents": count} for (why, corpus), count in side.counts.why.most_common()
        ]
        sides.append(
            {
                "name": side.name,
                **counts,
                "why": why,
                "texts": side.texts,
                "pages": len(side.pages),
                "bytes": side.size,
                **cost,
            }
        )
    return {
        "sides": sides,
        "held_out": [_kind(kind, found.rare[kind.name]) for kind in found.kinds],
        "same_pages": found.same_pages,
        "seeds": found.seeds,
        "figures": [figure.as_dict() for figure in found.figures],
        "compared": [one.as_dict() for one in found.compared],
        "recited": [one.as_dict() for one in found.recited],
        "weak": found.weak,
    }


def _kind(kind: Kind, rare: float) -> dict[str, Any]:
    left = {name: getattr(kind, name) for name in (*_LEFT_OUT, "no_domain", "shortened")}
    said = {"kind": kind.name, "read": kind.read, "asked": len(kind.asked), "bytes": kind.size}
    return said | left | {"unreadable": kind.unreadable, "rare": round(rare, 5)}


def _left_out(counts: Counts) -> str:
    """How many documents of a side are not learned from, and why."""
    why = [f"{count:,} {words} in {corpus}" for (words, corpus), count in counts.why.most_common()]
    why += [f"{counts.empty:,} without a text"] * bool(counts.empty)
    return f" (left out: {'; '.join(why)})" if why else ""


def _lines(found: Trial, packed: str | None) -> Iterator[str]:
    for side in found.sides:
        texts, pages = number_of(side.texts, "text"), number_of(len(side.pages), "page")
        yield f"{side.name}: {texts} of {pages}, {number_of(side.size, 'byte')}{_left_out(side.counts)}"
    for kind in found.kinds:
        counts = {words: getattr(kind, name) for name, words in _LEFT_OUT.items()} | {"not UTF-8": len(kind.unreadable)}
        why = "; ".join(f"{count:,} {words}" for words, count in counts.items() if count)
        texts = number_of(len(kind.asked), "text")
        yield f"held out, {kind.name}: {texts}, {kind.size:,} bytes" + (f" (left out: {why})" if why else "")
    pages = "the same pages on all sides" if found.same_pages else "the sides have other pages"
    yield f"{found.seeds} seeds; {pages}"
    yield from map(str, found.compared)
    yield f"in bits a byte more than {found.sides[0].name}: more is worse; 95 % of the intervals hold the truth"
    for said in found.recited:
        planted = ", ".join(f"{share:.0%} planted {times} ×" for times, share in said.planted.items())
        own = ", ".join(
            f"{share:.0%} of {number_of(count, 'page')} {words}"
            for share, count, words in (
                (said.once, said.pages, "without copies"),
                (said.several_times, said.repeated, "with copies"),
            )
            if share is not None
        )
        yield f"recited by {said.side}: {planted}; {own or 'nothing of its own was looked at'}"
    if packed is not None:
        yield f"packed in {packed}: run python transformer.py there, then this command with --answer for --pack"
    yield from (f"weak: {one}" for one in found.weak)


WORK = Work(
    "trial --held-out texts --seeds 2 before.jsonl after.jsonl",
    declare,
    compare,
    {
        "sides": (
            "list of object",
            "name, documents, withdrawn, empty, why (of the withdrawn: why, such as opted out or expired, the corpus "
            "that says so, documents), texts, pages, bytes; cpu_seconds and cost of the crawl, null where not "
            "counted",
        ),
        "held_out": (
            "list of object",
            "kind, read, asked, bytes; what was left out: empty, withdrawn, unreadable (names), of_a_side, repeats (of "
            "another), of_a_domain (of a side), beyond (more than is asked); no_domain and shortened are asked; rare: "
            "share of its bytes that are of characters which not every sample has",
        ),
        "same_pages": ("boolean", "whether the sides were made of the same pages, by their URLs"),
        "seeds": ("integer", "samples of each side, no page in two of them"),
        "figures": (
            "list of object",
            "model (characters, or the size of the transformer), by (equal size or pages), kind, side, mean and bits "
            "(a byte, by seed), bytes and pages (of each sample)",
        ),
        "compared": (
            "list of object",
            "model, by, kind, side, than; value, low, high (bits a byte more; 95 %); verdict: better, worse, not "
            "separable",
        ),
        "recited": (
            "list of object",
            "with --memory: side, planted (share by how often), once and several_times (shares of its own pages "
            "without and with copies, or null), pages and repeated (how many of these)",
        ),
        "packed": ("string or null", "with --pack: the folder that was written"),
        "weak": ("list of string", "why the answer may be weak"),
    },
)
