"""What leaves a corpus leaves the data sets of images that were made of it: samples, rows' words, bytes.

By page, by the URL of an image, or by a host: a withdrawn host takes its images and those on its pages. The same for
pages that later visits replaced or found gone, for those past their lifetime, and for hosts whose licence has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler.dataset.exclude import note_images
from crawler.dataset.lifetimes import Lifetimes
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.registry.derived import note_draft, tell_sources
from crawler.dataset.withdrawals import ImageLine, covers, log_lines, reach_of, undone
from crawler.images.build import counted, rows_of, tar_without, write_row_files
from crawler.images.fit import fit_without, forget_answers
from crawler.images.folder import MANIFEST, TARS, Folder
from crawler.images.grants import grants_of, refusal_of
from crawler.images.outcomes import KEPT, PAGE_GONE, WITHDRAWN
from crawler.images.pdq import MIN_QUALITY
from crawler.images.prints import Prints
from crawler.images.rows import Row, without_text
from crawler.llm.pages import Pages
from crawler.storage.corpus.answers import withdrawn_in_batches
from crawler.storage.corpus.registry import Registry, place_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.times import rfc3339
from crawler.urls.canonicalize import canonicalize

OPERATION = "dataset images"


@dataclass(slots=True)
class Left:
    """Of one folder. samples: that left it. problem: a sentence, where it could not be looked at.

    batches: of `gristmill llm caption`, under way, that hold such images at their provider: the job and the count of
    requests, by id.
    """

    folder: str
    samples: int = 0
    problem: str = ""
    batches: Mapping[str, tuple[str, int]] = field(default_factory=dict)


def folders_of(place: Place) -> list[Path]:
    """The folders of images that the registry of a corpus knows, in the order of their paths. Raises: StorageError."""
    children = Registry(place).children()
    return sorted({Path(place_of(place.url, each["place"])) for each in children if each["operation"] == OPERATION})


def domains_with_images(place: Place, domains: Collection[str]) -> set[str]:
    """Which of these domains have an image in one of these folders, kept or not: no record of a page says that."""
    found: set[str] = set()
    for folder in map(Folder, folders_of(place) if domains else ()):
        for row in rows_of(folder, folder.manifest() or {"files": []}):
            found |= {one for one in set(domains) - found if row["url"] and covers(frozenset({one}), row["url"])}
    return found


def images_among(place: Place, urls: Collection[str]) -> dict[str, str]:
    """Which of these URLs are of an image that one of these folders has, or has a copy of, with the folder.

    Raises: StorageError.
    """
    names, found = {canonicalize(url) or url: url for url in urls}, dict[str, str]()
    for folder in map(Folder, folders_of(place) if urls else ()):
        for row in rows_of(folder, folder.manifest() or {"files": []}):
            if row["url"] and (url := names.get(canonicalize(row["url"]) or row["url"])) is not None:
                found[url] = str(folder.root)
    return found


def withdraw_from_images(place: Place, lifetimes: Lifetimes, *, now: float) -> list[Left]:
    """Take what this corpus refuses, or has no more, out of every such folder that its registry knows.

    What stands for a withdrawn image is noted first: its copies go, too, whichever folder and address they have.
    """
    folders, prints = folders_of(place), list[ImageLine]()
    for folder in folders:
        with suppress(StorageError):  # `_left` says it
            prints += _prints_in(Folder(folder), place)
    if prints:
        note_images(place, prints)
    refused = refusals_of([place])
    return [_left(place, folder, refused, lifetimes, now) for folder in folders]


def _prints_in(folder: Folder, place: Place) -> Iterator[ImageLine]:
    """What stands for the images of a folder that this corpus refuses by their own address or host.

    Those of a withdrawn page may stand on others, too, which nobody named. Raises: StorageError.
    """
    lines = list(log_lines(place))
    gone = undone(lines)
    wishes = {line["number"]: line for line in lines if line["kind"] == "withdrawal"}
    numbers = {number for number, wish in wishes.items() if number not in gone and reach_of(wish) == "text"}
    if not numbers:
        return
    refused, fates = Refusals(), folder.ledger.read()
    refused.add((line for line in lines if line["kind"] == "undo" or line["number"] in numbers), place.url)
    for url in dict.fromkeys(row["url"] for row in rows_of(folder, folder.manifest() or {"files": []}) if row["url"]):
        name = canonicalize(url) or url
        fate = fates.get(name)
        if fate is None or fate.outcome != KEPT or not fate.facts:
            continue
        if (refusal := refused.refusal(name)) is not None:
            facts = fate.facts
            yield {
                "kind": "image",
                "number": refusal.number,
                "digests": sorted({facts["sha256"], facts["original_sha256"]}),
                "pdq": facts["pdq"] if facts["quality"] >= MIN_QUALITY else "",
            }


def _left(place: Place, root: Path, refused: Refusals, lifetimes: Lifetimes, now: float) -> Left:
    folder, found = Folder(root), Left(str(root))
    try:
        if folder.manifest() is None:
            found.problem = (
                f"{root}: a data set of images was written there and is missing; if it was moved, run "
                f"`gristmill dataset images {place.url} --out` with its new place"
            )
            return found
        with folder.at_work():
            found.samples = withdraw_from(folder, refused, place, lifetimes, now=now)
            found.batches = withdrawn_in_batches(Place(str(root)))
    except StorageError as error:
        found.problem = (
            f"{root}: {error}; images that have to leave may still be in it; then run "
            f"`gristmill dataset exclude {place.url} --again`"
        )
    return found


def withdraw_from(folder: Folder, refused: Refusals, place: Place, lifetimes: Lifetimes, *, now: float) -> int:
    """Samples that left. The folder is at work for the caller. Raises: StorageError."""
    manifest = folder.manifest()
    assert manifest is not None
    granted, prints = grants_of(manifest), Prints(refused)
    gone, pages = dict[str, str](), dict[tuple[str, str], list[str]]()  # outcome by key; keys by page and text
    for row in rows_of(folder, manifest):
        if row["outcome"] != KEPT:
            continue
        facts = {**row, "quality": row["pdq_quality"] or 0}
        if refused.refusal(row["url"], canonical_url=row["page_url"]) is not None or prints.has(facts):
            gone[row["key"]] = WITHDRAWN
        elif refusal := refusal_of(granted, row["url"], row["final_url"]):
            gone[row["key"]] = refusal
        else:
            pages.setdefault((row["page_url"], row["doc_id"]), []).append(row["key"])
    for record in Pages(place, None, lifetimes, now).read() if pages else ():
        pages.pop((str(record.get("canonical_url") or record["url"]), str(record["doc_id"])), None)
    gone |= {key: PAGE_GONE for keys in pages.values() for key in keys}
    folder.forget_waiting()
    if not gone:
        return 0
    forget_answers(folder, (row["url"] for row in rows_of(folder, manifest) if row["key"] in gone))
    tars = [entry for entry in manifest["files"] if entry["path"].startswith(f"{TARS}/")]
    files = [each for entry in tars for each in tar_without(folder, entry, frozenset(gone), lambda *_: None)]
    outcomes: Counter[str] = Counter()
    files += write_row_files(folder, _rows(folder, manifest, gone, outcomes))
    files += fit_without(folder, manifest, lambda key: key not in gone)
    said: dict[str, Any] = {"files": files, "outcomes": dict(sorted(outcomes.items())), "counts": counted(outcomes)}
    folder.commit({**manifest, **said, "time": rfc3339(now)})
    note(folder, place, now=now)
    return len(gone)


def _rows(folder: Folder, manifest: dict[str, Any], gone: dict[str, str], outcomes: Counter[str]) -> Iterator[Row]:
    for row in rows_of(folder, manifest):
        made = without_text(row, gone[row["key"]]) if row["key"] in gone else row
        outcomes[made["outcome"]] += 1
        yield made


def note(folder: Folder, place: Place, *, now: float) -> None:
    """The version that stands, in the folder's registry and in that of the corpus. Raises: StorageError."""
    manifest = folder.manifest()
    assert manifest is not None
    sources = {manifest["source"]["manifest_sha256"]: place.url if place.remote else str(Path(place.url).resolve())}
    version = note_draft(folder.root, str(folder.root.resolve()), MANIFEST, sources, now=now)
    tell_sources(str(folder.root.resolve()), version, sources)
