"""`withdrawals.jsonl` in a corpus: what was withdrawn, by whom and why, and what is refused from then on.

Lines are only ever added: a withdrawal that is taken back stays, and a line of its own says so. What the lines mean for
a page is answered by `crawler/dataset/refused.py`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import Literal, NotRequired, TypedDict, cast
from urllib.parse import urlsplit

import orjson

from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place

WITHDRAWALS = "withdrawals.jsonl"
NOT_GIVEN = "not given"
"""Who asked for a withdrawal, where nobody said it."""
Reach = Literal["nothing", "address", "text"]
"""What a withdrawal refuses later of the pages that it took out: nothing (their time was over: they may come back),
their addresses, or also their texts, whatever the address."""
OPTED_OUT = "opt-out found at a later visit"
"""Begins the rule of what goes because its page says no by now."""
LIFETIMES = "lifetimes at "
"""Begins the rule of what goes because it is older than its corpus lets documents become: nobody asked."""
_PASSING = (LIFETIMES, OPTED_OUT)
"""Begin the rules of withdrawals that refuse nothing, in lines of older versions, which do not say their reach."""


ENDED = "its time was over at "
"""Stands in the rule of what `--again` takes out because its time was over before: a later visit may stay."""


class WishLine(TypedDict):
    """One withdrawal. refused: domains that no later crawl may ask; rule: of the caller's, may be empty.

    by: who asked. urls: addresses that it names, canonical. inherited: hash of the manifest of the corpus that this one
    was selected from, where the line is that corpus's. Lines of older versions lack what is not required.
    """

    kind: Literal["withdrawal"]
    number: int
    time: str
    refused: list[str]
    reason: str
    domains: list[str]
    licences: list[str]
    rule: str
    by: NotRequired[str]
    urls: NotRequired[list[str]]
    reach: NotRequired[Reach]
    inherited: NotRequired[str]


class PageLine(TypedDict):
    """One page that went, without text. number: of the withdrawal."""

    kind: Literal["page"]
    was: Literal["kept", "held", "rejected"]
    url: str
    canonical_url: str
    domain: str | None
    doc_id: str | None
    content_hash: str | None
    license_tag: str | None
    number: int


class TextLine(TypedDict):
    """What stands for a text that went: fingerprints, from which no word can be read.

    doc_id: of the text in the normal form of `exact_id`. signature: MinHash in base64, of the scheme with this name.
    """

    kind: Literal["text"]
    number: int
    scheme: str
    doc_id: str
    signature: str
    shingles: int


class ImageLine(TypedDict):
    """What stands for an image that went by its own address or host: nothing can be seen in it.

    digests: SHA-256 of its bytes as they came and as they were kept. pdq: 256 bits in hexadecimal digits; empty where
    they tell too little.
    """

    kind: Literal["image"]
    number: int
    digests: list[str]
    pdq: str


class UndoLine(TypedDict):
    """A withdrawal was taken back: from then on it refuses nothing. number: of the withdrawal."""

    kind: Literal["undo"]
    number: int
    time: str
    reason: str
    by: str


Line = WishLine | PageLine | TextLine | ImageLine | UndoLine
_KINDS = frozenset({"withdrawal", "page", "text", "image", "undo"})


def log_lines(place: Place) -> Iterator[Line]:
    """What `withdrawals.jsonl` says, in order. Raises: StorageError where it cannot be read."""
    try:
        with place.open(WITHDRAWALS) as file:
            for number, line in enumerate(file, start=1):
                yield _parsed(place, line, number)
    except (FileNotFoundError, NotADirectoryError):  # a file in the place of CORPUS_DIR is told by whoever claims it
        return
    except OSError as error:
        raise StorageError(f"{place.path_of(WITHDRAWALS)}: cannot be read ({error})") from error


def log_hash(place: Place) -> bytes:
    """Stands for what the log says now: whoever reads a corpus for long sees that somebody asked meanwhile."""
    digest = hashlib.sha256()
    for line in log_lines(place):
        digest.update(orjson.dumps(line))
    return digest.digest()


def _parsed(place: Place, line: bytes, number: int) -> Line:
    try:
        content = orjson.loads(line)
        if content["kind"] in _KINDS:
            return cast("Line", content)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        pass
    raise StorageError(f"{place.path_of(WITHDRAWALS)}: line {number} is not a withdrawal; restore the file from a copy")


def write_log(place: Place, lines: Iterable[Line]) -> None:
    """Put the whole log in its place, in one step. Raises: StorageError."""
    place.put(WITHDRAWALS, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))


def withdrawals(place: Place) -> list[WishLine]:
    """Every withdrawal so far: reason, domains, licences, rule, time; oldest first. Raises: StorageError."""
    return [line for line in log_lines(place) if line["kind"] == "withdrawal"]


def undone(lines: Iterable[Line]) -> frozenset[int]:
    """The numbers of the withdrawals that were taken back."""
    return frozenset(line["number"] for line in lines if line["kind"] == "undo")


def in_force(place: Place) -> list[WishLine]:
    """The withdrawals that were not taken back. Raises: StorageError."""
    lines = list(log_lines(place))
    gone = undone(lines)
    return [line for line in lines if line["kind"] == "withdrawal" and line["number"] not in gone]


def reach_of(line: WishLine) -> Reach:
    """What a withdrawal refuses of its pages; one of an older version refuses their addresses."""
    return line.get("reach") or ("nothing" if line.get("rule", "").startswith(_PASSING) else "address")


def until(line: WishLine) -> str:
    """When the time of the pages of a withdrawal that refuses nothing was over, RFC 3339."""
    return line.get("rule", "").partition(ENDED)[2] or line["time"]


def removed_by(lines: Iterable[Line]) -> Counter[int]:
    """Documents that each withdrawal removed, by its number in the log."""
    return Counter(line["number"] for line in lines if line["kind"] == "page" and line["was"] == "kept")


def withdrawn_urls(place: Place) -> list[str]:
    """The canonical URLs of all pages that are refused. Raises: StorageError."""
    numbers = {wish["number"] for wish in in_force(place) if reach_of(wish) != "nothing"}
    pages = {line["canonical_url"] for line in log_lines(place) if line["kind"] == "page" and line["number"] in numbers}
    return sorted(pages)


def refused_domains(place: Place) -> frozenset[str]:
    """The domains that no later crawl may ask."""
    return frozenset(domain for wish in in_force(place) for domain in wish.get("refused", ()))


def refused_licences(place: Place) -> frozenset[str]:
    """The licences that were withdrawn whatever the domain."""
    return frozenset(tag for wish in in_force(place) if not wish["domains"] for tag in wish["licences"])


def inherit(sources: Iterable[tuple[Place, str]], target: Place) -> None:
    """A corpus that is made of others refuses what they refuse. sources: with the SHA-256 of their manifests.

    Each source's withdrawals keep their order and get new numbers behind those of the source before it.
    Raises: StorageError.
    """
    lines: list[Line] = []
    for source, manifest_sha256 in sources:
        before = max((line["number"] for line in lines), default=0)
        lines += [_inherited(line, manifest_sha256, before) for line in log_lines(source)]
    if lines:
        write_log(target, lines)


def _inherited(line: Line, manifest_sha256: str, before: int) -> Line:
    numbered = cast("Line", {**line, "number": line["number"] + before})
    if numbered["kind"] != "withdrawal":
        return numbered
    return {**numbered, "inherited": numbered.get("inherited", manifest_sha256)}


def covers(domains: Container[str], url: str) -> bool:
    """True where the URL's host is one of the domains or lies below one; a domain with a port covers that port only."""
    return bool(covering(domains, url))


def covering(domains: Container[str], url: str) -> str:
    """The one of the domains that the URL's host is, or lies below; empty where there is none."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower().removesuffix("."), parts.port
    except ValueError:
        return ""
    if port and f"{host}:{port}" in domains:
        return f"{host}:{port}"
    labels = host.split(".")
    names = (".".join(labels[i:]) for i in range(len(labels)))
    return next((name for name in names if name in domains), "")
