"""`gristmill dataset images CORPUS_DIR --out DIR`: image and text pairs of the pages that are kept."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.common import reading, refuse_url
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from collections import Counter

    from crawler.images.build import Built
    from crawler.images.folder import Folder
    from crawler.images.limits import Limits
    from crawler.images.references import References
    from crawler.storage.files.place import Place

_POLL_SECONDS, _REST = 30.0, 9.0
"""Between two looks at a corpus that is being crawled: seconds at least, and times as long as the look took."""
ELSEWHERE = "of another domain"
_ROUNDS = 2
"""How often images are asked for in one call: once more where a duplicate takes the place of what left."""


def declare(parser: argparse.ArgumentParser) -> None:
    """The corpus, the folder, and the limits."""
    add = parser.add_argument
    add("corpus", metavar="CORPUS_DIR")
    add("--out", metavar="DIR", help="folder of the data set; the same command continues in it")
    add("--allowlist", metavar="FILE", help="ask only hosts that this file grants (all hosts but the withdrawn ones)")
    add("--domain", metavar="D[,D]", default="", help="only of pages of these domains with their subdomains")
    add(
        "--follow",
        action="store_true",
        help="beside a crawl: go on with the pages that it keeps, behind its own requests, until its runs have ended",
    )
    add("--min-side", type=whole(1), default=200, metavar="PIXELS", help="of the shorter side (200)")
    add("--min-bytes", type=whole(1), default=5_000, metavar="N", help="of a file (5000)")
    add("--max-aspect", type=float, default=3.0, metavar="N", help="longer side by shorter side (3)")
    add("--max-pixels", type=whole(1), default=50_000_000, metavar="N", help="width × height (50000000)")
    add("--exif", action="store_true", help="keep how a picture was taken; never position, owner or serial numbers")
    add("--dry-run", action="store_true", help="count the images that the pages name, by rule; ask for none")


def images(opts: argparse.Namespace, load: Load) -> Answer:
    """Name, ask, decode, write. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.dataset.lifetimes import Lifetimes
    from crawler.dataset.rewrite import corpus_place
    from crawler.dataset.withdrawals import covers
    from crawler.images.decode import library
    from crawler.images.limits import Limits
    from crawler.images.references import References
    from crawler.llm.pages import Pages
    from crawler.storage.files.columns import arrow

    if not opts.dry_run and opts.out is None:
        raise WrongCall("--out: expected the folder of the data set; --dry-run needs none")
    if opts.dry_run and opts.follow:
        raise WrongCall("--follow goes without --dry-run")
    refuse_url(opts.out)
    if not opts.max_aspect >= 1:
        raise WrongCall("--max-aspect: expected a number from 1 up")
    library()
    arrow()
    config = load()
    limits = Limits(max_pixels=opts.max_pixels, min_side=opts.min_side, min_bytes=opts.min_bytes,
                    max_aspect=opts.max_aspect, exif=opts.exif, domains=_domains(opts.domain))  # fmt: skip
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        now = time.time()
        lifetimes, domains = Lifetimes.of(config.storage.document_ttl_days), frozenset(limits.domains)
        unwanted = lambda record: "" if not domains or covers(domains, record["url"]) else ELSEWHERE  # noqa: E731
        pages = Pages(place, None, lifetimes, now, unwanted=unwanted)
        references = References(pages, config)
        if opts.dry_run:
            return _counted(references)
        return _made(place, opts, limits, references)


def _domains(text: str) -> list[str]:
    from crawler.frontier.exclusion import domain_named

    named = {name: domain_named(name) for name in text.split(",") if name.strip()}
    if wrong := [name for name, domain in named.items() if domain is None]:
        raise WrongCall(f"--domain {wrong[0]}: expected a domain such as example.org")
    return sorted({domain for domain in named.values() if domain})


def _counted(references: References) -> Answer:
    from collections import Counter

    from crawler.images.outcomes import WAITING
    from crawler.images.references import without_common

    with reading() as progress:
        said = lambda pages: progress(f"reading page {pages:,}")  # noqa: E731
        counts = Counter(one.refusal or WAITING for one in without_common(lambda: references.read(said)))
    facts = NOTHING | {"pages": references.read_pages, "outcomes": dict(counts), "left_out": dict(references.left_out)}
    return Answer(facts, list(_lines(references, counts)))


def _made(place: Place, opts: argparse.Namespace, limits: Limits, references: References) -> Answer:
    from crawler.images.folder import Folder

    folder = Folder(Path(opts.out))
    with folder.at_work():
        _check_limits(folder, limits)
        removed = added = 0
        while True:
            began, goes_on = time.monotonic(), opts.follow and _is_crawled(place)
            built, moved, code = _brought_up(place, folder, opts, limits, references)
            removed, added = removed + moved[0], added + moved[1]
            if code or not goes_on:
                break
            time.sleep(max(_POLL_SECONDS, _REST * (time.monotonic() - began)))
    return _answer(opts, references, built, (removed, added), code)


def _is_crawled(place: Place) -> bool:
    """True while a run of the corpus has not ended."""
    return any(run["ended"] is None for run in place.manifest()["runs"])


