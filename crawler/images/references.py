"""All images that the pages of a corpus name, in the order of the corpus, from the archived pages; nothing is asked.

Kept and current pages only: none that is held, withdrawn, replaced or past its lifetime. What is taken from the page
itself (alternative text, caption, title) goes through the personal-data stage, as the page's text has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from crawler.config import Config
from crawler.dataset.exchange import exchange_of
from crawler.document import Document, Signal
from crawler.images.candidates import Candidate, images_of
from crawler.images.captions import common, key_of
from crawler.images.outcomes import BY_RULE
from crawler.images.place_in_text import context_of
from crawler.images.safety import Safety
from crawler.images.signals import page_refusal
from crawler.llm.pages import Pages
from crawler.stages.chain import Chain
from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode
from crawler.storage.archive.reader import ArchivedResponse
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import Record
from crawler.wire.media import content_type, media_kind

UNREADABLE = "without HTML in the archive"
"""Why a page has no images here: a document, plain text, a record of a JSON source."""


@dataclass(slots=True)
class Reference:
    """One image of one page, as the data set tells of it.

    url, name, alt, caption, title, index, offset, refusal: as of `Candidate`. page_url: canonical; doc_id, licence,
    licence_tier, language: of its record. context: of the record's text around it. signals: what the page's own visit
    found, [protocol, carrier, value, verdict] each. detail: of the refusal. scores, page_scores: of the classifiers, of
    its words and of the record.
    """

    url: str
    name: str
    page_url: str
    doc_id: str
    alt: str
    caption: str
    title: str
    context: str
    index: int
    offset: int
    licence: str | None
    licence_tier: str | None
    language: str | None
    refusal: str = ""
    signals: list[list[str]] = field(default_factory=list)
    detail: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    page_scores: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


class References:
    """Reads the corpus anew at each `read`. left_out: pages without images to offer, by reason."""

    def __init__(self, pages: Pages, config: Config) -> None:
        self._pages, self._config = pages, config
        self._chain = Chain(config, ["pii"])
        self._safety = Safety(config.classify)
        self.read_pages = 0
        self.left_out: Counter[str] = Counter()

    @property
    def now(self) -> float:
        """When the pages are read, as their lifetimes count (epoch seconds)."""
        return self._pages.now

    @now.setter
    def now(self, value: float) -> None:
        self._pages.now = value

    def read(self, progress: Callable[[int], object] = lambda _: None) -> Iterator[Reference]:
        """Every reference, those that a rule refuses, too. A page that the archive has no more is one of them.

        Raises: StorageError where the corpus is damaged.
        """
        self.read_pages = 0
        self.left_out.clear()  # the pass before saw the same ones
        for record in self._pages.read():
            self.read_pages += 1
            progress(self.read_pages)
            yield from self._of_page(record)
        self.left_out += self._pages.left_out

    def _of_page(self, record: Record) -> Iterator[Reference]:
        try:
            found = list(self._images(record))
        except StorageError:
            yield _reference(Candidate("", "", "", "", "", 0, 0, "no_page"), record)
            return
        signals = [Signal(*(said[name] for name in _SIGNAL)) for said in record.get("optout_signals") or ()]
        refused = page_refusal(signals, self._config)
        for image in found:
            image.refusal = image.refusal or refused
            made = _reference(image, record)
            if not made.refusal:
                made.alt, made.caption, made.title = map(
                    self._redacted(record), (image.alt, image.caption, image.title)
                )
                made.context = context_of(str(record["text"]), image.offset)
                made.signals = [[s.protocol, s.carrier, s.value, s.verdict] for s in signals]
                self._hold(made)
            yield made

    def _hold(self, made: Reference) -> None:
        words = (made.caption, made.alt, made.title)
        made.scores, (made.refusal, made.detail) = self._safety.judge(words, made.context, made.language)
        if made.refusal:
            without_words(made)

    def _images(self, record: Record) -> Iterator[Candidate]:
        page = exchange_of(self._pages.place, record)
        text = _html_of(page)
        tree = None if text is None else parse_html(text)
        if tree is None or isinstance(tree, str):
            self.left_out[UNREADABLE] += 1
            return
        yield from images_of(tree, page.url, str(record["text"]))

    def _redacted(self, record: Record) -> Callable[[str], str]:
        def redact(text: str) -> str:
            if not text:
                return ""
            url, language = str(record["url"]), record.get("language")
            made = Document(url=url, canonical_url=url, text=text, language=language, text_allowed=True)
            made = self._chain.run(made, ["pii"])
            return made.text if made.verdict is None else ""

        return redact


_SIGNAL = ("protocol", "carrier", "value", "verdict")


def _html_of(page: ArchivedResponse) -> str | None:
    """The page as its images were seen: as the browser drew it, where one did; None for what is no HTML."""
    if page.drawn:
        found = decode(page.drawn, None)
    elif media_kind(content_type(page.headers), page.body) == "html":
        found = decode(page.body, content_type(page.headers))
    else:
        return None
    return found[0] if found else None


def _reference(image: Candidate, record: Record) -> Reference:
    return Reference(
        url=image.url, name=image.name, page_url=str(record.get("canonical_url") or record["url"]),
        doc_id=str(record["doc_id"]), alt="", caption="", title="", context="", index=image.index, offset=image.offset,
        licence=record.get("license_tag"), licence_tier=record.get("license_tier"), language=record.get("language"),
        refusal=image.refusal, page_scores=record.get("classifier_scores") or {},
    )  # fmt: skip


def without_common(references: Callable[[], Iterator[Reference]]) -> Iterator[Reference]:
    """The references, those refused whose caption too many images have. Reads them twice; captions are in memory."""
    shared = common((key_of(one.caption), one.name) for one in references() if not one.refusal and one.caption)
    for one in references():
        if not one.refusal and key_of(one.caption) in shared:
            one.refusal = "common_caption"
            without_words(one)
        yield one


def without_words(one: Reference) -> None:
    """Of an image that is refused nothing of the page stays."""
    one.alt, one.caption, one.title, one.context = "", "", "", ""


def rules(references: Iterator[Reference]) -> Counter[str]:
    """How many each rule refuses."""
    return Counter(one.refusal for one in references if one.refusal in BY_RULE)
