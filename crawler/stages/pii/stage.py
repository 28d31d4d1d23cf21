"""The personal-data stage replaces personal data by typed placeholders before anything reaches an index or a disk.

Presidio finds it, we decide: a linear scan (`scan`) marks candidates, Presidio's recognisers and our validators judge
them (`recognise`), names are looked for only where `PII_PERSON` says so (`names`), and `redact` writes the
placeholders. Raw values exist in the input text and in this call; nothing here logs, stores or returns them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from crawler.config import Config, PiiConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.pii.addresses import places_in
from crawler.stages.pii.context_words import COVERED
from crawler.stages.pii.directory import words_left
from crawler.stages.pii.known import Known
from crawler.stages.pii.mailing_lists import is_mailing_list
from crawler.stages.pii.names import NameFinder, install_command, installed_name
from crawler.stages.pii.page import SECRET, Hit
from crawler.stages.pii.redact import Placeholders, edits_of, redact, resolve
from crawler.stages.pii.signs import sign_in
from crawler.stages.text.spans import moved, quote
from crawler.stages.text.words import recount

if TYPE_CHECKING:
    from crawler.stages.pii.outline import Outline


class PiiStage:
    """Redacts text, title, description, author and legal fields; drops a page where nothing but a directory is left.

    min_words: words of text that a page has at least (EXTRACTION_MIN_WORDS).
    """

    name: ClassVar[str] = "pii"

    def __init__(self, config: PiiConfig, min_words: int = 100) -> None:
        # Presidio, spaCy and numpy: a second and 100 MB that `check_models` spares
        from crawler.stages.pii.private_life import private_sentences
        from crawler.stages.pii.recognise import find_in, outline_of

        self._config, self._min_words = config, min_words
        self._outline, self._find, self._private_sentences = outline_of, find_in, private_sentences
        models = {} if config.person == "off" else model_table(config)
        self._finders = {language: NameFinder(model) for language, model in models.items()}

    def __call__(self, doc: Document) -> Document | Drop:
        """Redact in place. `pii_spans` are offsets of placeholders in the new text; the counts follow the text.

        A page is redacted and kept, however much had to go, and `language_signals["pii_share"]` says so above
        `max_density` (secrets and public mailing lists do not count). Returns a Drop with TOO_SHORT where nothing but a
        directory of persons is left then. Where names are wanted out and no model reads the language, the document
        may be held: `hold`.
        """
        placeholders = Placeholders()
        before = len(doc.text)
        found = self._found(doc)
        hits = found["text"]
        removed = sum(hit.end - hit.start for hit in hits if _is_personal(hit) and not is_mailing_list(hit))
        sign = self._sign(doc, found)
        self._look_at_addresses(doc, found)
        self._redact(doc, found, placeholders)
        doc.pii_span_count = len(doc.pii_spans)
        doc.pii_entity_types = placeholders.entity_types
        doc.pii_flag = bool(doc.pii_entity_types)
        if doc.pii_spans or not _is_counted(doc):
            recount(doc)
        doc.language_signals["pii_coverage"] = self._coverage(doc.language)
        if removed > self._config.max_density * before:
            doc.language_signals["pii_share"] = round(removed / before, 4)
            if (left := self._words_left(doc)) < self._min_words:
                entries = f"{left} words beside {doc.pii_span_count} placeholders of a directory"
                return Drop(self.name, DropReason.TOO_SHORT, f"{entries}, needs {self._min_words}")
        if self._config.person != "off" and doc.language not in self._finders:
            doc.language_signals["pii_names"] = "uncovered"
            self._hold(doc, sign)
        return doc

    def _words_left(self, doc: Document) -> int:
        return words_left(doc.text, (span for span in doc.pii_spans if span[2] != SECRET))

    def _hold(self, doc: Document, sign: str) -> None:
        """A page that nobody's names were taken out of waits for a person, where `uncovered` says so."""
        if self._config.uncovered == "hold" or (self._config.uncovered == "signs" and sign):
            why = f"no model of PII_MODELS for {doc.language!r}" + (f"; {sign}" if sign else "")
            doc.hold = Drop(self.name, DropReason.HELD_PII, why)
            doc.language_signals["pii_names"] = "held"

    def _structured(self, outline: Outline, language: str | None) -> list[Hit]:
        return resolve(self._find(outline, language, self._config.default_region))

    def hits(self, text: str, language: str | None) -> list[Hit]:
        """What would be redacted in a text: resolved, in order, without overlaps."""
        outline = self._outline(text)
        structured = self._structured(outline, language)
        finder = self._finders.get(language or "")
        if finder is None:
            return structured
        if self._config.person == "all":
            return resolve([*structured, *finder.find_all(text)])
        sentences = self._private_sentences(text, language or "", outline)
        lines = [line for line in _lines_with(text, filter(_is_personal, structured)) if not _is_notice(text, *line)]
        names = finder.find_beside(text, lines, sentences)
        return resolve([*structured, *(hit for hit in names if not _in_notice(text, hit))])

    def _found(self, doc: Document) -> dict[str, list[Hit]]:
        """What is personal in each field that repeats the page. A byline is a published name: it is no finding."""
        found = {"text": self.hits(doc.text, doc.language)}
        for field in ("title", "description", "comments"):
            found[field] = self.hits(getattr(doc, field) or "", doc.language)
        found["author"] = self._structured(self._outline(doc.author or ""), doc.language)
        found["legal_court"] = []  # a name that goes elsewhere goes in it, too
        return found

    def _look_at_addresses(self, doc: Document, found: dict[str, list[Hit]]) -> None:
        """Where the page's own addresses repeat what goes; they stay as they are (`dataset export --redact-urls`)."""
        hits = [(getattr(doc, field) or "", hit) for field, some in found.items() for hit in some]
        if doc.author and self._config.person == "all":
            hits.append((doc.author, Hit(0, len(doc.author), "PERSON", doc.author)))
        if hits:
            places = {name: places_in(getattr(doc, name), hits) for name in ("url", "canonical_url")}
            doc.language_signals["pii_url"] = {name: list(map(list, some)) for name, some in places.items() if some}

    def _redact(self, doc: Document, found: dict[str, list[Hit]], placeholders: Placeholders) -> None:
        """What was found in one field goes in all of them, wherever it stands there."""
        values = {field: getattr(doc, field) or "" for field in found}
        known = Known((values[field], hit) for field, hits in found.items() for hit in hits)
        for field, hits in found.items():
            every = resolve([*hits, *known.among(values[field])]) if known else hits
            redacted, spans = redact(values[field], every, placeholders)
            if field == "text":
                edits = edits_of(values[field], every, spans)
                doc.parts, doc.legal_spans = (moved(some, edits, redacted) for some in (doc.parts, doc.legal_spans))
                doc.pii_spans = spans
            if values[field]:
                setattr(doc, field, redacted)
        quote(doc)
        if self._config.person == "all":
            doc.author = None

    def _sign(self, doc: Document, found: dict[str, list[Hit]]) -> str:
        """What tells that the page is about a person, where no model reads its language and that decides."""
        if self._config.person == "off" or self._config.uncovered == "keep" or doc.language in self._finders:
            return ""
        told = "\n".join(filter(None, (doc.title, doc.description, doc.text)))
        return sign_in(told, doc.language, filter(_is_personal, chain.from_iterable(found.values())))

    def _coverage(self, language: str | None) -> str:
        """ "full": recogniser set and, where names are wanted, a model. "structured": the structured set only."""
        names = self._config.person == "off" or language in self._finders
        return "full" if language in COVERED and names else "structured"


