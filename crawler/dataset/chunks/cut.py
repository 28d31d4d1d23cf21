"""One text is cut into chunks: at headings, then at the ends of blocks, lines and sentences.

A chunk is text[start:end]. It crosses no heading and no border of a post, and ends within a row, a line of code or a
sentence only where that alone is longer than a chunk may be. But for white space every character is in a chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from crawler.dataset.chunks.sentences import grapheme_starts, sentence_starts, word_starts
from crawler.document import FORMS, SPEAKERS, Span

Count = Callable[[str], int]
"""Tokens of a text."""
_HEADING = re.compile(r"(#{1,6})\s+(.+)", re.DOTALL)
_LINES = re.compile(r"[^\n]*\n+|[^\n]+$")
_BY_LINE = frozenset({"table", "code", "heading"})
"""Forms whose lines are not cut into sentences."""
_BLOCK, _LINE, _SENTENCE, _HEADING_LINE = range(4)
"""What a place to cut lies behind, the best first."""
_WIDEST = 16
"""Characters a token at most: what is longer is not counted, so that a line of a whole text takes no square of time."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """start, end: code points of the text. headings: those above it, the highest first. forms: of what is in it."""

    start: int
    end: int
    tokens: int
    headings: tuple[str, ...]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cutter:
    """count: tokens of a text. size: most tokens of a chunk. overlap: most tokens that it repeats of the one before.

    A single character that has more tokens than `size` is a chunk of its own.
    """

    count: Count
    size: int
    overlap: int = 0

    def cut(self, text: str, parts: Sequence[Span] = (), language: str = "") -> list[Chunk]:
        """The chunks in order. parts: of the record, by start; language: by whose rules sentences end."""
        outline = Outline(text, parts)
        return [chunk for start, end in outline.sections() for chunk in self._section(outline, start, end, language)]

    def _section(self, outline: Outline, start: int, end: int, language: str) -> Iterator[Chunk]:
        places, ranks = outline.places(start, end, language)
        run = _Run(outline.text, self, places, ranks)
        for first, last in run.ranges(start, end):
            found = outline.trimmed(first, last)
            if found is not None:
                tokens = self.count(outline.text[slice(*found)])
                yield Chunk(*found, tokens, outline.headings(start, found[1]), outline.forms(*found))


class Outline:
    """What the parts of a record say of its text."""

    def __init__(self, text: str, parts: Sequence[Span]) -> None:
        self.text = text
        self._forms = [span for span in parts if span[2] in FORMS and span[0] < span[1]]
        self._starts = [span[0] for span in self._forms]
        self._speakers = [span for span in parts if span[2] in SPEAKERS]
        self._heads = [span for span in self._forms if span[2] == "heading"]
        self._head_starts = [span[0] for span in self._heads]
        self._paths = list(self._walk())

    def sections(self) -> Iterator[tuple[int, int]]:
        """Ranges without a heading or the border of a post within, but for headings that have no text of their own."""
        borders = {place for start, end, _ in self._speakers for place in (start, end)}
        cuts = sorted({*borders, *self._head_starts} - {0, len(self.text)})
        start = 0
        for cut in cuts:
            if cut in borders or not self._is_bare(start, cut):
                yield start, cut
                start = cut
        yield start, len(self.text)

    def places(self, start: int, end: int, language: str) -> tuple[list[int], list[int]]:
        """Where a section may be cut, in order, and what each place lies behind; the last one is its end."""
        places, ranks = [], []
        for match in _LINES.finditer(self.text, start, end):
            at, behind = match.start(), match.end()
            form = self._form_at(at)
            if form is None or form[2] not in _BY_LINE:
                line = self.text[at:behind].rstrip("\n")
                sentences = [at + place for place in sentence_starts(line, language)]
                places += sentences
                ranks += [_SENTENCE] * len(sentences)
            places.append(behind)
            if form is not None and form[2] == "heading":
                ranks.append(_HEADING_LINE)
            else:
                ranks.append(_LINE if form is not None and behind < form[1] else _BLOCK)
        return places, ranks

    def trimmed(self, start: int, end: int) -> tuple[int, int] | None:
        """Without white space at the ends; a line of code keeps its indent. None where nothing else is there."""
        inner = self.text[start:end]
        ink = inner.lstrip()
        if not ink:
            return None
        first = end - len(ink)
        line = self.text.rfind("\n", start, first) + 1
        is_indent = line > start or start == 0 or self.text[start - 1] == "\n"
        form = self._form_at(first)
        if is_indent and form is not None and form[2] == "code":
            first = max(line, start)
        return first, start + len(inner.rstrip())

    def headings(self, start: int, end: int) -> tuple[str, ...]:
        """Those above what ends at `end`, in the section that begins at `start`."""
        last = bisect_left(self._head_starts, end) - 1
        if last < 0:
            return ()
        speaker, path, outer = self._paths[last]
        return path if speaker == self._speaker_at(start) else outer

    def forms(self, start: int, end: int) -> tuple[str, ...]:
        """Forms of what lies in a range, each once, in order."""
        first = max(0, bisect_right(self._starts, start) - 1)
        among = self._forms[first : bisect_left(self._starts, end)]
        return tuple(dict.fromkeys(form for at, behind, form in among if at < end and behind > start))

    def _form_at(self, place: int) -> Span | None:
        last = bisect_right(self._starts, place) - 1
        return self._forms[last] if last >= 0 and place < self._forms[last][1] else None

    def _speaker_at(self, place: int) -> Span | None:
        return next((span for span in self._speakers if span[0] <= place < span[1]), None)

    def _is_bare(self, start: int, end: int) -> bool:
        """True for headings with nothing between and behind them."""
        at, left = start, []
        for first, last, _ in self._heads[bisect_left(self._head_starts, start) : bisect_left(self._head_starts, end)]:
            left.append(self.text[at:first])
            at = last
        return not "".join([*left, self.text[at:end]]).strip()

    def _walk(self) -> Iterator[tuple[Span | None, tuple[str, ...], tuple[str, ...]]]:
        """Of each heading: the post it stands in, the path to it, and the path outside of posts.

        Markdown says the level of a heading. Where nothing does, it stands below nothing.
        """
        outer: list[tuple[int, str]] = []
        stack, inside = outer, None
        for start, end, _ in self._heads:
            speaker = self._speaker_at(start)
            if speaker is None:
                stack = outer
            elif speaker != inside:
                stack = list(outer)
            inside = speaker
            written = " ".join(self.text[start:end].split())
            marked = _HEADING.fullmatch(written)
            level, name = (len(marked[1]), marked[2].rstrip("# ")) if marked else (0, written)
            while stack and (stack[-1][0] >= level or stack[-1][0] == 0):
                stack.pop()
            stack.append((level, name))
            yield speaker, tuple(name for _, name in stack), tuple(name for _, name in outer)


class _Run:
    """A section while it is cut. places: where it may be cut, in order, the last one its end; ranks: of each."""

    def __init__(self, text: str, cutter: Cutter, places: list[int], ranks: list[int]) -> None:
        self._text, self._cutter, self._places, self._ranks = text, cutter, places, ranks

    def ranges(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges that go on where the one before ended, or before that by the overlap."""
        at = done = start
        while done < end:
            following = self._following(done)
            at = self._begun(at, done, self._places[following])
            if self._fits(at, self._places[following]):
                last = self._places[self._furthest(at, following)]
                between = self._places[bisect_right(self._places, at) : bisect_left(self._places, last)]
            else:
                at = done
                last = self._within(at, self._places[following])
                between = word_starts(self._text, at, last)
            yield at, last
            at, done = self._overlapping(between, last), last

    def _following(self, done: int) -> int:
        """The next place, by number; that behind a heading is none, where what follows has to be cut anyway."""
        found = behind = bisect_right(self._places, done)
        while self._ranks[behind] == _HEADING_LINE and behind + 1 < len(self._places):
            behind += 1
        is_cut = behind > found and not self._fits(self._places[behind - 1], self._places[behind])
        return behind if is_cut else found

    def _begun(self, at: int, done: int, behind: int) -> int:
        """The overlap gives way to what follows, where both together are too long."""
        return at if at == done or self._fits(at, behind) else done

    def _overlapping(self, between: list[int], last: int) -> int:
        """Where the next chunk begins: up to `overlap` tokens before this one ends."""
        if not self._cutter.overlap:
            return last
        return next((place for place in between if self._tokens(place, last) <= self._cutter.overlap), last)

    def _furthest(self, at: int, first: int) -> int:
        """The place, by number, up to which a chunk goes; one behind a block, where that leaves it half full."""
        good, step = first, 1
        while good + step < len(self._places) and self._fits(at, self._places[good + step]):
            good, step = good + step, step * 2
        bad = min(good + step, len(self._places))
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self._fits(at, self._places[middle]) else (good, middle)
        if good == len(self._places) - 1:
            return good
        half = self._tokens(at, self._places[good]) / 2
        for rank in (_BLOCK, _LINE):
            found = next((n for n in range(good, first - 1, -1) if self._ranks[n] <= rank), None)
            if found is not None and self._tokens(at, self._places[found]) >= half:
                return found
        return good

    def _within(self, at: int, end: int) -> int:
        """Where a sentence, a row or a line of code is cut that is too long by itself."""
        end = min(end, at + _WIDEST * self._cutter.size)
        for places in (word_starts, grapheme_starts):
            found = [*places(self._text, at, end)]
            fitting = bisect_right(found, False, key=lambda place: not self._fits(at, place))
            if fitting:
                return found[fitting - 1]
        return (found or [end])[0]

    def _fits(self, at: int, end: int) -> bool:
        return end - at <= _WIDEST * self._cutter.size and self._tokens(at, end) <= self._cutter.size

    def _tokens(self, at: int, end: int) -> int:
        return self._cutter.count(self._text[at:end].strip())
