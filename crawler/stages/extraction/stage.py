"""The extraction stage finds the main text of the page in the tree that the parse stage made.

The chain, every step named in `extractor`:

1. `trafilatura-fast`: trafilatura's own rules without its back-up extractors. It stands unless it looks wrong.
2. `trafilatura`: with the back-up extractors; run where there is no fast text, where it is under 60 % of what
   resiliparse sees, too short although resiliparse sees enough, or one long line. It wins where the fast text is under
   60 % of it, or where it alone has lines.
3. `resiliparse`: where trafilatura finds nothing, or a short text of under half of the running text that resiliparse
   sees, or a long one in one line: half an article, or one without paragraphs, is worse than one with some lines too
   many. It is asked alone on pages of more than 60,000 tags, and it is an extractor of its own (`EXTRACTOR`).

`EXTRACTOR=learned` asks a model instead (`learned/`, named `learned`), and resiliparse on pages of too many tags. On
what looks like an article and is doubtful the chain above gives a second opinion on each block (`learned-second`).

A page that shows next to nothing and carries its text as data (`doc.embedded`) is read from there: `embedded-json-ld`,
`embedded-state`; what it fetched in the browser and `js_capture` names is `captured-json`. Whichever step wins, lines
that only point elsewhere ("Read more: …") go (`signposts.py`), as do tables of contents (`contents.py`). Plain text
keeps its lines and is named `plain`.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

from lxml.html import tostring
from resiliparse.extract.html2text import extract_plain_text
from trafilatura import bare_extraction

from crawler.config import ExtractionConfig
from crawler.document import STATED_LICENCE, Document, Drop, DropReason, Signal
from crawler.stages.documents.model import FileText
from crawler.stages.extraction.blocks import of_blocks
from crawler.stages.extraction.cells import square_tables
from crawler.stages.extraction.code import CODE, Listing, code_blocks, code_chars, languages_of, listings
from crawler.stages.extraction.common import correct
from crawler.stages.extraction.contents import Contents, contents_of, without_contents
from crawler.stages.extraction.escaped import escaped_tags, unescape, unescaped, without_tags
from crawler.stages.extraction.faster import install
from crawler.stages.extraction.forms import form_signals, page_with_fields
from crawler.stages.extraction.further import without_further
from crawler.stages.extraction.hidden import drop_hidden, hidden_in
from crawler.stages.extraction.learned import between
from crawler.stages.extraction.learned.extract import extract
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.extraction.learned.walk import Walked, walk
from crawler.stages.extraction.markdown import as_markdown
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.extraction.orphans import lists_of_links, without_orphans
from crawler.stages.extraction.placed import placed
from crawler.stages.extraction.prepare import prepare
from crawler.stages.extraction.render import render
from crawler.stages.extraction.shadow import open_shadows
from crawler.stages.extraction.signposts import without_signposts
from crawler.stages.extraction.tags import Tags
from crawler.stages.extraction.verse import verse_chars
from crawler.stages.extraction.written import Written, of_lines
from crawler.stages.text.charset import decode
from crawler.stages.text.normal import normalise
from crawler.stages.text.words import count_words, recount
from crawler.stages.text.wrapped import unwrapped
from crawler.urls.refresh import is_redirect, moves_a_notice

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it warns about pages; the verdict says what happened

_BLANK_LINES = re.compile(r"\n{3,}")
_MAY_BE_WRAPPED = frozenset({"plain", "mail", "transcribe"})
"""Extractors of texts whose lines a program may have wrapped; those of records and of WET files are somebody's."""
_ELSEWHERE = 0.5
"""F1 that the model expects under which the chain's text is compared with all that the model saw: where it has more
letters, the page's text stands in its data (JSON-LD), or where lxml lost it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """When a step of the chain gives way to the next one. Shares of characters, 0 to 1."""

    min_share_of_full: float = 0.6
    """A fast text under this share of the full one lost the article (design: measured on news pages)."""
    min_share_of_estimate: float = 0.6
    """A fast text under this share of resiliparse's is compared with the full one."""
    min_share_of_running: float = 0.5
    """A text under this share of the running text of resiliparse's gives way to it (chosen on one half of wcxb-dev)."""
    longest_fragment: int = 3_000
    """Characters; a longer text is an article of its own, however much resiliparse found beside it (same source)."""
    running_line: int = 60
    """Characters from which a line counts as running text: shorter ones are menus and headings."""
    min_share_of_flat: float = 0.6
    """A long text of one line gives way to resiliparse's from this share of it on: paragraphs, headings and lists are
    worth more than some lines too many (chosen on one half of wcxb-dev, confirmed on the other: 7 and 7 pages)."""
    most_tags: int = 60_000
    """Tags of a page, beyond which resiliparse alone is asked: trafilatura takes time with the square of them. The
    longest chapter of Python's and PostgreSQL's documentation has 34,162, an index of all names 69,909."""
    shown_words: int = 50
    """Words that a page shows, menus included, from which its data are not asked (as `ShellLimits.main_words`)."""
    richer: float = 1.2
    """How many times as many words captured JSON needs (as `stages.tiers.BETTER`): the drawn page has its headings."""
    longest_line: int = 400
    """Characters; a fast text of one longer line has lost the page's lines and is compared with the full one."""