def of_config(config: Config) -> PiiStage:
    """The stage as the chain builds it."""
    return PiiStage(config.pii, config.extraction.min_words)


def _is_personal(hit: Hit) -> bool:
    """A secret is a machine's: it says nothing of a person, and no name beside it is one's."""
    return hit.entity != SECRET


def _is_counted(doc: Document) -> bool:
    """Extraction counted this text, as every stage does that changes one: what nobody changed needs no second count."""
    return "extraction" in doc.done and doc.char_count == len(doc.text)


def model_table(config: PiiConfig) -> dict[str, str]:
    """spaCy model by language from entries "en:en_core_web_sm"."""
    return dict(entry.split(":", 1) for entry in config.models)


def check_models(config: PiiConfig) -> list[str]:
    """Problems that must stop a crawl before its first request.

    Models that `PII_PERSON` needs and nobody installed, and a region of which no telephone number is known.
    """
    problems = _region_problems(config.default_region)
    if config.person == "off":
        return problems
    return problems + [
        f"PII_PERSON={config.person} needs the spaCy model {model} for language {language!r}, which is not installed: "
        f"run `{install_command(model)}`, or set PII_PERSON=off"
        for language, model in model_table(config).items()
        if installed_name(model) is None
    ]


def _region_problems(region: str) -> list[str]:
    from phonenumbers import SUPPORTED_REGIONS  # late, like the rest of what only judging needs

    known = region in SUPPORTED_REGIONS
    return [] if known else [f"PII_PHONE_REGION={region!r} is not a region of phone numbers: GB for example, not UK"]


