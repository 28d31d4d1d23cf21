"""What the manifest says of annotations: enough for a list and for a report, without reading a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.dataset.annotations.tables import annotation_files, name_of
from crawler.storage.types import AnnotationColumn, Entry, JobRecord

ABOUT, FILES = "about", "files"
"""A parameter of a job whose rows are about files of rejected pages, and not about kept documents."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation. rows: documents, or files of rejected pages, that have one; jobs: what made them, each once, the
    newest last.
    """

    name: str
    rows: int
    jobs: list[JobRecord]

    @property
    def is_of_files(self) -> bool:
        """True where the rows are about files of rejected pages, as the newest job says."""
        return self.jobs[-1]["parameters"].get(ABOUT) == FILES

    @property
    def columns(self) -> dict[str, AnnotationColumn]:
        """Types and meanings, as the newest job says."""
        return self.jobs[-1]["columns"]


def of_documents(entries: Iterable[Entry]) -> dict[str, int]:
    """Kept documents that have one, by the name of the annotation."""
    return {each.name: each.rows for each in annotations_in(entries) if not each.is_of_files}


def annotations_in(entries: Iterable[Entry]) -> list[Annotation]:
    """The annotations among the files of a manifest, by name."""
    files: dict[str, list[Entry]] = {}
    for entry in annotation_files(entries):
        files.setdefault(name_of(entry["path"]), []).append(entry)
    return [
        Annotation(name, sum(entry["documents"] for entry in some), _jobs(some)) for name, some in sorted(files.items())
    ]


def _jobs(files: Iterable[Entry]) -> list[JobRecord]:
    found: list[JobRecord] = []
    for job in (entry["job"] for entry in files):
        if job not in found:
            found.append(job)
    return sorted(found, key=lambda job: job["ended"])
