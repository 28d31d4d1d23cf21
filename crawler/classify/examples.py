"""Examples are texts with an answer: labels of the judge view, or files and corpora that are all good or all bad.

Of two labels by one judge on one page the later counts; several judges of a text make a share. A label holds for the
text that was judged (`doc_id`), whatever the verdict on it is now: of a page that has changed since it says nothing. A
label that names no text holds for the page. Whatever is left out is counted, with the first few names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from crawler.dataset.annotate import Annotations
from crawler.dataset.living import Living, refused_by
from crawler.dataset.pages import page_name
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.registry.derived import folders_around
from crawler.dataset.rewrite import corpus_place
from crawler.problems import InputError
from crawler.stages.fingerprint import exact_id
from crawler.storage.corpus.labels import LABELS
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import REJECTED, SHARDS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_lines
from crawler.urls.canonicalize import registrable_domain

ANSWERS = {"keep": 1.0, "reject": 0.0}
NAMED = 3
_GONE = "the page was withdrawn, is gone, or says no"
TextOf = Callable[[Place, Record], str]
"""The text of a record that has none; empty where nobody has it."""
_PACKED = (".zst", ".gz")


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its answer. good: share of judges that keep it, 0–1; weight: what it counts, 1 in the mean.

    language: ISO 639-1, None where nobody knows it; site: registrable domain; page_type: "" where it is unknown; at:
    when it was judged, RFC 3339; digest: of the configuration that made the text.
    """

    url: str
    text: str
    good: float
    site: str
    language: str | None = None
    page_type: str = ""
    stratum: str = ""
    weight: float = 1.0
    judges: int = 1
    at: str = ""
    digest: str = ""


@dataclass(slots=True)
class Examples:
    """What was read. left_out: how many by reason; named: the first of each; siteless: texts without a URL.

    beside: what no source may give because one of them refuses it (`refused_in`).
    """

    beside: Refusals = field(default_factory=Refusals)
    found: list[Example] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    siteless: int = 0

    def leave(self, why: str, name: str = "") -> None:
        """Count what is not used; what was withdrawn has no name here."""
        self.left_out[why] += 1
        if name and len(self.named[why]) < NAMED:
            self.named[why].append(name)

    def sentences(self) -> list[str]:
        """One for each reason."""
        return [
            f"{count:,} left out: {why}" + (f" ({', '.join(names)}{', …' if count > NAMED else ''})" if names else "")
            for why, count in self.left_out.most_common()
            for names in [self.named[why]]
        ]


@dataclass(frozen=True, slots=True)
class Scores:
    """Annotations of `gristmill llm judge` by name. keep, drop: the score from which on, and up to which, one is a
    verdict; what is between is none.
    """

    names: tuple[str, ...]
    keep: int = 4
    drop: int = 1


@dataclass(frozen=True, slots=True)
class _Label:
    url: str
    doc_id: str
    judge: str
    good: float
    values: dict[str, Any]


def refused_in(sources: Iterable[str]) -> Refusals:
    """What none of these corpora and files may give, because one of them refuses it. Raises: StorageError."""
    return refused_by(place for source in sources for place in _places_of(source))


def _places_of(source: str) -> list[Place]:
    """The corpus that a source is, or those that a file lies in."""
    if _is_corpus(source):
        return [Place(source)]
    return [Place(url) for url in folders_around([Path(source)]).values()]


def _is_corpus(source: str) -> bool:
    return Path(source).is_dir() or "://" in source


def _none(place: Place, record: Record) -> str:  # noqa: ARG001  # that is the answer
    return ""


