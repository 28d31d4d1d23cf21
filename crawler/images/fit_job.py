"""Who asks how well captions fit: the images of a data set go out, made smaller, and the answers become its table."""

from __future__ import annotations

import heapq
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

from crawler.dataset.registry.derived import is_corpus
from crawler.images.decode import library
from crawler.images.fit import COLUMNS, fit_rows, write_fit
from crawler.images.folder import FIT, TARS, Folder, sha256_of
from crawler.images.rows import Row
from crawler.images.tars import rows_in_tar
from crawler.images.withdraw import note
from crawler.llm.ask import Asker
from crawler.llm.caption import IMAGE_TOKENS, MOST_SIDE
from crawler.llm.job import Done, LlmJob
from crawler.llm.model import MOST_IMAGE_BYTES, Image
from crawler.llm.pages import Pages
from crawler.problems import InputError
from crawler.storage.corpus.registry import HERE, Registry, place_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.times import rfc3339

_ALPHA = {"LA", "PA", "RGBA", "RGBa", "La"}
_QUALITY = 85


@dataclass(slots=True)
class Pictures(Pages):
    """The images of a data set that may go out, in the order of their keys. provider: who counts their tokens."""

    noun: ClassVar[str] = "image"
    provider: str = field(kw_only=True)

    def _living(self) -> Iterator[Record]:
        self.left_out = Counter()
        folder = Folder(self.place.root)
        tokens = IMAGE_TOKENS.get(self.provider, max(IMAGE_TOKENS.values()))
        for entry in (folder.manifest() or {"files": []})["files"]:
            if entry["path"].startswith(f"{TARS}/"):
                path = folder.root / entry["path"]
                yield from (_record(path, tokens, *found) for found in rows_in_tar(path))


def _record(path: Path, tokens: int, row: Row, begin: int, size: int) -> Record:
    alt = f"\nAlternative text: {row['alt']}" if row["alt"] and row["alt"] != row["caption"] else ""
    return {
        "canonical_url": row["url"],
        "doc_id": row["sha256"],
        "license_tier": row["licence_tier"],
        "key": row["key"],
        "text": f"Caption: {row['caption']}{alt}",
        "image": Image(row["sha256"], tokens, partial(_jpeg, path, begin, size, row["sha256"])),
    }


def _jpeg(path: Path, begin: int, size: int, digest: str) -> bytes:
    """An image of a tar as it is sent: RGB, on white, `MOST_SIDE` pixels at most. Raises: StorageError."""
    with disk(path), path.open("rb") as file:
        file.seek(begin)
        data = file.read(size)
    if sha256(data).hexdigest() != digest:
        raise StorageError(f"{path}: an image there is not the one that its row names; restore the file from a copy")
    try:
        return _smaller(data)
    except Exception as error:  # each decoder has errors of its own
        raise StorageError(f"{path}: image {digest} cannot be decoded ({error})") from error


def _smaller(data: bytes) -> bytes:
    pillow, side = library(), float(MOST_SIDE)
    with pillow.open(io.BytesIO(data), formats=["JPEG", "PNG", "WEBP"]) as image:
        image.draft("RGB", (MOST_SIDE, MOST_SIDE))
        if image.mode in _ALPHA or "transparency" in image.info:
            layers = image.convert("RGBA")
            small = pillow.alpha_composite(pillow.new("RGBA", layers.size, "white"), layers).convert("RGB")
        else:
            small = image.convert("RGB")
    while True:
        small.thumbnail((side, side))
        made = io.BytesIO()
        small.save(made, "JPEG", quality=_QUALITY)
        if len(made.getvalue()) <= MOST_IMAGE_BYTES:
            return made.getvalue()
        side *= 0.7


def source_of(folder: Folder) -> Place:
    """The corpus that a data set was made of: what it has withdrawn since may not go out.

    Raises: InputError where nobody knows it, or it is not there.
    """
    here = str(folder.root)
    version = Registry(Place(here)).versions().get(sha256_of(folder.manifest_path))
    for parent in version["parents"] if version else ():
        if parent["place"] not in ("", HERE):
            place = Place(place_of(here, parent["place"]))
            try:
                is_corpus(place)
            except (StorageError, NotADirectoryError):
                way = f"bring it back, or run `gristmill dataset images` with its new place and --out {here}"
                raise InputError([f"{here}: was made of {place.url}, which is not there, so nobody knows what it has "
                                  f"withdrawn since; {way}"]) from None  # fmt: skip
            return place
    raise InputError([f"{here}: its registry does not know the corpus that it was made of, nor what that has withdrawn "
                      f"since; run `gristmill dataset images` with the corpus and --out {here}"])  # fmt: skip


@dataclass(slots=True)
class FitJob(LlmJob):
    """A job on a data set of images, at work in its folder. corpus: that it was made of."""

    corpus: Place = field(kw_only=True)

    def recorded(self) -> Decimal:
        """What this job has cost by the manifest of the folder. Raises: InputError for another currency."""
        return self.most_in((self._folder.manifest() or {}).get(FIT, {}).values())

    @property
    def _folder(self) -> Folder:
        return Folder(self.place.root)

    def _check_alone(self) -> None:
        """Who is at work in the folder is alone."""

    def _annotate(self, asker: Asker, done: Done, now: float) -> None:
        folder = self._folder
        manifest = folder.manifest()
        assert manifest is not None
        written = write_fit(folder, self._merged(fit_rows(folder, manifest), self._fresh(asker, done), done))
        if not done.rows:
            folder.recover()
            return
        files = [each for each in manifest["files"] if not each["path"].startswith(f"{FIT}/")]
        record = self.job_record(COLUMNS, done, now) | {"corpus": manifest["source"]["manifest_sha256"]}
        fits = {**manifest.get(FIT, {}), str(self.model): record}
        folder.commit({**manifest, "files": [*files, *written], FIT: fits, "time": rfc3339(now)})
        note(folder, self.corpus, now=now)

    def _fresh(self, asker: Asker, done: Done) -> Iterator[Row]:
        for record, row in self.rows(asker, done):
            done.incomplete += row is None
            if row is not None:
                del row["canonical_url"], row["doc_id"]
                yield {"url": record["canonical_url"], "sha256": record["doc_id"], **row}

    @staticmethod
    def _merged(before: Iterator[Row], fresh: Iterator[Row], done: Done) -> Iterator[Row]:
        """Both in the order of the keys, the fresh one of two; `done.rows` counts what changes."""
        both = heapq.merge(_ordered(before, 0), _ordered(fresh, 1), key=lambda each: each[:2])
        for _, some in groupby(both, key=lambda each: each[0]):
            rows = [each[1:] for each in some]
            is_fresh, last = rows[-1]
            done.rows += bool(is_fresh) and (len(rows) == 1 or rows[0][1] != last)
            yield last


def _ordered(rows: Iterator[Row], rank: int) -> Iterator[tuple[int, int, Any]]:
    return ((int(row["key"]), rank, row) for row in rows)
