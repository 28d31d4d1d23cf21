"""Spans follow their text: whoever edits a text here moves what was said of its places (`SPAN_FIELDS`).

An edit is (start, end, length): what stood from start up to end in the old text, in code points, and how many code
points stand there now. Edits are in order and do not overlap. Who knows what was edited says so (`moved`); of a
function that only answers another text, `edits_between` finds out (`change_text`, `moved_to`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from crawler.document import CITED, SPAN_FIELDS, WHOLE, Document, Span
from crawler.stages.text.words import recount

Edit = tuple[int, int, int]

MOST_CHARS = 2_000
"""Of a passage that was rewritten, up to which it is compared letter by letter, and line by line beyond."""
MOST_LINES = 2_000
"""Of a passage that was rewritten, beyond which its lines are not compared: it moves as a whole."""


def change_text(doc: Document, text: str, edits: Sequence[Edit] | None = None) -> None:
    """Give a document another text: its parts, its placeholders and its counts follow. edits: None = found out."""
    if text == doc.text:
        return
    for name in SPAN_FIELDS:
        spans = getattr(doc, name)
        setattr(doc, name, moved_to(text, doc.text, spans) if edits is None else moved(spans, edits, text))
    doc.text = text
    quote(doc)
    recount(doc)


def quote(doc: Document) -> None:
    """Give a document the citations and docket numbers that its text has where its spans say so."""
    doc.legal_citations, doc.legal_dockets = quotes(doc.text, doc.legal_spans)


def quotes(text: str, spans: Iterable[Span]) -> tuple[list[str], list[str]]:
    """Citations, and docket numbers, in order of first appearance, each once, with single spaces."""
    found = [(" ".join(text[start:end].split()), label) for start, end, label in spans]
    cited = dict.fromkeys(words for words, label in found if label in CITED)
    return list(cited), list(dict.fromkeys(words for words, label in found if label == "docket"))


def moved_to(text: str, old: str, spans: Sequence[Span]) -> list[Span]:
    """Spans of an old text in the text that was made of it, in order."""
    if text == old or not spans:
        return list(spans)
    places = (place for start, end, _ in spans for place in (start, end))
    return moved(spans, edits_between(old, text, places), text)


def moved(spans: Iterable[Span], edits: Sequence[Edit], text: str) -> list[Span]:
    """Spans after these edits, which made `text`; without white space at their ends, and without what is gone.

    What was put in belongs to the span that it begins in. So spans that did not overlap do not, and one within another
    stays within it. Of `WHOLE` goes what any edit touches.
    """
    given = list(spans)
    if not edits:
        return given
    given = [span for span in given if span[2] not in WHOLE or not _is_touched(span, edits)]
    places = sorted({place for start, end, _ in given for place in (start, end)})
    firsts, lasts = _followed(places, edits)
    found = []
    for start, end, label in given:
        first, last = firsts[start], min(lasts[end], len(text))
        inner = text[first:last]
        ink = inner.lstrip()
        if ink:
            blank = inner[: len(inner) - len(ink)]  # that of its first line stays: it indents code
            indent = len(blank) - blank.rfind("\n") - 1 if "\n" in blank or _begins_line(text, first) else 0
            found.append((last - len(ink) - indent, first + len(inner.rstrip()), label))
    return found


def _is_touched(span: Span, edits: Sequence[Edit]) -> bool:
    """True where an edit took something of a span, or put something into it."""
    start, end, _ = span
    at = bisect_right(edits, start, key=lambda edit: edit[1])
    return at < len(edits) and edits[at][0] < end


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _followed(places: Iterable[int], edits: Sequence[Edit]) -> tuple[dict[int, int], dict[int, int]]:
    """Of places in the old text, in order: where a span that begins there begins now, and where one ends."""
    firsts, lasts, at, by = dict[int, int](), dict[int, int](), 0, 0
    for place in places:
        while at < len(edits) and edits[at][1] <= place:
            start, end, length = edits[at]
            by += length - (end - start)
            at += 1
        if at < len(edits) and edits[at][0] < place:  # within what was edited: it is the earlier span's
            firsts[place] = lasts[place] = edits[at][0] + by + edits[at][2]
        else:
            firsts[place] = lasts[place] = place + by
    return firsts, lasts


def without_spans(text: str, spans: Iterable[tuple[int, int]]) -> tuple[str, list[Edit]]:
    """The text without these passages, in any order; where a whole line goes, its line break goes with it."""
    edits: list[Edit] = []
    for first, last in sorted(spans):
        start, end = first, last
        if edits and start <= edits[-1][1]:
            start, behind, _ = edits.pop()
            end = max(end, behind)
        is_line = text[end : end + 1] == "\n" and _begins_line(text, start)
        edits.append((start, end + is_line, 0))
    kept, at = [], 0
    for start, end, _ in edits:
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]]), edits


def edits_between(old: str, new: str, places: Iterable[int] = ()) -> list[Edit]:
    """The edits that make `new` of `old`, line by line; within a line that changed only where a place of these is."""
    before, behind = _lines(old), _lines(new)
    first = _shared(before, behind)
    last = _shared(before[first:][::-1], behind[first:][::-1])
    at = sum(map(len, before[:first]))
    ours, theirs = before[first : len(before) - last], behind[first : len(behind) - last]
    return [*_Compared(sorted(set(places))).lines(ours, theirs, at)]


def _lines(text: str) -> list[str]:
    """With their ends, the last one, too: what goes behind it and what goes before another one are alike."""
    return [f"{line}\n" for line in text.split("\n")]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


class _Compared:
    """Passages of two texts; `places`: those of the old text, in order, that have to be found again."""

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places

    def lines(self, ours: list[str], theirs: list[str], at: int) -> Iterator[Edit]:
        """Edits of a passage of lines that begins at `at`."""
        if len(ours) == len(theirs):
            for line, other in zip(ours, theirs, strict=True):
                if line != other:
                    yield from self._letters(line, other, at)
                at += len(line)
        elif (kept := _subsequence(ours, theirs)) is not None:
            for line, is_kept in zip(ours, kept, strict=True):
                if not is_kept:
                    yield at, at + len(line), 0
                at += len(line)
        elif max(len(ours), len(theirs)) > MOST_LINES:
            yield at, at + sum(map(len, ours)), sum(map(len, theirs))
        else:
            yield from self._blocks(ours, theirs, at)

    def _blocks(self, ours: list[str], theirs: list[str], at: int) -> Iterator[Edit]:
        for kind, start, end, first, last in SequenceMatcher(None, ours, theirs).get_opcodes():
            size = sum(map(len, ours[start:end]))
            if kind != "equal" and end - start == last - first:
                yield from self.lines(ours[start:end], theirs[first:last], at)
            elif kind != "equal":
                yield from self._letters("".join(ours[start:end]), "".join(theirs[first:last]), at)
            at += size

    def _letters(self, old: str, new: str, at: int) -> Iterator[Edit]:
        """Edits of a passage that was rewritten; one, unless a place within it has to be found again."""
        following = bisect_right(self._places, at)
        is_asked = following < len(self._places) and self._places[following] < at + len(old) - 1
        if not is_asked or max(len(old), len(new)) > MOST_CHARS:
            yield at, at + len(old), len(new)
            return
        for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield at + start, at + end, last - first


def _subsequence(ours: Sequence[str], theirs: Sequence[str]) -> list[bool] | None:
    """Which lines were kept, where the others went and no more; None where more was done."""
    left = iter(theirs)
    wanted, kept = next(left, None), []
    for line in ours:
        kept.append(line == wanted)
        if line == wanted:
            wanted = next(left, None)
    return kept if wanted is None else None
