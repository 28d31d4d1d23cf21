"""Chunks for retrieval: a text is cut at its headings, then where the strongest boundary is that the size allows.

Boundaries, the strongest first: blank lines and ends of labelled parts; ends of lines (rows of a table, lines of code);
ends of sentences; white space; and, where nothing else is left, between two characters that are not one sign.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from crawler.stages.quality.punctuation import OTHER_ENDS, UNMARKED, ends_a_sentence
from crawler.storage.files.records import Record, spans_in

Measure = Callable[[str], int]
"""Tokens of a text."""

REACH = 16
"""Characters for each token that are looked at for one chunk: what bounds the work on a text without boundaries."""
_LINE, _BLANK, _SPACE = re.compile(r"\n+"), re.compile(r"\n[^\S\n]*\n\s*"), re.compile(r"\s+")
_SKINS = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
"""Modifiers of the sign before them."""
_WIDE_ENDS = frozenset("。！？｡．")
"""Ends of sentences that no white space follows."""
_SHORT = re.compile(r"(?<!\w)(?:\w|[^\W\d_]{2,4})\.\Z")
_FRAGMENT_WORDS, _FRAGMENT_CHARS = 8, 80


@dataclass(frozen=True, slots=True)
class Chunk:
    """`text[start:end]` of a record. tokens: by the measure; headings: those that stand directly above, outermost
    first as far as the record says; types: of the labelled parts in it, each once, in their order; begins: those of
    them that its first character lies in.
    """

    start: int
    end: int
    tokens: int
    headings: tuple[str, ...]
    types: tuple[str, ...]
    begins: frozenset[str]


def chunks(record: Record, measure: Measure, *, size: int, overlap: int = 0) -> Iterator[Chunk]:
    """The chunks of a record, in order; together they have every character of its text but white space.

    size: most tokens of a chunk; a single sign may have more. overlap: tokens of whole sentences, at most, that a chunk
    repeats of the one before it in the same section.
    """
    text: str = record.get("text") or ""
    parts = sorted(spans_in(record, "parts"))
    edges = sorted({at for part in parts for at in part[:2]})
    flat = [part[:2] for part in parts if part[2] == "paragraph"]  # the end of a line is none of a sentence
    here, coming = list[tuple[int, int, str]](), 0
    for start, end, headings in _sections(text, parts):
        ranks = _boundaries(text, start, end, record.get("language") or "", edges, flat)
        for first, last in _Section(text, ranks, measure, size, overlap).cut(start, end):
            while coming < len(parts) and parts[coming][0] < last:
                here.append(parts[coming])
                coming += 1
            here = [part for part in here if part[1] > first]
            types = dict.fromkeys(kind for begin, _, kind in here if begin < last)
            begins = frozenset(kind for begin, _, kind in here if begin <= first)
            yield Chunk(first, last, measure(text[first:last]), headings, tuple(types), begins)


def _sections(text: str, parts: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Start, end, and headings of each part of the text that a heading, or a run of them, begins."""
    start, behind, headings = 0, 0, list[str]()
    for begin, end, kind in parts:
        if kind != "heading":
            continue
        if text[behind:begin].strip():
            yield start, begin, tuple(headings)
            start, headings = begin, []
        headings.append(" ".join(text[begin:end].split()))
        behind = end
    yield start, len(text), tuple(headings)


def _boundaries(  # noqa: PLR0917  # a text, and what is known of it
    text: str, start: int, end: int, language: str, edges: list[int], flat: list[tuple[int, int]]
) -> tuple[list[int], ...]:
    """Where this section may be cut, by rank, the strongest first; each list in order, without its start.

    edges: of all parts; flat: start and end of paragraphs.
    """
    blocks = {match.end() for match in _BLANK.finditer(text, start, end)}
    blocks.update(edges[bisect_right(edges, start) : bisect_right(edges, end)])
    lines, sentences, spaces = set[int](), set[int](), set[int]()
    for match in _SPACE.finditer(text, start, end):
        at, before = match.end(), text[max(start, match.start() - _FRAGMENT_CHARS) : match.start()]
        spaces.add(at)
        ended = ends_a_sentence(before, language) and not _is_abbreviated(before, text[at : at + 1])
        if ended or language in UNMARKED:
            sentences.add(at)
        if "\n" in match[0]:
            near = bisect_right(flat, (match.start(), len(text))) - 1
            inside = near >= 0 and at < flat[near][1]
            if ended or not inside:
                lines.add(at)
    sentences |= {at + 1 for at in range(start, end - 1) if text[at] in _WIDE_ENDS and text[at + 1] not in OTHER_ENDS
                  and unicodedata.category(text[at + 1]) not in ("Pe", "Pf")}  # fmt: skip
    return tuple(sorted(found - {start, end}) for found in (blocks, lines | blocks, sentences | lines | blocks, spaces))


