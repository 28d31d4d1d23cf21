"""The batch job: `python -m crawler.spark.job --archive GLOB | --documents PATH … --output DIR [--set NAME=VALUE …]`.

Archives and files of documents through the same stages as crawl and replay, on a Spark cluster: every file is a task,
duplicates are found in rounds in the order of the files, and tasks write the shards of the corpus that comes of it.
What the driver holds grows with the files, not with the documents.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from tempfile import TemporaryDirectory
from typing import Any

from crawler.config import Config, ConfigError, declared, from_mapping
from crawler.config.environment import from_environment, problems_of_environment
from crawler.dataset.outside import check_apart
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.supersede import endings_in
from crawler.dedup.index import DedupError
from crawler.dedup.rounds import find_gone
from crawler.document import RECORD_FIELDS
from crawler.policy.facts import judging_facts_of
from crawler.spark import latest
from crawler.spark.duplicates import VERDICTS, asks_server, duplicates_of, find_duplicates, texts_of
from crawler.spark.inputs import ARCHIVED, Inputs, absolute, inputs_of
from crawler.spark.output import DRAFTS, Output, counts_of, write_parts
from crawler.spark.partition import (
    Part,
    Read,
    Refused,
    archive_of,
    claim_of,
    finish_all,
    is_candidate,
    is_read,
    judge,
    keyed,
    known,
    order_of,
)
from crawler.spark.session import SparkError, is_retry, remove, removed, spark_context, spark_session, versions_of
from crawler.spark.tables import TEXTS, SparkTables
from crawler.stages import chain
from crawler.storage.archive.places import Found
from crawler.storage.corpus.manifest import start_run
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.sources import beside
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import HELD, MANIFEST, REJECTED, SHARDS, Place
from crawler.storage.types import Run

MOST_UNREAD = 1_000
"""Files that could not be read, which the manifest names; the report has all."""
_CONNECTED = ("hdfs", "viewfs", "file")
"""Schemes that every Spark writes to by itself."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a job has done. counts: records by folder; unread: why a file could not be read to its end, for each.

    withdrawn: pages of which nothing was kept because their newest version refuses. replaced: versions of pages that a
    newer one replaces, in whatever file.
    """

    counts: Mapping[str, int]
    unread: tuple[str, ...]
    withdrawn: int = 0
    replaced: int = 0

    @property
    def held(self) -> int:
        """Documents that wait for a person."""
        return sum(count for folder, count in self.counts.items() if folder.startswith(f"{HELD}/"))

    def counters(self) -> dict[str, int]:
        """As the run in the manifest has them."""
        found = {"kept": self.counts.get(SHARDS, 0), "rejected": self.counts.get(REJECTED, 0), "held": self.held}
        found |= {"replaced": self.replaced, "withdrawn": self.withdrawn, "unread": len(self.unread)}
        return {name: count for name, count in sorted(found.items()) if count}


def run(context: Any, config: Config, inputs: Inputs, place: Place, work: str) -> Report:
    """Judge the files on a `SparkContext` and make a corpus of what they hold; the manifest comes last.

    work: a folder that Spark writes tables to; it goes at the end.
    Raises: StorageError where the folder is taken or cannot be written; DedupError where the duplicate index cannot be
    used. Then no corpus is there.
    """
    from pyspark import StorageLevel

    given = [Place(url) for url in inputs.corpora]
    near = {found.url: found for each in inputs.files if each.kind == ARCHIVED and (found := beside(each.name))}
    sources = [source for source in near.values() if source.load_json(MANIFEST) is not None]
    for source in [*given, *sources]:
        check_apart(place, source)
    own = Place(config.crawl.corpus_dir, config.storage.spool_dir)
    asked = list({each.url: each for each in [own, *near.values(), *given, *map(Place, inputs.derived)]}.values())
    started, number = time.time(), len(inputs.files)
    with Output(place, asked, sources, given) as output, removed(context, work):
        tasks = context.parallelize(list(enumerate(inputs.files)), number)
        said = context.broadcast(_refused(asked, given))
        judging = partial(judge, config, careful=is_retry, refused=said, fields=inputs.fields)
        judged = tasks.mapPartitions(judging).persist(StorageLevel.DISK_ONLY)
        read = judged.filter(is_read).collect()  # the first action: here the stages run, in parallel
        duplicates = _duplicates(context, config, judged, work).persist(StorageLevel.DISK_ONLY)
        joined = judged.mapPartitions(latest.visits).leftOuterJoin(duplicates, number)
        pages = joined.map(latest.by_page).groupByKey(number).flatMap(latest.versions_of)
        pages = pages.persist(StorageLevel.DISK_ONLY)
        others = duplicates.union(pages.flatMap(attrgetter("flags"))).map(_known)
        parts = judged.flatMap(keyed).union(others).repartitionAndSortWithinPartitions(number, archive_of)
        lines = parts.mapPartitions(partial(finish_all, config))
        written = lines.mapPartitions(partial(write_parts, place.url, config.storage)).collect()
        withdrawn = pages.filter(attrgetter("withdrawn")).count()
        unread = tuple(each.unread for each in read if each.unread)
        report = Report(counts_of(written), unread, withdrawn, int(pages.map(attrgetter("stale")).sum()))
        writer = f"{config.crawl.crawl_id}-{config.crawl.worker_id}"
        made = _run(context, config, started, read, report)
        made["archives"] = {**inputs.archives, **made["archives"]}
        output.stand(writer, made, written)
        for kept in (judged, duplicates, pages):
            kept.unpersist()
    return report


def _known(pair: tuple[int, Part]) -> tuple[tuple[int, int], Part]:
    return known(*pair)


def _duplicates(context: Any, config: Config, judged: Any, work: str) -> Any:
    """An RDD of order and verdict of every duplicate."""
    if asks_server(config):
        claims = judged.filter(is_candidate).map(claim_of).toLocalIterator(prefetchPartitions=True)
        return context.parallelize([(order_of(place), one) for place, one in find_duplicates(config, claims).items()])
    session = spark_session(context)
    tables = SparkTables(session, work, partial(remove, context))
    tables.put("texts", session.createDataFrame(judged.mapPartitions(partial(texts_of, config)), TEXTS))
    find_gone(tables)
    tables.make("verdicts", VERDICTS)
    return session.table("verdicts").rdd.mapPartitions(partial(duplicates_of, config))


def _refused(asked: Sequence[Place], given: Sequence[Place]) -> Refused:
    """What may not be written: what these folders refuse. given: corpora whose documents are read.

    Raises: StorageError.
    """
    refusals = refusals_of(asked)
    for place in given:
        for record in endings_in(place):
            refusals.end(record)
    refusals.expired.clear()  # what is only too old in one of them is no matter of the others
    return Refused(refusals, {place.url: Refusals(expired=refusals_of([place]).expired) for place in given})


def _run(context: Any, config: Config, started: float, read: Sequence[Read], report: Report) -> Run:
    """What the manifest says of this job: a replay's facts, and the versions of Spark and Java."""
    crawl = config.crawl
    made = start_run(
        started, crawl_id=crawl.crawl_id, worker_id=crawl.worker_id, config_digest=config.digest,
        judging_digest=config.judging_digest, judging_parts=config.judging_parts, policy=judging_facts_of(config),
        kind="replay",
    )  # fmt: skip
    made["counters"] = report.counters()
    made["versions"] = versions() | versions_of(context)
    made["archives"] = {each.name: each.sha256 for each in read if each.sha256}
    made["origins"] = {each.name: each.origin for each in read if each.origin}
    made["unread"] = {each.name: each.unread for each in [one for one in read if one.unread][:MOST_UNREAD]}
    return made


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


