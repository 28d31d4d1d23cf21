"""`gristmill dataset log | show | tag | lineage FOLDER`: versions, what they were made of, and who holds a document."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work, WrongCall

if TYPE_CHECKING:
    from crawler.dataset.registry.holdings import Trace
    from crawler.storage.corpus.registry import Version

SHORT = 12
"""Characters of a hash that are shown."""
MOST_SHOWN = 200
"""Characters of a fact of a page's origin that are shown."""


def _declare_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="CORPUS_DIR, or what export or mix wrote; or its URL")


def _declare_show(parser: argparse.ArgumentParser) -> None:
    _declare_folder(parser)
    parser.add_argument("version", nargs="?", default="", metavar="VERSION", help="hash or tag; default: the current")


def _declare_tag(parser: argparse.ArgumentParser) -> None:
    _declare_folder(parser)
    parser.add_argument("name", metavar="NAME", help="a letter, then letters, digits, '.', '_' and '-'")
    parser.add_argument("version", nargs="?", default="", metavar="VERSION", help="hash or tag; default: the current")
    parser.add_argument("--move", action="store_true", help="let it name another version from now on")


def _declare_lineage(parser: argparse.ArgumentParser) -> None:
    _declare_folder(parser)
    parser.add_argument("page", nargs="?", default="", metavar="URL", help="a page, by URL or doc_id: back and forward")
    parser.add_argument("--domain", metavar="D[,D]", default="", help="forward: these domains with their subdomains")
    parser.add_argument("--withdrawn", action="store_true", help="forward: everything that was withdrawn")
    parser.add_argument(
        "--also-in", dest="more", action="append", default=[], metavar="FOLDER",
        help="look here, too; repeatable (folders that the registry knows are followed anyway)",
    )  # fmt: skip