def _is_abbreviated(before: str, behind: str) -> bool:
    """Of a full stop: doubt keeps what may be one sentence together, where letters have cases."""
    if not before.endswith("."):
        return False
    short = _SHORT.search(before)
    return behind.islower() or (behind.isupper() and short is not None and short[0][0].isupper())


@dataclass(frozen=True, slots=True)
class _Section:
    """One section while it is cut. ranks: its boundaries."""

    text: str
    ranks: tuple[list[int], ...]
    measure: Measure
    size: int
    overlap: int

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Start and end of each chunk."""
        text, reach = self.text, self.size * REACH
        at = done = _skip(text, start, end)
        while done < end:
            whole = end - at <= reach and self._fits(at, end)
            stop = end if whole else self._stop(at, done, min(end, at + reach))
            if stop is None:  # what is repeated leaves no room for what is new
                at = done
                continue
            last = at + len(text[at:stop].rstrip())
            if last > at:
                yield at, last
            done = _skip(text, stop, end)
            at = self._again(at, stop, done) if self.overlap and done < end else done

    def _stop(self, at: int, done: int, reach: int) -> int | None:
        """Where a chunk ends that begins at `at` and passes `done`; None where nothing fits, and `at` is before it.

        reach: the farthest end.
        """
        low, high = done, reach  # a chunk up to `low` fits, one beyond `high` does not
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._fits(at, middle) else (low, middle - 1)
        for found in self.ranks:
            for place in reversed(found[bisect_right(found, done) : bisect_right(found, low)]):
                if self.text[done:place].strip() and self._fits(at, place):
                    return place
        if at < done:
            return None
        while low > at + 1 and (_is_one_sign(self.text, low) or not self._fits(at, low)):
            low -= 1
        low = max(low, at + 1)
        while low < reach and _is_one_sign(self.text, low):
            low += 1
        return low

    def _again(self, at: int, stop: int, done: int) -> int:
        """Where the next chunk begins: as many whole sentences before `stop` as the overlap holds."""
        places, found = self.ranks[2], done
        for place in reversed(places[bisect_right(places, at) : bisect_right(places, stop - 1)]):
            if self.measure(self.text[place:stop].rstrip()) > self.overlap:
                break
            found = place
        return found

    def _fits(self, start: int, end: int) -> bool:
        return self.measure(self.text[start:end].rstrip()) <= self.size


def _skip(text: str, at: int, end: int) -> int:
    while at < end and text[at].isspace():
        at += 1
    return at


def _is_one_sign(text: str, at: int) -> bool:
    """True where a mark, a joiner or what it joins stands behind this place."""
    behind = text[at : at + 1]
    joined = "\u200d" in (behind, text[at - 1])
    return joined or (bool(behind) and (unicodedata.category(behind)[0] == "M" or behind in _SKINS))


def fragment_url(record: Record, chunk: Chunk) -> str | None:
    """The address of the page that scrolls to the beginning of a chunk; None where the page may not have these words.

    Source: WICG, URL Fragment Text Directives, "Syntax". Only of HTML, of headings and paragraphs, without placeholder.
    """
    text = record["text"]
    if record.get("document_kind") not in (None, "html") or not chunk.begins & {"heading", "paragraph"}:
        return None
    line = text[chunk.start : chunk.end].split("\n", 1)[0]
    words = " ".join(line.split()[:_FRAGMENT_WORDS])
    hidden = any(
        start < chunk.start + len(line) and end > chunk.start for start, end, _ in spans_in(record, "pii_spans")
    )
    if hidden or not words or len(words) > _FRAGMENT_CHARS:
        return None
    url = record.get("canonical_url") or record["url"]
    return f"{url}{'' if '#' in url else '#'}:~:text={quote(words, safe='').replace('-', '%2D')}"