class ExtractionStage:
    """Sets `text`, its counts and metadata, `extraction_yield`, `extractor` and `method_used`; uses `tree` up."""

    name: ClassVar[str] = "extraction"

    def __init__(self, config: ExtractionConfig, chain: Chain | None = None) -> None:
        self._min_words = config.min_words
        self._extractor = config.extractor
        self._format = config.text_format
        self._comments, self._hidden_text = config.comments, config.hidden_text
        self._chain = chain or Chain()
        install()
        if self._extractor == "learned":
            the_model()  # read before the first page

    def __call__(self, doc: Document) -> Document | Drop:
        """Extract the main text of `doc.tree`.

        Drops: consent_wall, no_text, too_short (under EXTRACTION_MIN_WORDS words), redirected (by a refresh).
        """
        tree, doc.tree = doc.tree, None
        size = len(doc.html)
        if (settled := _settled(doc, tree)) is not None:
            return settled
        contents: list[Contents] = []
        code: list[Listing] = []
        escaped, fields = frozenset[str](), ""
        doc.method_used = doc.method_used or "fast"  # a record of JSON has named its own
        if tree is None or isinstance(tree, str | FileText):
            found = self._as_it_stands(doc, tree)
        else:
            tags = Tags(tree)
            self._prepare(doc, tree, tags)
            marked = code_chars(tree) if tags.have(*CODE) else 0
            code = listings(tree) if tags.have("pre") else []
            verse = verse_chars(tree) if tags.have("br") else 0
            contents, fields = contents_of(tree, doc.url), page_with_fields(tree, doc.html, doc.url)
            escaped = escaped_tags(tree, doc.html)
            found, doc.extractor = self._main_text(doc, tree)
            found = self._or_captured(doc, self._or_embedded(doc, found))
            doc.quality_signals["marked_code"] = round(min(1.0, marked / max(len(found.text), 1)), 4)
            doc.quality_signals["marked_verse"] = round(min(1.0, verse / max(len(found.text), 1)), 4)
        found = found.edited(normalise(found.text).strip())
        if not isinstance(tree, str | FileText):
            found = found.edited(without_contents(without_tags(found.text, escaped), contents))
            text, doc.quality_signals["signposts"] = without_signposts(found.text)
            found = found.edited(text)
        doc.text, doc.parts = found.text, [*found.parts]
        doc.code_blocks = code_blocks(doc.text, code)
        doc.code_languages = languages_of(doc.code_blocks)
        recount(doc)
        doc.quality_signals |= form_signals(fields, doc.text, doc.url, doc.page_type)
        doc.extraction_yield = round(doc.char_count / size, 4) if size else None
        if moves_a_notice(doc.refresh) and doc.word_count < self._chain.shown_words:
            return _leads_on(doc)
        if doc.consent_words >= doc.word_count > 0 or (doc.consent_words and not doc.text):
            doc.forget_text()
            return Drop(self.name, DropReason.CONSENT_WALL, f"{doc.consent_words} words ask for consent")
        if not doc.text:
            doc.extractor = ""
            return Drop(self.name, DropReason.NO_TEXT, f"{len(doc.html)} bytes of {doc.content_type[:60] or 'HTML'}")
        if doc.word_count < self._min_words:
            return Drop(self.name, DropReason.TOO_SHORT, f"{doc.word_count} words, needs {self._min_words}")
        return doc

    def _as_it_stands(self, doc: Document, tree: str | FileText | None) -> Written:
        """What needs no extractor; an archive's reader may have named one."""
        if isinstance(tree, FileText):
            return of_blocks(tree.blocks, self._format)
        if tree is None:
            return Written()
        doc.extractor = doc.extractor or "plain"
        text = _plain(tree)
        return of_lines(unwrapped(text) if doc.extractor in _MAY_BE_WRAPPED else text)

    def _prepare(self, doc: Document, tree: Any, tags: Tags) -> None:
        """Read what the page says of itself, and correct the tree for every extractor."""
        if tags.have("template"):
            open_shadows(tree)
        if unescape(tree, doc.html) and doc.title:
            doc.title = unescaped(doc.title)
        if not doc.fields:  # a record says them itself
            self._fill_metadata(doc, tree)
        doc.quality_signals["hidden"] = self._count_hidden(doc, tree)
        if not self._is_too_large(doc):
            correct(tree, doc.html, tags)

    def _count_hidden(self, doc: Document, tree: Any) -> int:
        """Words that no reader sees; they leave the page where HIDDEN_TEXT says so."""
        hidden = hidden_in(tree)
        if hidden.elements and doc.choices.get("hidden_text", self._hidden_text) == "drop":
            drop_hidden(hidden)
            doc.html = tostring(tree, encoding="utf-8")  # resiliparse reads bytes
            doc.charset = "utf-8"
        return hidden.words

    def _or_embedded(self, doc: Document, shown: Written) -> Written:
        """The text, or what the page's own data hold where the page itself shows too little."""
        found, doc.embedded = doc.embedded, None
        words = doc.render_signals.get("shell", {}).get("visible_words", 0)
        if found is None or words >= self._chain.shown_words:
            return shown
        said = count_words(found[0])
        if said <= words or said < count_words(shown.text):  # a forum's thread in <noscript>, its first post as data
            return shown
        _take_from_data(doc, "embedded", f"embedded-{found[1]}")
        return of_lines(found[0])

    def _or_captured(self, doc: Document, shown: Written) -> Written:
        """The text, or that of the JSON which the page fetched in the browser, where it is richer."""
        captured, doc.captured = doc.captured, ""
        if not captured or count_words(captured) <= self._chain.richer * count_words(shown.text):
            return shown
        _take_from_data(doc, "captured", "captured-json")
        return of_lines(captured)

    def _fill_metadata(self, doc: Document, tree: Any) -> None:
        found = read_metadata(tree, doc.url, doc.crawled_at[:10] or None, source=Source(doc.html))
        doc.title = found.title or doc.title
        doc.description = found.description or doc.description
        doc.author = found.author or doc.author
        doc.pub_date = found.pub_date or doc.pub_date
        if doc.license_tier and found.license_tag not in (None, doc.license_tag):  # the allowlist's holds
            doc.optout_signals.append(Signal(STATED_LICENCE, "page", found.license_tag))
        doc.license_tag = doc.license_tag or found.license_tag

    def _main_text(self, doc: Document, tree: Any) -> tuple[Written, str]:
        is_too_large = self._is_too_large(doc)
        if self._extractor == "learned" and not is_too_large:
            return self._learned_text(doc, tree)
        page = Walked() if is_too_large else walk(tree)  # before the chain, which changes the tree
        if self._extractor == "resiliparse" or is_too_large:
            return self._placed(page, resiliparse_text(doc, None if is_too_large else tree)), "resiliparse"
        text, step = self._chain_text(doc, tree)
        return self._placed(page, text), step

    def _is_too_large(self, doc: Document) -> bool:
        return doc.html.count(b"<") > self._chain.most_tags

    def _placed(self, page: Walked, text: str) -> Written:
        """What an extractor of plain lines wrote, as TEXT_FORMAT asks for it."""
        written = placed(page, text)
        return written if self._format == "text" else as_markdown(page, written)

    def _chain_text(self, doc: Document, tree: Any) -> tuple[str, str]:
        prepare(tree)
        lists = lists_of_links(tree)
        text, step = self._best_text(doc, tree)
        return without_further(without_orphans(text, lists), tree, doc.url), step

    def _learned_text(self, doc: Document, tree: Any) -> tuple[Written, str]:
        chain = cache(partial(self._chain_text, doc, tree))
        found = extract(
            tree,
            text_format=self._format,
            comments=doc.choices.get("comments", self._comments),
            opinion=lambda: chain()[0],
        )
        if found.confidence < _ELSEWHERE and sum(map(str.isalnum, chain()[0])) > found.letters:
            return self._placed(found.page, chain()[0]), chain()[1]
        doc.extraction_confidence = found.confidence
        doc.page_type, doc.page_type_score = found.page_type, found.page_type_score
        doc.comments = found.comments
        doc.quality_signals |= found.links
        return found.written, "learned-second" if found.is_second else "learned"

    def _best_text(self, doc: Document, tree: Any) -> tuple[str, str]:
        text = trafilatura_text(tree, doc.url, fast=True)
        if self._is_most_of(text, tree):
            return text, "trafilatura-fast"
        estimate = resiliparse_text(doc)
        if self._is_enough(text, estimate):
            return text, "trafilatura-fast"
        import crawler.stages.extraction.last_resort  # noqa: F401  # what few pages need

        full = trafilatura_text(tree, doc.url, fast=False)
        best = (full, "trafilatura") if self._is_better(full, text) else (text, "trafilatura-fast")
        if self._is_fragment(best[0], estimate) or self._has_lost_its_lines(best[0], estimate):
            return estimate, "resiliparse"
        return best

    def _is_most_of(self, text: str, tree: Any) -> bool:
        """True where no estimate could say that text is missing: it is most of all the text there is on the page."""
        if _is_flat(text) or count_words(text) < self._min_words:
            return False
        everything = tree.text_content()
        return len(text) >= self._chain.min_share_of_estimate * len(everything)

    def _is_enough(self, text: str, estimate: str) -> bool:
        if not text or len(text) < self._chain.min_share_of_estimate * len(estimate):
            return False
        if _is_flat(text) and len(text) > self._chain.longest_line:
            return False
        return count_words(text) >= self._min_words or count_words(estimate) < self._min_words

    def _is_fragment(self, text: str, estimate: str) -> bool:
        if len(text) > self._chain.longest_fragment:
            return False
        running = sum(len(line) for line in estimate.splitlines() if len(line) >= self._chain.running_line)
        return not text or len(text) < self._chain.min_share_of_running * running

    def _has_lost_its_lines(self, text: str, estimate: str) -> bool:
        """True for a long text of one line, where resiliparse sees about as much, and several lines of it in there."""
        if not _is_flat(text) or len(text) <= self._chain.longest_line:
            return False
        if _is_flat(estimate) or len(estimate) < self._chain.min_share_of_flat * len(text):
            return False
        begin = self._chain.running_line
        return sum(line[:begin].strip() in text for line in estimate.splitlines() if len(line) >= begin) > 1

    def _is_better(self, full: str, text: str) -> bool:
        share = self._chain.min_share_of_full
        lines_won = _is_flat(text) and not _is_flat(full) and len(full) >= share * len(text)
        return lines_won or len(text) < share * len(full)