def read_labels(
    sources: Iterable[str], into: Examples, text_of: TextOf = _none, scores: Scores | None = None
) -> None:  # fmt: skip
    """Add what judges said. A source is a file of labels with their texts, or a corpus with its `labels.jsonl`.

    text_of: whom to ask for the text of a judged record that has none. scores: of language models, which are judges
    beside the people; a corpus may have those alone.

    Raises: InputError where a source cannot be read, or no label has a text; StorageError.
    """
    for source in sources:
        corpus = Path(source) if Path(source).is_dir() else None
        there = corpus is None or scores is None or (corpus / LABELS).exists()
        labels = list(_labels(corpus / LABELS if corpus else Path(source), into)) if there else []
        if corpus and scores is not None:
            labels += _scored(str(corpus), scores, into)
        refused = refusals_of(_places_of(source))
        labels = [label for label in labels if not _is_gone(_judged(label), refused, into)]
        last = {(label.judge, label.url): label for label in labels}
        by_text: dict[tuple[str, str], list[_Label]] = defaultdict(list)
        for label in last.values():
            by_text[(label.url, label.doc_id)].append(label)
        records, sizes = _records(str(corpus), by_text, text_of, into.beside) if corpus else ({}, Counter[str]())
        made = [_example(some, records.get(key)) for key, some in by_text.items()]
        for example in made:
            if not example.text.strip():
                into.leave("the label has no text, and the corpus has none of what was judged", example.url)
        usable = [example for example in made if example.text.strip()]
        if made and not usable:
            raise InputError(
                [f"{source}: no label has a text; give the folder of the corpus in place of its labels.jsonl"]
            )
        into.found += _weighted(usable, sizes)


def read_texts(sources: Iterable[str], good: float, into: Examples, most: int) -> None:
    """Add the texts of files (JSON lines with `text` and `url`) or the kept documents of corpora, all with one answer.

    Raises: InputError where a source cannot be read; StorageError.
    """
    for source in sources:
        count = 0
        for name, record in _texts(source, into):
            if count >= most:
                into.leave(f"{source} has more than --most {most} texts", name)
                continue
            count += 1
            url = str(record.get("canonical_url") or record.get("url") or "")
            into.siteless += not url
            made = _described(record, url or name, good)
            into.found.append(made if url else replace(made, site=name))


def _texts(source: str, into: Examples) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if _is_corpus(source):
        with corpus_place(source) as place:
            living = Living(place, beside=into.beside)
            for record in living.kept():
                yield str(record["url"]), record
            into.left_out[_GONE] += living.left_out.total()
            into.left_out = +into.left_out
        return
    refused = refusals_of(_places_of(source))
    for name, values in _lines(Path(source), into):
        if not isinstance(values.get("text"), str) or not values["text"].strip():
            into.leave("the line has no text", name)
        elif not _is_gone(values, refused, into):
            yield name, values


def _judged(label: _Label) -> Record:
    """What a label says of its page; it was there when it was judged."""
    return {"crawled_at": label.values.get("at"), **label.values, "url": label.url}


def _is_gone(values: Mapping[str, Any], refused: Refusals, into: Examples) -> bool:
    """True for what is refused; counted then."""
    record = dict(values)
    if gone := bool(refused.of_record(record) or into.beside.of_record(record)):
        into.leave(_GONE)
    return gone


def _labels(path: Path, into: Examples) -> Iterator[_Label]:
    for name, values in _lines(path, into):
        answer = values.get("answer")
        if not isinstance(values.get("url"), str) or answer not in ANSWERS:
            into.leave("the line is no label: it needs url, and answer keep or reject", name)
            continue
        yield _Label(
            values["url"], str(values.get("doc_id") or ""), str(values.get("judge") or ""), ANSWERS[answer], values
        )


def _scored(corpus: str, scores: Scores, into: Examples) -> Iterator[_Label]:
    """What models said of documents; each model is a judge by its name. Raises: InputError, StorageError."""
    with corpus_place(corpus) as place:
        annotations = Annotations(place)
        for name in scores.names:
            for row in annotations.read(name):
                if not isinstance(row.get("score"), int) or not isinstance(row.get("model"), str):
                    raise InputError([f"{corpus}: {name} is no annotation of `gristmill llm judge`: it has no score"])
                url = str(row["canonical_url"])
                if scores.drop < row["score"] < scores.keep:
                    into.leave(f"{name}: its score is between {scores.drop} and {scores.keep}", url)
                    continue
                good = float(row["score"] >= scores.keep)
                yield _Label(url, str(row["doc_id"]), row["model"], good, {"stratum": "kept"})


