"""Held-out texts are those that no side has learned from, of several kinds: what a model of each side is asked.

A kind is a corpus, a file of records, or a folder of texts. Left out, and counted, is what repeats a text of a side or
another held-out one, and what is of a domain of a side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawler.dataset.deduplication.prints import sources_of
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.records.database import in_turns
from crawler.dedup.loading import BATCH
from crawler.problems import InputError
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import suffixes
from crawler.storage.files.place import LEDGERS, MANIFEST, Place
from crawler.trial.sides import Sides, domain_of

MOST_BYTES = 300_000
"""Of one kind so much is asked: whole texts in an order by hash."""
LONGEST = MOST_BYTES // 60
"""Of a longer text only its begin, up to the end of a line: no text may decide for its kind."""
TEXT_FILES = (".txt", ".rst", ".md")
WANTED = 2
"""Kinds from which on a difference is one of texts, not of one kind."""
_MARK = "held out "


@dataclass(frozen=True, slots=True)
class Asked:
    """One held-out text. site: what it is not independent of others by, its domain or itself."""

    kind: str
    text: str
    site: str


@dataclass(slots=True)
class Kind:
    """What became of the texts of one kind. no_domain: used though nobody knows which domain they are of."""

    name: str
    read: int = 0
    empty: int = 0
    withdrawn: int = 0
    unreadable: list[str] = field(default_factory=list)
    of_a_side: int = 0
    repeats: int = 0
    of_a_domain: int = 0
    no_domain: int = 0
    beyond: int = 0
    shortened: int = 0
    asked: list[Asked] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes that are asked."""
        return sum(len(one.text.encode("utf-8", "replace")) for one in self.asked)


def places_of(given: Sequence[str]) -> list[tuple[str, str]]:
    """Of each kind its name, and its path or URL. Raises: InputError where there is nothing, or two have one name."""
    places = [place for name in given for place in _places_of(name)]
    names = [name for name, _ in places]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError([f"--held-out: two kinds are called {twice}; rename one of the files or folders"])
    return places


def read(given: Sequence[str], sides: Sides) -> list[Kind]:
    """Every kind, with the texts that are asked. Raises: InputError, StorageError where there is none."""
    places = places_of(given)
    kinds = [_kind(name, path, sides) for name, path in places]
    if nothing := [kind.name for kind in kinds if not kind.asked]:
        raise InputError(
            [f"--held-out: {name}: no text is left that no side has; give texts of other sites" for name in nothing]
        )
    return kinds


def _places_of(given: str) -> Iterator[tuple[str, str]]:
    """(name of the kind, path or URL)."""
    path = Path(given)
    if "://" not in given and not path.exists() and "@" not in given:
        raise InputError([f"--held-out: {given}: no such file or folder"])
    if not path.is_dir() or _is_corpus(path):
        yield _named(path), given
        return
    inside = sorted(one for one in path.iterdir() if not one.name.startswith("."))
    own = [one for one in inside if one.is_file() and one.name.endswith(TEXT_FILES)]
    kinds = [one for one in inside if one.is_dir() or one.name.endswith(suffixes())]
    if not own and not kinds:
        raise InputError(
            [f"--held-out: {given}: has no file that ends in {', '.join((*suffixes(), *TEXT_FILES))}, and no folder"]
        )
    if own:
        yield _named(path), given
        return
    for one in kinds:
        yield _named(one), str(one)


def _named(path: Path) -> str:
    ending = next((one for one in suffixes() if path.name.endswith(one)), "")
    return path.name.removesuffix(ending) or str(path)


def _is_corpus(path: Path) -> bool:
    return any((path / own).exists() for own in (MANIFEST, LEDGERS))


def _kind(name: str, path: str, sides: Sides) -> Kind:
    kind = Kind(name)
    texts = _texts(kind, path, sides.places())
    ranked = sorted(texts, key=lambda one: hashlib.blake2b(one[1].encode("utf-8", "replace")).digest())
    known, size = sides.known, 0
    for some in in_turns(enumerate(ranked), BATCH):
        if size >= MOST_BYTES:
            kind.beyond += len(some)
            continue
        marked = [(f"{_MARK}{name} {number}", text) for number, (_, text) in some]
        owners = known.add(marked)
        for (_, (domain, text)), owner, (mark, _) in zip(some, owners, marked, strict=True):
            if owner is not None:
                kind.repeats += owner.startswith(_MARK)
                kind.of_a_side += not owner.startswith(_MARK)
            elif domain is not None and domain in sides.domains:
                kind.of_a_domain += 1
            elif size >= MOST_BYTES:
                kind.beyond += 1
            else:
                short = _begin(text)
                kind.shortened += short != text
                kind.no_domain += domain is None
                kind.asked.append(Asked(name, short, domain or mark))
                size += len(short.encode("utf-8", "replace"))
    return kind


def _texts(kind: Kind, path: str, beside: Iterable[Place]) -> Iterator[tuple[str | None, str]]:
    """(domain, text). Of a folder of texts every file is one."""
    folder = Path(path)
    files = [] if not folder.is_dir() or _is_corpus(folder) else sorted(folder.rglob("*"))
    if texts := [file for file in files if file.name.endswith(TEXT_FILES) and file.is_file()]:
        yield from _of_files(kind, texts)
        return
    counts, sources = Counts(), Sources(sources_of([path]), beside=beside)
    for record in sources.read(0, counts):
        yield domain_of(record), str(record["text"])
    kind.read, kind.empty, kind.withdrawn = counts.read, counts.empty, counts.withdrawn


def _of_files(kind: Kind, files: Sequence[Path]) -> Iterator[tuple[None, str]]:
    for file in files:
        kind.read += 1
        try:
            text = file.read_text("utf-8")
        except UnicodeDecodeError:
            kind.unreadable.append(file.name)
            continue
        except OSError as error:
            raise StorageError(f"{file}: cannot be read ({error.strerror}); correct its permissions") from None
        if text.strip():
            yield None, text
        else:
            kind.empty += 1


def _begin(text: str) -> str:
    if len(text.encode("utf-8", "replace")) <= LONGEST:
        return text
    cut = text.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore")
    lines, end, _ = cut.rpartition("\n")
    return lines if end and lines.strip() else cut