_NOTICE_REACH = 200  # characters of a line on each side of a name in which a notice is looked for
_NOTICE = re.compile(
    r"©|\(c\)|(?<!\w)copyright|spdx-filecopyrighttext|all rights reserved|tous droits réservés|alle rechte vorbehalten",
    re.IGNORECASE,
)


def _in_notice(text: str, hit: Hit) -> bool:
    """A name on the line of a copyright notice: the holder, whom licences want named and left in place."""
    left, right = max(0, hit.start - _NOTICE_REACH), min(len(text), hit.end + _NOTICE_REACH)
    start, end = text.rfind("\n", left, hit.start), text.find("\n", hit.end, right)
    return bool(_NOTICE.search(text, left if start < 0 else start + 1, right if end < 0 else end))


def _is_notice(text: str, start: int, end: int) -> bool:
    """One line with a notice that is so short that it reaches every name in it: the model need not be asked."""
    if end - start > _NOTICE_REACH or text.find("\n", start, end) >= 0:
        return False
    return bool(_NOTICE.search(text, start, end))


_LINE_REACH = 2_000  # characters of a line on each side of a hit in which names are looked for
_CUT_REACH = 100  # characters of it that may be left out, so that a cut is at white space


def _lines_with(text: str, hits: Iterable[Hit]) -> list[tuple[int, int]]:
    """The lines (paragraphs of extracted text) that hold a hit, each once; of long ones what is near the hits.

    hits: in order. What is given back is in order, too, and does not overlap.
    """
    lines: list[tuple[int, int]] = []
    for hit in hits:
        start, end = _line_start(text, hit.start), _line_end(text, hit.end)
        if lines and start <= lines[-1][1]:
            start = lines.pop()[0]
        lines.append((start, end))
    return lines


def _line_start(text: str, at: int) -> int:
    """Start of the line, or of the first whole word in reach."""
    farthest = max(0, at - _LINE_REACH)
    before = text.rfind("\n", farthest, at)
    if before < 0 < farthest:
        before = text.find(" ", farthest, farthest + _CUT_REACH)
    return before + 1 if before >= 0 else farthest


def _line_end(text: str, at: int) -> int:
    """End of the line, or of the last whole word in reach."""
    farthest = min(len(text), at + _LINE_REACH)
    behind = text.find("\n", at, farthest)
    if behind < 0 and farthest < len(text):
        behind = text.rfind(" ", farthest - _CUT_REACH, farthest)
    return behind if behind >= 0 else farthest