def _lines(path: Path, into: Examples) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON objects of a file, each with the name of its line. Raises: InputError."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(read_lines(file, path.name) if path.suffix in _PACKED else file, 1):
                values = _object(line)
                if values is not None:
                    yield f"{path}:{number}", values
                elif line.strip():
                    into.leave("the line is no JSON object", f"{path}:{number}")
    except OSError as error:
        said = f"{path}: cannot be read ({error.strerror}); expected a corpus or a file of JSON lines"
        raise InputError([said]) from None
    except StorageError as error:
        raise InputError([str(error)]) from None


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return values if isinstance(values, dict) else None


def _records(
    corpus: str, wanted: Iterable[tuple[str, str]], text_of: TextOf, beside: Refusals
) -> tuple[dict[tuple[str, str], Record], Counter[str]]:
    """The records that were judged, by page and text, and how many documents have each verdict."""
    pages: dict[str, set[str]] = defaultdict(set)
    for url, doc_id in wanted:
        pages[url].add(doc_id)
    found: dict[tuple[str, str], Record] = {}
    bare: list[Record] = []
    sizes = Counter[str]()
    with corpus_place(corpus) as place:
        for record in Living(place, beside=beside).of((SHARDS, REJECTED)):
            sizes[str(record.get("reason") or "kept")] += 1
            if (name := page_name(record)) not in pages:
                continue
            if record.get("text"):
                _take(record, name, pages[name], found)
            else:
                bare.append(record)
        for record in bare:
            name = page_name(record)
            if any((name, doc_id) not in found for doc_id in pages[name]):
                _take(record | {"text": text_of(place, record)}, name, pages[name], found)
    return found, sizes


def _take(record: Record, name: str, judged: set[str], found: dict[tuple[str, str], Record]) -> None:
    """Put a record under each of its labels. A rejected one may have no `doc_id`; its text tells which it is."""
    if record["text"]:
        own = {record.get("doc_id") or exact_id(record["text"]), ""}
        found.update(((name, doc_id), record) for doc_id in judged & own)


def _example(labels: list[_Label], record: Mapping[str, Any] | None) -> Example:
    own = next((label.values for label in reversed(labels) if label.values.get("text")), labels[-1].values)
    good = sum(label.good for label in labels) / len(labels)
    made = _described({**(record or {}), **{name: value for name, value in own.items() if value}}, labels[0].url, good)
    return replace(made, judges=len(labels))


def _described(values: Mapping[str, Any], url: str, good: float) -> Example:
    def said(name: str) -> str:
        return str(values.get(name) or "")

    return Example(
        url=url,
        text=said("text"),
        good=good,
        site=said("domain") or _site(url),
        language=said("language") or None,
        page_type=said("page_type"),
        stratum=said("stratum"),
        at=said("at") or said("crawled_at"),
        digest=said("config_digest"),
    )


def _site(url: str) -> str:
    try:
        return registrable_domain(url)
    except ValueError:  # a name that is no URL is a site of its own
        return url


def _weighted(found: list[Example], sizes: Mapping[str, int]) -> list[Example]:
    """Each judged text stands for as many of its verdict as there are for one that was judged; 1 in the mean."""
    judged = Counter(example.stratum for example in found)
    raw = [max(sizes.get(one.stratum, 0), judged[one.stratum]) / judged[one.stratum] for one in found]
    mean = sum(raw) / len(raw) if raw and sizes else 1.0
    return [replace(one, weight=weight / mean) for one, weight in zip(found, raw, strict=True)] if sizes else found
