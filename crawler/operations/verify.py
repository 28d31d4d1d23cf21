"""`gristmill dataset verify CORPUS_DIR`: is the corpus what its manifest says? --fix leaves the newest records."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

from crawler.dataset.beside import notes_beside, outdated, problems_beside
from crawler.dataset.growing import unsealed_note
from crawler.dataset.registry.derived import is_corpus
from crawler.dataset.remote import SILENT_SECONDS, close_runs, open_runs, spooled, unmerged
from crawler.dataset.supersede import command, opted_out_since
from crawler.dataset.verify import FIX, Findings, finish_dead_writers, fix, verify
from crawler.dataset.verify_derived import verify_derived
from crawler.dataset.versions import Cause
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import agreed
from crawler.operations.declared import Load, Work, WrongCall
from crawler.storage.corpus.manifest import merge
from crawler.storage.files.place import LEDGERS, Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, or a folder that was exported or mixed; --fix."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--fix", action="store_true", help="seal what crashed workers left, remove surplus records")
    parser.add_argument("--close-runs", action="store_true", help="with --fix, in an object store: end the runs of "
                        f"workers silent for {SILENT_SECONDS / 60:.0f} minutes")  # fmt: skip
    parser.add_argument("--yes", action="store_true", help="close these runs without asking")


def check(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Hashes, counts, every line, and that each page has one verdict.

    Raises: WrongCall where an option would do nothing; StorageError where there is no corpus.
    """
    if opts.close_runs and not (opts.fix and Place(opts.corpus).remote):
        raise WrongCall("--close-runs goes with --fix and the URL of a corpus in an object store")
    if opts.yes and not opts.close_runs:
        raise WrongCall("--yes answers the question of --close-runs, which was not given")
    if not is_corpus(derived := Place(opts.corpus)):
        return _check_derived(derived, fixes=opts.fix)
    with spooled(Place(opts.corpus)) as place:
        if opts.fix and place.remote and place.listing(LEDGERS):
            merge(place)  # a manifest.json that was lost or torn is written again
        place.manifest()
        if opts.close_runs and (problems := _close(place, yes=opts.yes)):
            return Answer(problems=problems)
        return _check(place, fixes=opts.fix)


def _check(place: Place, *, fixes: bool) -> Answer:
    sealed, removed = finish_dead_writers(place) if fixes else 0, 0
    if sealed:
        sys.stdout.write(f"sealed {number_of(sealed, 'file')} of workers that had crashed\n")
    found = verify(place)
    surplus = found.surplus + found.superseded
    refused = opted_out_since(place) if found.surplus and not found.damage else set[str]()
    if surplus and fixes and not found.damage and not refused:
        removed = fix(place, surplus)
        sys.stdout.write(f"removed {number_of(removed, 'surplus record')}\n")
        found = verify(place)
    if fixes and found.orphaned and not found.damage:
        from crawler.dataset.annotate import Annotations  # late: it needs DuckDB

        Annotations(place).prune(Cause(FIX, "rows of documents that are not in the corpus", time.time()))
        found = verify(place)
    notes, problems = _notes_and_problems(place, found, len(refused))
    return Answer(_facts(found, sealed, removed, notes), notes if problems else [*notes, *_all_right(found)], problems)


def _check_derived(place: Place, *, fixes: bool) -> Answer:
    """Of an export or a mixture: nothing there can be repaired, since nothing has written to it."""
    if fixes:
        raise WrongCall("--fix is for a corpus; an export or a mixture is made again from its sources")
    found = verify_derived(place)
    problems = found.damage + problems_beside(found.beside)
    notes = [f"`gristmill dataset lineage --withdrawn {place.url}` says whether it holds what was withdrawn since"]
    done = [*notes, f"ok: {number_of(found.files, 'file')}, {number_of(found.documents, 'record')}"]
    return Answer(_facts(found, 0, 0, notes), notes if problems else done, problems)


