"""Describes an export or a mixture while its records are written: they are read once, and nothing is kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crawler.observe.publish.dataset_card import Files
from crawler.observe.publish.documents import documents
from crawler.observe.publish.provenance import Kept, Kind, Origins, Provenance
from crawler.observe.publish.sources import Collector
from crawler.stages.text.words import counts
from crawler.storage.files.formats import BUILT_IN, Format
from crawler.storage.files.place import Place
from crawler.storage.files.records import SYNTHETIC, Record


class Description:
    """What becomes the published documents of a derived folder.

    corpora: those that documents are taken from. others: names of the files of each source that is no corpus.
    """

    def __init__(self, kind: Kind, corpora: Iterable[Place], others: Mapping[str, list[str]] | None = None) -> None:
        self._kind, self._places = kind, list({place.url: place for place in corpora}.values())
        self._manifests = [place.manifest() for place in self._places]
        self._others = others or {}
        self._kept, self._collector = Kept(), Collector(self._manifests)

    def add(self, record: Record, source: str = "") -> None:
        """Count a document, once however often it is written. source: its name, in a mixture.

        One of others that does not say how long its text is has its words counted.
        """
        if record.get("token_estimate") is None:
            record = record | counts(record.get("text") or "")
        self._kept.add(record)
        if record.get(SYNTHETIC):  # no page, wherever it comes from
            return
        if source in self._others:
            self._collector.add_from(source, self._others[source], record)
        else:
            self._collector.add(record)

    def documents(
        self,
        files: list[dict[str, Any]],
        form: Format,
        *,
        withdrawn: int,
        uses: int = 0,
        columns: tuple[dict[str, str], ...] = (),
        more: Iterable[str] = (),
    ) -> dict[str, bytes]:
        """Content by name. columns: beside those of the format; more: lines for the card.

        Raises: StorageError where a source is damaged.
        """
        origins = Origins()
        for place, manifest in zip(self._places, self._manifests, strict=True):
            origins.add(place, manifest)
        version = int(self._manifests[0].get("version", 1)) if self._manifests else 1
        listed = [file for file in files if file["documents"]]
        sources = self._collector.sources()
        found = Provenance(self._kind, version, self._kept, origins, sources, listed, withdrawn, uses)
        features = [*form.features, *columns] if form.features else None
        files_of = Files([form.pattern], features, (form.media_type,), is_records=form.name in BUILT_IN)
        return documents(found, files_of, more)
