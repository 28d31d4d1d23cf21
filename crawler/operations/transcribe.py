"""`gristmill dataset transcribe CORPUS_DIR --name NAME --command 'PROGRAM {file}'`: texts of files without one."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crawler.number import duration, number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.dataset.transcribe import Transcribed, Transcription

_SECONDS, _MEMORY = 120, 4_096


def declare(parser: argparse.ArgumentParser) -> None:
    """The corpus, the annotation, the program with its limits, and which files."""
    add = parser.add_argument
    add("corpus", metavar="CORPUS_DIR")
    add("--name", required=True, metavar="NAME", help="of the annotation: a-z, then a-z, 0-9 and _")
    add("--command", required=True, metavar="'PROGRAM {file}'", help="prints the text of a file as UTF-8 and ends with "
        "exit code 0; {file} is its path; no shell")  # fmt: skip
    add("--code", default="", metavar="TEXT", help="program and version, for the job record; another one reads all "
        "files anew (hashes of the files that the command names)")  # fmt: skip
    add("--reason", default="needs_ocr", metavar="R[,R]", help="files that were rejected for these reasons (needs_ocr)")
    add("--kind", default="", metavar="K[,K]", help="of these kinds only, such as pdf (any)")
    add(
        "--seconds", type=whole(1), default=_SECONDS, metavar="N", help=f"that the program may take a file ({_SECONDS})"
    )
    add("--memory", type=whole(64), default=_MEMORY, metavar="MIB", help=f"that it may have ({_MEMORY})")
    add("--concurrency", type=whole(1), default=1, metavar="N", help="programs at a time (1)")
    add("--again", action="store_true", help="try files anew at which the program failed")
    add("--dry-run", action="store_true", help="count the files; start nothing")


def transcribe(opts: argparse.Namespace, load: Load) -> Answer:
    """Read, judge, annotate. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.dataset.annotate import check_name
    from crawler.dataset.program import Program
    from crawler.dataset.rewrite import corpus_place
    from crawler.dataset.transcribe import REASONS, Transcription, Wanted
    from crawler.storage.files.columns import arrow

    reasons, kinds = (frozenset(filter(None, text.split(","))) for text in (opts.reason, opts.kind))
    if strange := sorted(reasons.difference(REASONS)):
        raise WrongCall(f"--reason {strange[0]}: expected some of {', '.join(REASONS)}")
    check_name(opts.name)
    arrow()
    config = load()
    program = Program(opts.command, float(opts.seconds), opts.memory * 2**20, opts.code)
    with corpus_place(opts.corpus, config.storage.spool_dir) as place:
        work = Transcription(place, opts.name, program, Wanted(reasons, kinds), config, time.time(), opts.again,
                             opts.concurrency)  # fmt: skip
        with reading() as progress:
            files = work.waiting()
            if opts.dry_run:
                return Answer(NOTHING | {"files": files, **_counted(work.done)}, [*_lines(work, files)])
            numbers = iter(range(1, files + 1))
            done = work.run(lambda: progress(f"file {next(numbers):,} of {files:,}"))
    facts = {"files": files, "rows": done.rows, "reasons": dict(done.reasons), "duplicates": done.duplicates,
             "program_seconds": round(done.seconds, 3), "corpus_version": done.version} | _counted(done)  # fmt: skip
    return Answer(NOTHING | {"name": opts.name} | facts, [*_lines(work, files)], [*_problems(done)])


def _counted(done: Transcribed) -> dict[str, Any]:
    return {"known": done.known, "left_out": dict(done.left_out)}


def _lines(work: Transcription, files: int) -> Iterator[str]:
    done = work.done
    if done.version is None:
        yield f"{number_of(files, 'file')} for the program"
    else:
        yield (f"{work.name}: {number_of(done.rows, 'row')} in {duration(done.seconds)} of the program; version "
               f"{done.version} of the corpus")  # fmt: skip
    for reason, count in done.reasons.most_common():
        yield f"  {count:>7,} {reason or 'with a text that passes the stages'}{_meaning(reason)}"
    if done.duplicates:
        yield f"{number_of(done.duplicates, 'text')} that another page has (dup_of)"
    if done.known:
        yield f"{number_of(done.known, 'file')} with a row by this program already"
    for why, count in sorted(done.left_out.items()):
        yield f"{number_of(count, 'file')} left out: {why}"


def _meaning(reason: str) -> str:
    from crawler.dataset.program import FAILURES

    return f": {FAILURES[reason]}" if reason in FAILURES else ""


def _problems(done: Transcribed) -> Iterator[str]:
    from crawler.dataset.program import FAILURES
    from crawler.dataset.transcribe import GONE, IN_A_ROW

    failed = sum(count for reason, count in done.reasons.items() if reason in FAILURES)
    if failed:
        said = f" (it said {done.said!r})" if done.said else ""
        yield f"{number_of(failed, 'file')} without a text, for the program failed{said}; --again tries them anew"
    if done.failing:
        yield f"the program failed at the first {IN_A_ROW} files, so it was given no more; try it by hand"
    if missing := done.left_out[GONE]:
        more = f" and {missing - len(done.unread):,} more" if missing > len(done.unread) else ""
        yield f"{number_of(missing, 'file')} not read: {GONE} ({', '.join(done.unread)}{more})"


FIELDS: Fields = {
    "name": ("string or null", "the annotation"),
    "files": ("integer", "files that were for the program"),
    "rows": ("integer", "of the annotation that were written now, each in place of an earlier one of its file"),
    "reasons": ("object", "files that were read now, by `reason`; an empty one: its text passes the stages"),
    "duplicates": ("integer", "of these, with a text that another page has"),
    "known": ("integer", "files that had a row by this program already"),
    "left_out": ("object", "files that the program was not given, or whose row was not written, by why"),
    "program_seconds": ("number", "that the program took"),
    "corpus_version": ("integer or null", "version of the corpus now; null: no row was written"),
}
NOTHING: dict[str, Any] = {
    "name": None,
    **dict.fromkeys(("files", "rows", "duplicates", "known", "program_seconds"), 0),
}
NOTHING |= {"reasons": {}, "left_out": {}, "corpus_version": None}
WORK = Work("transcribe corpus --name ocr --command 'sh ocr.sh {file}'", declare, transcribe, FIELDS)
