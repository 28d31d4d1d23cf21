"""`gristmill dataset held list | release | confirm CORPUS_DIR`: look at held pages, keep them or reject them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crawler.dataset.held import Choice, confirm, release, waiting
from crawler.dataset.rewrite import corpus_place
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.rewrite_report import tell_outdated
from crawler.storage.files.place import HELD_KINDS
from crawler.storage.files.records import held_kind

if TYPE_CHECKING:
    from crawler.storage.files.records import Record


def declare(parser: argparse.ArgumentParser) -> None:
    """What to do, with which pages, and why."""
    parser.add_argument("what", choices=("list", "release", "confirm"), help="show, keep, or reject without text")
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--kind", choices=HELD_KINDS, default="", help="only pages that are held for this")
    parser.add_argument("--url", action="append", default=[], metavar="URL", help="this page; repeatable")
    parser.add_argument("--domain", metavar="D[,D]", default="", help="pages of these domains with their subdomains")
    parser.add_argument("--language", metavar="L[,L]", default="", help="pages in these languages, such as de,es")
    parser.add_argument("--all", action="store_true", help="every held page")
    parser.add_argument("--reason", metavar="TEXT", default="", help="why, for the lineage of the corpus")


def held(opts: argparse.Namespace, load: Load) -> Answer:
    """Raises: WrongCall, ConfigError, StorageError."""
    chosen = bool(opts.url or opts.domain or opts.language)
    if opts.what != "list" and (opts.all == chosen or not opts.reason):
        raise WrongCall(
            f"{opts.what}: name the pages with --url, --domain or --language, or all of them with --all, and give a "
            "--reason: it stays in the lineage of the corpus"
        )
    choice = Choice(opts.kind, frozenset(opts.url), _names(opts.domain), _names(opts.language))
    with corpus_place(opts.corpus, load().storage.spool_dir) as place:
        found = [_row(record) for record in waiting(place, choice)]
        if opts.what == "list" or not found:
            return _answer(found, opts.what, None, _unknown(choice, found))
        act = release if opts.what == "release" else confirm
        done = act(place, choice, now=time.time(), reason=opts.reason)
        tell_outdated(place)
    return _answer(found, opts.what, done.version, _unknown(choice, found))


def _answer(found: list[dict[str, Any]], what: str, version: int | None, problems: list[str]) -> Answer:
    done = {"list": "held", "release": "released", "confirm": "confirmed and rejected"}[what]
    pages = f"{number_of(len(found), 'page')} {done}" + (f", version {version}" if version else "")
    shown = [
        f"{row['url']}  {row['language']}  {number_of(row['word_count'], 'word')}  {row['detail']}" for row in found
    ]
    return Answer({"pages": found, "corpus_version": version}, [*shown, pages], problems)


def _unknown(choice: Choice, found: Iterable[dict[str, Any]]) -> list[str]:
    """A sentence for each URL that is not held: nobody shall believe that it was decided on."""
    held_urls = {name for row in found for name in (row["url"], row["canonical_url"])}
    return [
        f"{url}: no held page has this URL; `dataset held list` shows them" for url in sorted(choice.urls - held_urls)
    ]


def _row(record: Record) -> dict[str, Any]:
    return {
        "url": record["url"],
        "canonical_url": record.get("canonical_url") or record["url"],
        "kind": held_kind(record["reason"]),
        "detail": record.get("detail") or "",
        "language": record.get("language") or "unknown",
        "word_count": record["word_count"],
        "title": record.get("title"),
        "crawled_at": record.get("crawled_at"),
    }


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in text.split(",") if name.strip())


WORK = Work(
    "held list corpus",
    declare,
    held,
    {
        "pages": (
            "list of object",
            "url, canonical_url, kind, detail, language, word_count, title, crawled_at of each",
        ),
        "corpus_version": ("integer or null", "version that was made; null: nothing was changed"),
    },
)