def _facts(found: Findings, sealed: int, removed: int, notes: list[str]) -> dict[str, Any]:
    return {
        "files": found.files,
        "records": found.documents,
        "superseded": len(found.superseded),
        "surplus": len(found.surplus),
        "doubled": found.doubled,
        "expired": dict(zip(("archives", "records"), found.expired, strict=True)),
        "sealed": sealed,
        "removed": removed,
        "notes": notes,
    }


def _notes_and_problems(place: Place, found: Findings, refused: int) -> tuple[list[str], list[str]]:
    """refused: pages that opted out at a later visit and whose text is still there."""
    problems = found.damage + problems_beside(found.beside)
    notes = [*(notes_beside(found.beside) or filter(None, [unsealed_note(place)])), *outdated(place)]
    if place.remote and (late := unmerged(place)):
        at_work = any(run.silent < SILENT_SECONDS for run in open_runs(place))
        (notes if at_work else problems).append(
            f"manifest.json lacks or still lists {number_of(len(late), 'file')}, such as {late[0]}: a worker at work "
            "merges it once a minute; where all have ended, use --fix"
        )
    if refused:
        problems.append(
            f"{number_of(refused, 'page')} opted out at a later visit, and text and raw page are still there: first "
            f"run {command(place)}, which withdraws them; --fix would remove a record alone"
        )
    elif found.surplus and found.doubled == len(found.surplus):
        problems.append(
            f"{number_of(found.doubled, 'surplus record')} of pages that several crawls, archives or visits brought: "
            f"{command(place)} leaves the newest of each page and sets the others aside, --fix removes them"
        )
    elif found.surplus:
        problems.append(f"{number_of(len(found.surplus), 'surplus record')}: each page may be there once; use --fix")
    problems += [f"annotations/{name}: {number_of(count, 'row')} of documents that are not in the corpus; use --fix"
                 for name, count in found.orphaned.items()]  # fmt: skip
    return notes, problems


def _all_right(found: Findings) -> Iterator[str]:
    yield f"ok: {number_of(found.files, 'file')}, {number_of(found.documents, 'record')}, {_once(found)}"
    if found.expired[0]:
        archives, records = found.expired
        come, have = "comes" if records == 1 else "come", "has" if archives == 1 else "have"
        of = f"{number_of(archives, 'archive')} that {have} expired (expired.jsonl)"
        yield f"{number_of(records, 'record')} {come} from {of}"


def _close(place: Place, *, yes: bool) -> list[str]:
    """Show which runs have no end, ask, close those of silent workers."""
    runs = open_runs(place)
    dead = [run for run in runs if run.silent >= SILENT_SECONDS]
    for run in runs:
        will = "will be closed" if run in dead else f"stays open: less than {SILENT_SECONDS:,.0f} s, it may be running"
        sys.stdout.write(f"{run.writer}, started {run.started}: silent for {run.silent:,.0f} s; {will}\n")
    if dead and not (yes or agreed("Are these workers gone for good?")):
        return ["nothing was changed; add --yes to close these runs"]
    if dead:
        sys.stdout.write(f"closed {number_of(len(close_runs(place, dead)), 'run')}\n")
    return []


def _once(found: Findings) -> str:
    """Records that a later one replaces without any fault are counted, so that the numbers add up."""
    if not found.superseded:
        return "each page exactly once"
    left, more = found.documents - len(found.superseded), len(found.superseded)
    verdicts = number_of(more, "verdict that a later visit replaced or that was never final",
                         "verdicts that a later visit replaced or that were never final")  # fmt: skip
    return f"{number_of(left, 'page once', 'pages once each')}, and {verdicts}"


WORK = Work(
    "verify corpus",
    declare,
    check,
    {
        "files": ("integer", "files that the manifest lists"),
        "records": ("integer", "records in them"),
        "superseded": ("integer", "records that a later one replaces without any fault"),
        "surplus": ("integer", "records that should not be there, because each page may be there once"),
        "doubled": ("integer", "those of another visit, crawl or archive than the record that counts"),
        "expired": ("object", "archives that went because of their age, and records that name one"),
        "sealed": ("integer", "files of crashed workers that --fix finished"),
        "removed": ("integer", "records that --fix removed"),
        "notes": ("list of string", "notes that are not faults"),
    },
)