def fields_of(pairs: Sequence[str]) -> dict[str, str]:
    """`--field OURS=THEIRS …`. Raises: ConfigError naming every pair that is none."""
    split = [pair.partition("=") for pair in pairs]
    problems = [
        f"--field {ours}{equals}{theirs}: expected OURS=THEIRS with a field of docs/record.md, text=content for one"
        for ours, equals, theirs in split
        if ours not in RECORD_FIELDS or not theirs
    ]
    if problems:
        raise ConfigError(problems)
    return {ours: theirs for ours, _, theirs in split}


def work_folder(output: str, work: str | None) -> str:
    """A new folder that Spark can write to. Raises: StorageError where none is given and DIR is no such place."""
    scheme, is_url, _ = output.partition("://")
    if work is not None:
        folder = f"{absolute(work)}/spark-{uuid.uuid4().hex}"
    elif not is_url or scheme in _CONNECTED:
        folder = f"{output}/{DRAFTS}/tables"
    else:
        raise StorageError(
            f"{output}: Spark itself may have no connector for {scheme}://; name a folder that all nodes mount, or an "
            "hdfs:// URL, for its tables with --work"
        )
    return folder if "://" in folder else f"file://{folder}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job; exit code 0 only when every file was read and every record is written."""
    options = _parser().parse_args(argv)
    try:
        config, output = configure(options.set), absolute(options.output)
        inputs = inputs_of(options.archive, options.documents, fields_of(options.field))
        work = work_folder(output, options.work)
        if inputs.others:
            sys.stderr.write(f"{Found([], list(inputs.others)).passed_over}\n")
        with ExitStack() as stack:
            spool = config.storage.spool_dir
            if "://" in output and spool is None:
                spool = stack.enter_context(TemporaryDirectory(prefix="corpus-spool-"))
            context = stack.enter_context(spark_context(options.master))
            report = run(context, config, inputs, Place(output, spool), work)
    except ConfigError as error:
        return _complain(error.problems)
    except (StorageError, DedupError, SparkError) as error:
        return _complain([str(error)])
    counted = report.counters()
    sys.stdout.write(
        f"{len(inputs.files)} files: {counted.get('kept', 0)} documents kept, {report.held} held, "
        f"{counted.get('rejected', 0)} rejected, {report.replaced} replaced and {report.withdrawn} pages withdrawn by "
        f"a later version, {len(report.unread)} files unreadable; {output}\n"
    )
    return _complain(report.unread) if report.unread else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crawler.spark.job", description="Make a corpus of archives and documents on a Spark cluster."
    )
    add = partial(parser.add_argument, action="append", default=[])
    add("--archive", metavar="PLACE", help="archives: a path, glob or fsspec URL; may be repeated")
    add("--documents", metavar="PATH", help="a corpus, or a file or folder of JSON lines or Parquet; may be repeated")
    add("--field", metavar="OURS=THEIRS", help="what other people's documents call a field; may be repeated")
    add("--set", metavar="NAME=VALUE", help="a setting; may be repeated")
    parser.add_argument("--output", required=True, metavar="DIR", help="new corpus: a folder or fsspec URL")
    parser.add_argument("--work", metavar="DIR", help="for tables that Spark writes; default: in the output")
    parser.add_argument("--master", help="Spark's master; default: spark-submit's, else every core of this machine")
    return parser


def _complain(problems: Sequence[str]) -> int:
    for problem in problems:
        sys.stderr.write(f"error: {problem}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