def _settled(doc: Document, tree: Any) -> Drop | None:
    """The verdict on what has no text of its own to look for."""
    if is_redirect(doc.refresh):
        return _leads_on(doc)
    return tree.drop if isinstance(tree, FileText) else None


def _leads_on(doc: Document) -> Drop:
    """A page that only leads to another one is a redirect, as one that the server sends."""
    doc.forget_text()
    return Drop("frontier", DropReason.REDIRECTED, (doc.refresh.url if doc.refresh else "")[:512])


def _take_from_data(doc: Document, method: str, extractor: str) -> None:
    """The text comes from data: what was said of the text that is shown holds no more."""
    doc.method_used, doc.extractor = method, extractor
    doc.extraction_confidence = doc.page_type = doc.page_type_score = None
    for signal in between.NAMES:
        doc.quality_signals.pop(signal, None)


def _is_flat(text: str) -> bool:
    """True where trafilatura fell back to all text of the page in one line."""
    return "\n" not in text


def trafilatura_text(tree: Any, url: str, *, fast: bool) -> str:
    """Main text by trafilatura; "" where it finds none. `fast` leaves its back-up extractors out.

    The tree is copied, not changed.
    """
    found = bare_extraction(
        tree,
        url=url,
        fast=fast,
        include_comments=False,
        include_tables=True,
        output_format="txt",  # "python" would write the text out, too
    )
    return render(found.body) if found is not None else ""


def resiliparse_text(doc: Document, tree: Any = None) -> str:
    """Main text by resiliparse, which needs its own (fast) parse: of the tree, if one is given, else of the bytes."""
    if tree is not None:
        square_tables(tree)
        source = tostring(tree, encoding="unicode")
    elif (decoded := decode(doc.html, doc.charset)) is not None:
        source = decoded[0]
    else:
        return ""
    text: str = extract_plain_text(source, main_content=True, links=False, alt_texts=False, comments=False)
    return text


def _plain(text: str) -> str:
    """Plain text as it stands: no trailing white space, at most one empty line in a row."""
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.splitlines()))