def _brought_up(
    place: Place, folder: Folder, opts: argparse.Namespace, limits: Limits, references: References
) -> tuple[Built, tuple[int, int], int]:
    """What stands now, the samples that left and came, and the exit code of the process that asked."""
    from crawler.images.references import without_common
    from crawler.images.withdraw import note

    references.now = now = time.time()
    with reading() as progress:
        said = lambda pages: progress(f"reading page {pages:,}")  # noqa: E731
        folder.write_references(without_common(lambda: references.read(said)))
    removed = added = 0
    for _ in range(_ROUNDS):
        code = _ask(folder, opts, limits)
        built, forgotten = _build(place, folder, opts, limits, now)
        removed, added = removed + built.removed, added + built.added
        if code or not forgotten:
            break
    folder.forget_waiting()
    note(folder, place, now=now)
    return built, (removed, added), code


def _build(
    place: Place, folder: Folder, opts: argparse.Namespace, limits: Limits, now: float
) -> tuple[Built, list[str]]:
    from crawler.dataset.registry.behind import refusals_of
    from crawler.images.build import Build
    from crawler.storage.corpus.version import manifest_hash

    source = {"manifest_sha256": manifest_hash(place), "version": place.manifest().get("version", 1)}
    build = Build(folder, limits, refusals_of([place]), source, now, allowlist=opts.allowlist)
    return build.run(), build.forgotten


def _check_limits(folder: Folder, limits: Limits) -> None:
    """One data set has one set of limits. Raises: InputError."""
    from crawler.problems import InputError

    before = folder.work / "limits.json"
    said, usual = limits.as_json(), type(limits)().as_json()
    if before.exists():
        known = usual | json.loads(before.read_text("utf-8"))
        if differ := [name for name in said if known.get(name) != said[name]]:
            raise InputError([
                f"{folder.root}: was begun with {', '.join(f'{name} {known.get(name)}' for name in differ)}; give "
                "these again, or another --out"
            ])  # fmt: skip
    else:
        from crawler.storage.files.journal import replace_file

        replace_file(before, json.dumps(said).encode())


def _ask(folder: Folder, opts: argparse.Namespace, limits: Limits) -> int:
    """Exit code of the process that asks: a crawl with the settings of this command. None is begun for nothing."""
    if next(folder.unasked(folder.ledger.read()), None) is None:
        return 0
    call = [sys.executable, "-m", "crawler.commands.gristmill", "crawl", "images", "-a", f"folder={folder.root}",
            "-a", f"limits={json.dumps(limits.as_json())}"]  # fmt: skip
    call += ["-a", f"allowlist={opts.allowlist}"] if opts.allowlist else []
    call += ["-a", "behind=pages"] if opts.follow else []
    for pair in (f"CORPUS_DIR={opts.corpus}", *opts.set):
        call += ["-s", pair]
    process = subprocess.Popen(call, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S603  # our program
    try:
        return process.wait()
    except BaseException:
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise


def _answer(
    opts: argparse.Namespace, references: References, built: Built, moved: tuple[int, int], code: int
) -> Answer:
    from crawler.images.outcomes import BY_RULE

    counts = built.counts
    facts = NOTHING | {
        "out": opts.out,
        "pages": references.read_pages,
        "references": counts.total(),
        "samples": built.manifest["counts"]["documents"],
        "removed": moved[0],
        "added": moved[1],
        "outcomes": dict(sorted(counts.items())),
        "left_out": dict(references.left_out),
    }
    problems = [f"not every image was asked for (exit code {code}); the same command goes on"] if code else []
    forbidden = sum(count for outcome, count in counts.items() if outcome.startswith("guard"))
    if forbidden and forbidden == sum(count for outcome, count in counts.items() if outcome not in BY_RULE):
        problems.append(
            f"no image came: {number_of(forbidden, 'reference')} to addresses that the network guard forbids; where "
            "the network is your own, run the same command again with -s NETWORK_ALLOW=… -s NETWORK_PORTS=…"
        )
    first = (f"{opts.out}: {number_of(facts['samples'], 'image')} of {number_of(counts.total(), 'reference')}; "
             f"{moved[1]:,} came, {moved[0]:,} left")  # fmt: skip
    return Answer(facts, [first, *_lines(references, counts)], problems)


def _lines(references: References, counts: Counter[str]) -> Iterator[str]:
    from crawler.images.outcomes import meaning

    yield f"{number_of(references.read_pages, 'page')} read"
    for why, count in sorted(references.left_out.items()):
        yield f"  {number_of(count, 'page')} left out: {why}"
    for outcome, count in counts.most_common():
        yield f"  {count:>7,} {outcome}: {meaning(outcome)}"


FIELDS: Fields = {
    "out": ("string or null", "the folder"),
    "pages": ("integer", "kept, current pages that were read"),
    "references": ("integer", "images that these pages name, each as often as it is named"),
    "samples": ("integer", "images in the data set now"),
    "added": ("integer", "of these, that came now"),
    "removed": ("integer", "images that left: their page, URL or host is withdrawn, or says something else"),
    "outcomes": ("object", "references by what became of each; they add up"),
    "left_out": ("object", "pages that offer no images, by reason"),
}
NOTHING: dict[str, Any] = {"out": None, **dict.fromkeys(("pages", "references", "samples", "added", "removed"), 0)}
NOTHING |= {"outcomes": {}, "left_out": {}}
WORK = Work("images corpus --out pairs", declare, images, FIELDS)
