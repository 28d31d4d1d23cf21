"""A data set of images without a web: what pages name is given, and so is what their hosts would answer."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from crawler.dataset.registry.behind import refusals_of
from crawler.images.build import Build, Built
from crawler.images.decode import decode
from crawler.images.folder import Folder
from crawler.images.ledger import Fate
from crawler.images.limits import Limits
from crawler.images.outcomes import KEPT
from crawler.images.references import Reference
from crawler.images.withdraw import note
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from tests.images import pictures as p

LIMITS = Limits(min_bytes=500)


def url_of(number: int) -> str:
    return f"https://images.example/{number}.jpg"


def reference(record: Record, number: int, tier: str | None = "A") -> Reference:
    """Image `number` on a page of a corpus."""
    return Reference(
        url_of(number), url_of(number), record["canonical_url"], record["doc_id"], f"Mill {number} at the brook",
        f"Mill number {number} at noon", "", "", number, 0, None, tier, "en",
    )  # fmt: skip


def built(corpus: Path, out: Path, references: list[Reference], *, size: tuple[int, int] = (800, 600)) -> Built:
    """Bring the data set in `out` up to what these references and the corpus say."""
    folder, place = Folder(out), Place(str(corpus))
    with folder.at_work():
        folder.write_references(iter(references))
        known = folder.ledger.read()
        for one in references:
            if one.name not in known:
                found = decode(p.picture(one.url, size=size), LIMITS)
                facts = {name: value for name, value in asdict(found).items() if name not in ("data", "statements")}
                folder.ledger.add(Fate(one.name, KEPT, url=one.url, facts=facts), found.data)
        source = {"manifest_sha256": manifest_hash(place), "version": 1}
        made = Build(folder, LIMITS, refusals_of([place]), source, 1.8e9).run()
        note(folder, place, now=1.8e9)
    return made
