"""The batch job: `python -m crawler.spark.job --archive GLOB --output DIR [--set NAME=VALUE …]`.

Archives through the same stages as crawl and replay, on a Spark cluster: every archive is a task, duplicates are found
in rounds in the order of the archives, records are written by Spark. What the driver holds does not grow with them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from crawler.config import Config, ConfigError, declared, from_mapping
from crawler.config.environment import from_environment, problems_of_environment
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import beside, refusals_of
from crawler.dedup.index import DedupError
from crawler.dedup.rounds import find_gone
from crawler.document import HELD_PREFIX
from crawler.spark import latest
from crawler.spark.duplicates import VERDICTS, asks_server, duplicates_of, find_duplicates, texts_of
from crawler.spark.output import FORMAT, WORK, Output
from crawler.spark.partition import (
    FOLDERS,
    Part,
    Unread,
    archive_of,
    claim_of,
    finish_all,
    is_candidate,
    is_kind,
    is_unread,
    judge,
    keyed,
    known,
    order_of,
)
from crawler.spark.session import SparkError, is_retry, spark_context, spark_session, versions_of
from crawler.spark.tables import TEXTS, SparkTables
from crawler.stages import chain
from crawler.storage.archive.places import find
from crawler.storage.corpus.software import versions
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place

MAX_UNREAD = 1_000
"""Unreadable places that the manifest lists; `counts` has the number of all."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a job has done. `unread` are the places where an archive could not be read.

    withdrawn: pages of which nothing was kept because their newest version refuses. replaced: versions of pages that a
    newer one replaces, in whatever archive.
    """

    reasons: dict[str, int]
    unread: tuple[Unread, ...]
    withdrawn: int = 0
    replaced: int = 0

    @property
    def kept(self) -> int:
        """Documents in `kept/`."""
        return self.reasons.get("", 0)

    @property
    def rejected(self) -> int:
        """Documents in `rejected/`."""
        return sum(self.reasons.values()) - self.kept - self.held

    @property
    def held(self) -> int:
        """Documents in `held/`."""
        return sum(count for name, count in self.reasons.items() if name.rpartition("/")[2].startswith(HELD_PREFIX))

    @property
    def missing(self) -> list[str]:
        """One sentence for each archive that could not be read, or not to its end."""
        return [place.what for place in self.unread if place.whole]


def run(context: Any, config: Config, archives: Sequence[str], folder: str) -> Report:
    """Judge the archives on a `SparkContext` and write `folder`; the manifest comes last.

    Raises: StorageError where the folder is taken or cannot be written; DedupError where the duplicate index cannot be
    used.
    """
    from pyspark import StorageLevel

    output = Output(context, folder)
    output.refuse_existing()
    number = max(1, len(archives))
    tasks = context.parallelize(list(enumerate(archives)), number)
    refused = context.broadcast(_refused(config, archives))
    judged = tasks.mapPartitions(partial(judge, config, careful=is_retry, refused=refused)).persist(
        StorageLevel.DISK_ONLY
    )
    unread = tuple(judged.filter(is_unread).collect())  # the first action: here the stages run, in parallel
    duplicates = _duplicates(context, config, judged, output).persist(StorageLevel.DISK_ONLY)
    joined = judged.mapPartitions(latest.visits).leftOuterJoin(duplicates, number)
    pages = joined.map(latest.by_page).groupByKey(number).flatMap(latest.versions_of).persist(StorageLevel.DISK_ONLY)
    others = duplicates.union(pages.flatMap(attrgetter("flags"))).map(_known)
    parts = judged.flatMap(keyed).union(others).repartitionAndSortWithinPartitions(number, archive_of)
    lines = parts.mapPartitions(partial(finish_all, config)).persist(StorageLevel.DISK_ONLY)
    reasons = dict(lines.map(attrgetter("reason")).countByValue())
    withdrawn = pages.filter(attrgetter("withdrawn")).count()
    report = Report(reasons, unread, withdrawn, int(pages.map(attrgetter("stale")).sum()))
    for kind in FOLDERS:
        output.save(lines.filter(partial(is_kind, kind)).map(attrgetter("json")), kind)
    output.save_manifest(manifest_of(config, archives, report) | {"files": output.files()} | _versions(context))
    for kept in (judged, duplicates, pages, lines):
        kept.unpersist()
    output.remove(WORK)
    return report


def _known(pair: tuple[int, Part]) -> tuple[tuple[int, int], Part]:
    return known(*pair)


def _duplicates(context: Any, config: Config, judged: Any, output: Output) -> Any:
    """An RDD of order and verdict of every duplicate."""
    if asks_server(config):
        claims = judged.filter(is_candidate).map(claim_of).toLocalIterator(prefetchPartitions=True)
        return context.parallelize([(order_of(place), one) for place, one in find_duplicates(config, claims).items()])
    session = spark_session(context)
    tables = SparkTables(session, f"{output.folder}/{WORK}", output.remove)
    tables.put("texts", session.createDataFrame(judged.mapPartitions(partial(texts_of, config)), TEXTS))
    find_gone(tables)
    tables.make("verdicts", VERDICTS)
    return session.table("verdicts").rdd.mapPartitions(partial(duplicates_of, config))


def _refused(config: Config, archives: Sequence[str]) -> Refusals:
    """What CORPUS_DIR refuses, and the corpora in which the archives lie. Raises: StorageError."""
    found = {place.url: place for name in archives if (place := beside(name)) is not None}
    return refusals_of([Place(config.crawl.corpus_dir, config.storage.spool_dir), *found.values()])


def manifest_of(config: Config, archives: Sequence[str], report: Report) -> dict[str, Any]:
    """The part of the manifest that the data decides: equal for equal archives and configuration."""
    unread = [{"archive": u.archive, "offset": u.offset, "what": u.what} for u in report.unread[:MAX_UNREAD]]
    return {
        "format": FORMAT,
        "config_digest": config.digest,
        "archives": list(archives),
        "counts": {
            "kept": report.kept,
            "held": report.held,
            "rejected": report.rejected,
            "unread": len(report.unread),
            "withdrawn": report.withdrawn,
            "replaced": report.replaced,
        },
        "reasons": {reason: count for reason, count in report.reasons.items() if reason},
        "unread": unread,
    }


def configure(pairs: Sequence[str]) -> Config:
    """The configuration of `--set NAME=VALUE …`, else of the environment; what is not given has its default.

    Raises: ConfigError listing every unknown name, every unusable value and every missing model at once.
    """
    known = declared()
    values = {"WORKER_ID": "spark"} | from_environment(os.environ, known)
    problems = problems_of_environment(os.environ, known)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in known:
            problems.append(f"--set {pair}: expected NAME=VALUE with a setting of docs/settings.md")
        values[name] = value
    try:
        config = from_mapping(values)
    except ConfigError as error:
        raise ConfigError([*problems, *error.problems]) from None
    if problems := [*problems, *chain.problems(config)]:
        raise ConfigError(problems)
    return config


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job; exit code 0 only when every archive was read and every record is written."""
    options = _parser().parse_args(argv)
    try:
        config, found = configure(options.set), find(options.archive)
        archives = found.archives
        if found.others:
            sys.stderr.write(f"{found.passed_over}\n")
        with spark_context(options.master) as context:
            report = run(context, config, archives, options.output)
    except ConfigError as error:
        return _complain(error.problems)
    except (StorageError, DedupError, SparkError) as error:
        return _complain([str(error)])
    sys.stdout.write(
        f"{len(archives)} archives: {report.kept} documents kept, {report.held} held, {report.rejected} rejected, "
        f"{report.replaced} replaced and {report.withdrawn} pages withdrawn by a later version, "
        f"{len(report.unread)} places unreadable; {options.output}\n"
    )
    return _complain(report.missing) if report.missing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crawler.spark.job", description="Run archives through the stages on a Spark cluster."
    )
    parser.add_argument("--archive", required=True, metavar="GLOB", help="archives: a path, glob or fsspec URL")
    parser.add_argument("--output", required=True, metavar="DIR", help="new folder: a path, hdfs://… or s3a://…")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting; may be repeated")
    parser.add_argument("--master", help="Spark's master; default: spark-submit's, else every core of this machine")
    return parser


def _complain(problems: Sequence[str]) -> int:
    for problem in problems:
        sys.stderr.write(f"error: {problem}\n")
    return 1


def _versions(context: Any) -> dict[str, Any]:
    return {"versions": versions() | versions_of(context)}


if __name__ == "__main__":
    sys.exit(main())