def _log(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Raises: StorageError."""
    from crawler.dataset.registry.find import newest_first
    from crawler.storage.corpus.registry import Registry
    from crawler.storage.files.place import Place

    place = Place(opts.folder)
    found, tags = newest_first(place), Registry(place).tags()
    names = {v["sha256"]: [t["name"] for t in tags.values() if t["sha256"] == v["sha256"]] for v in found}
    versions = [version | {"tags": names[version["sha256"]]} for version in found]
    return Answer({"versions": versions}, (_line(version, names[version["sha256"]]) for version in found))


def _show(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Raises: StorageError."""
    from crawler.dataset.registry.find import named
    from crawler.storage.files.place import Place

    version = named(Place(opts.folder), opts.version)
    return Answer({name: version.get(name) for name in VERSION}, _details(version))


def _tag(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Raises: StorageError."""
    from crawler.dataset.registry.find import named
    from crawler.storage.corpus.registry import Registry
    from crawler.storage.files.place import Place
    from crawler.times import rfc3339

    place = Place(opts.folder)
    version, registry = named(place, opts.version), Registry(place)
    registry.add(version)
    registry.set_tag(opts.name, version["sha256"], time=rfc3339(time.time()), move=opts.move)
    facts = {"name": opts.name, "sha256": version["sha256"]}
    return Answer(facts, [f"{opts.name} names {version['sha256'][:SHORT]}"])


def _lineage(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Back to the archive, forward to every version. Raises: WrongCall, StorageError."""
    from crawler.dataset.entries import Wanted
    from crawler.dataset.registry.holdings import trace
    from crawler.observe.withdrawn import left_to_do
    from crawler.urls.canonicalize import canonicalize

    if bool(opts.page) + bool(opts.domain) + opts.withdrawn != 1:
        raise WrongCall("expected one of URL (or doc_id), --domain and --withdrawn")
    names = frozenset({opts.page, canonicalize(opts.page) or opts.page} if opts.page else ())
    wanted = Wanted(names, frozenset(name.strip().lower() for name in opts.domain.split(",") if name.strip()))
    with reading() as show_status:
        found = trace(opts.folder, opts.more, wanted, progress=lambda folder: show_status(f"reading {folder}"))
    origin = _origin(opts)
    facts = {
        "origin": origin,
        "folders": found.folders,
        "versions": found.versions,
        "unread": found.unread,
        "holdings": [holding.as_dict() for holding in found.holdings],
        "raw": [{"folder": raw.folder, "path": raw.path, "pages": raw.pages} for raw in found.raw],
    }
    lines = [*_origin_lines(origin), *_trace_lines(found)]
    return Answer(facts, lines, list(left_to_do(found)))


def _origin(opts: argparse.Namespace) -> dict[str, Any] | None:
    from crawler.dataset.registry.origin import origin_of
    from crawler.storage.files.place import Place

    return origin_of(Place(opts.folder), opts.page) if opts.page else None


def _line(version: Version, tags: Sequence[str]) -> str:
    parents = ", ".join(_parent(parent) for parent in version["parents"])
    counts = ", ".join(f"{count:,} {name}" for name, count in version["counts"].items() if name != "bytes")
    named = f" [{', '.join(tags)}]" if tags else ""
    head = f"{version['sha256'][:SHORT]}{named} {version['time'] or 'no time'}"
    made_of = f" of {parents}" if parents else ""
    return f"{head} {version['operation']}{made_of}: {counts}"


def _parent(parent: Any) -> str:
    where = {".": "", "": " of a place not known"}.get(parent["place"], f" in {parent['place']}")
    return f"{parent['sha256'][:SHORT]}{where}"


def _details(version: Version) -> Iterator[str]:
    yield f"version {version['sha256']}"
    yield f"made by {version['operation']} at {version['time'] or 'a time not known'}"
    yield from (f"parent {parent['sha256']} {parent['place']}" for parent in version["parents"])
    for name in ("parameters", "counts", "software"):
        yield f"{name} {orjson.dumps(version[name]).decode()}"
    yield from (f"configuration {digest}" for digest in version["config_digests"])
    yield from (f"{each['path']} {each['sha256']} {each['documents']:,}" for each in version["files"])


def _origin_lines(origin: dict[str, Any] | None) -> Iterator[str]:
    for name, value in (origin or {}).items():
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        yield f"{name}: {text if len(text) <= MOST_SHOWN else f'{text[:MOST_SHOWN]} … (all of it: --json)'}"


def _trace_lines(found: Trace) -> Iterator[str]:
    yield f"Read: {number_of(found.versions, 'version')} in {number_of(len(found.folders), 'folder')}"
    for each in found.holdings:
        now = "current" if each.stands else "an older version"
        tags = f" [{', '.join(each.tags)}]" if each.tags else ""
        yield f"{each.folder} {each.version['sha256'][:SHORT]}{tags} ({each.version['operation']}, {now})"
        for held in each.files:
            gone = f", {held.withdrawn:,} of them withdrawn" if held.withdrawn else ""
            documents = number_of(held.documents, "document")
            yield f"  {held.path}: {documents}{gone}, {number_of(held.decisions, 'decision')} without text"
    if not found.holdings:
        yield "no version holds any of it"


VERSION: Fields = {
    "format": ("string", "format of this description"),
    "sha256": ("string", "hash of the version: its name"),
    "manifest": ("string", "hash of the manifest"),
    "number": ("integer or null", "number of a version of a corpus, counted by its manifest"),
    "runs": ("integer or null", "runs of the crawl by then"),
    "operation": ("string", "what made it"),
    "time": ("string or null", "when, RFC 3339"),
    "parents": ("list of object", "sha256 and place of what it was made of"),
    "parameters": ("object", "of the operation"),
    "software": ("object", "versions of the software; empty where they were not recorded"),
    "config_digests": ("list of string", "digests of the configurations"),
    "counts": ("object", "documents, words, bytes and others"),
    "files": ("list of object", "path, sha256 and documents of each file"),
}
"""Fields of a version."""
LOG = Work(
    "log corpus",
    _declare_folder,
    _log,
    {"versions": ("list of object", "the newest first: the fields of dataset-show, with tags, its names")},
)
SHOW = Work("show corpus", _declare_show, _show, VERSION)
TAG = Work(
    "tag corpus release-1",
    _declare_tag,
    _tag,
    {"name": ("string", "the tag"), "sha256": ("string", "hash of the version that it names")},
)
LINEAGE = Work(
    "lineage --domain example.org corpus",
    _declare_lineage,
    _lineage,
    {
        "origin": (
            "object or null",
            "of a page: its record, its archive, what was measured; null: no page was named",
        ),
        "folders": ("list of string", "folders that were read"),
        "versions": ("integer", "versions that were read"),
        "unread": ("list of string", "sentences about what could not be read, so that nothing is proven about it"),
        "holdings": (
            "list of object",
            "folder, sha256, operation, number, stands, tags, files of each that holds it",
        ),
        "raw": ("list of object", "folder, path and pages of archives with withdrawn pages"),
    },
)
