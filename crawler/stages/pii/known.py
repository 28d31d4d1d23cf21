"""`Known` is what one record has shown to be personal: it goes wherever else it stands in the record.

A name that was found once is found again with an ending ("Baker's", "Bakerem"), with and without accents, in capitals,
with initials, in a slug, and as the surname alone; a number or an address in any other writing. The surname alone is
left where it is another's, a place, or a word: what it means there the words beside it say. One pass over the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from crawler.stages.pii.page import SECRET, Hit, lower_keeping_offsets
from crawler.stages.pii.scan import plain_marks
from crawler.stages.text.tables import sections

_WORDS = {name: " ".join(lines).split() for name, lines in sections(__package__, "known_words.txt").items()}
WORD_SETS = {name: frozenset(words) for name, words in _WORDS.items()}
_LONGEST_ENDING = max(map(len, _WORDS["endings"]))
_LONGEST_DROPPED = max(map(len, _WORDS["dropped"]))
LEAST = 3  # letters of a surname that stands for its person, and of the stem of one with an ending
_BETWEEN = 3  # middle names, initials and particles between given name and surname
_LEAST_DIGITS = 7
_LEAST_SECRET, _MOST_SECRETS = 8, 100  # characters of one, and how many are looked for elsewhere
_REACH = 80  # characters on each side in which a word tells that somebody is spoken of
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NUMBER = re.compile(r"[+(]?\d(?:[ \u00a0().\-/]{0,3}\d){6,22}")
_DIGITS_ONLY = re.compile(r"[\d\s().+/\-]+")
_JOINT = re.compile(r"[ \u00a0._+/\-]{1,3}")
_SIDE = re.compile(r"[ \u00a0\-]|\. ")
_START = re.compile(r"(?:\A|[.!?:;\n\"“„«(\[•*|–—])[\s\"“„«(\[]*\Z")
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_EXPANDED = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ß": "ss", "æ": "ae"}
_STRAIGHT = {ord(sign): sign for sign in "'"} | {0x2019: "'"}


@dataclass(frozen=True, slots=True)
class _Person:
    """Somebody whose name was found. value: that of the hit, by which its placeholder goes."""

    value: str
    only_initial: bool  # nothing else is known of the given name


class Known:
    """The persons and numbers in some hits of a record; `among` finds them again.

    hits: each with the text that it stands in. What its form alone proves (an e-mail address) needs no memory.
    """

    def __init__(self, hits: Iterable[tuple[str, Hit]]) -> None:
        self._by_surname: dict[str, dict[str, _Person]] = {}
        self._numbers: dict[str, Hit] = {}
        self._secrets: dict[str, Hit] = {}
        for text, hit in hits:
            raw = text[hit.start : hit.end]
            if hit.entity == SECRET:
                self._secrets[raw] = hit
            elif hit.entity == "PERSON":
                self._learn(raw, hit.value)
            elif _DIGITS_ONLY.fullmatch(plain_marks(raw)) and len(number := _digits(raw)) >= _LEAST_DIGITS:
                self._numbers.setdefault(number, hit)
        self._heads = {surname[:LEAST] for surname in self._by_surname}

    def __bool__(self) -> bool:
        return bool(self._by_surname or self._numbers or self._secrets)

    def may_be_in(self, folded: str) -> bool:
        """False where none of their surnames can stand in a text that is folded: a search is spared."""
        return any(name[: max(LEAST, len(name) - _LONGEST_DROPPED)] in folded for name in self._by_surname)

    def among(self, text: str, *, alone: bool = True) -> Iterator[Hit]:
        """Where they stand in a text, overlaps included. alone: also the surname by itself."""
        if self._by_surname:
            yield from self._names(text, alone=alone)
        for match in _NUMBER.finditer(plain_marks(text)) if self._numbers else ():
            if hit := self._numbers.get(_digits(match[0])):
                yield Hit(*match.span(), hit.entity, hit.value)
        for secret, hit in islice(self._secrets.items(), _MOST_SECRETS):
            for match in re.finditer(re.escape(secret), text) if len(secret) >= _LEAST_SECRET else ():
                yield Hit(*match.span(), hit.entity, hit.value)

    def _learn(self, raw: str, value: str) -> None:
        words = [word for match in WORD.finditer(raw) if fold(word := match[0]) not in WORD_SETS["titles"]]
        if len(words) < 2:  # a given name alone is many people's
            return
        for folded in {tuple(_bare(write(word)) for word in words) for write in (fold, _expanded, _contracted)}:
            if len(folded[-1]) >= LEAST:
                person, namesakes = _Person(value, len(folded[0]) == 1), self._by_surname.setdefault(folded[-1], {})
                namesakes.setdefault(folded[0], person)
                namesakes.setdefault(folded[0][0], person)  # an initial

    def _names(self, text: str, *, alone: bool) -> Iterator[Hit]:
        text = text.translate(_STRAIGHT)
        for start, end in _in_lines(text):
            for hit in self._names_in(text[start:end], alone=alone):
                yield Hit(hit.start + start, hit.end + start, hit.entity, hit.value) if start else hit

    def _names_in(self, text: str, *, alone: bool) -> Iterator[Hit]:
        page = _Page(text)
        for place, word in enumerate(page.words):
            if word[0][:LEAST] in self._heads and (found := self._persons(_bare(word[0]))):
                hit = page.in_full(place, found)
                if hit is None and alone and page.is_person(place):
                    hit = page.hit(place, place, next(iter(found.values())))
                if hit is not None:
                    yield hit

    def _persons(self, word: str) -> dict[str, _Person]:
        """Those whose surname this may be, with or without an ending, by given name and by its initial."""
        if found := self._by_surname.get(word):
            return found
        for stem in _stems(word):
            for end in ("", *_WORDS["dropped"]):
                if found := self._by_surname.get(stem + end):
                    return found
        return {}


class _Page:
    """A text with its words, folded: what a name means there its neighbours say."""

    def __init__(self, text: str) -> None:
        self._text, self._folded = text, fold(text)
        self.words: Sequence[re.Match[str]] = list(WORD.finditer(self._folded))
        self._small = {word[0] for word in self.words if text[word.start()].islower()}

    def in_full(self, place: int, namesakes: Mapping[str, _Person]) -> Hit | None:
        """The whole name: given name or initial, what may stand between, surname; or "Baker, Tom"."""
        for at in range(place - 1, max(-1, place - 2 - _BETWEEN), -1):
            if not _JOINT.fullmatch(self._gap(at)):
                break
            if person := _called(self.words[at][0], namesakes):
                return self.hit(at, place, person)
            if not self._may_stand_between(at, place):
                break
        if place + 1 < len(self.words) and self._gap(place) in {", ", " "}:
            behind = self.words[place + 1][0]
            if (person := _called(behind, namesakes)) and (self._gap(place) == ", " or len(behind) > 1):
                return self.hit(place, place + 1, person)
        return None

    def _may_stand_between(self, at: int, place: int) -> bool:
        word = self.words[at][0]
        if word.startswith(self.words[place][0][:LEAST]):
            return False
        return len(word) == 1 or word in WORD_SETS["particles"] or self._is_capital(at)

    def hit(self, first: int, last: int, person: _Person) -> Hit:
        """A hit from one word to another, without the possessive behind it."""
        end = self.words[last].start() + len(_bare(self.words[last][0]))
        return Hit(self.words[first].start(), end, "PERSON", person.value)

    def is_person(self, place: int) -> bool:
        """True where a surname alone is the person's: not a word, a place, an institution, or part of another name."""
        word = self.words[place]
        if not self._is_capital(place) or self._is_of_another(place) or self._is_an_institution(place):
            return False
        name, before = _bare(word[0]), self._before(place)
        if name in WORD_SETS["months"] or before in WORD_SETS["articles"]:
            return self._is_cued(place)
        if before in WORD_SETS["within"] and name in WORD_SETS["common"]:
            return "'" in word[0]
        if self._is_start(place) and (name in WORD_SETS["common"] or name in self._small):
            return self._is_cued(place)
        return True

    def _is_of_another(self, place: int) -> bool:
        """A capital word that is no title and no common word stands before it: another's given name."""
        before = self._before(place)
        if not before or before in WORD_SETS["titles"] or not self._is_capital(place - 1):
            return False
        common = before in self._small or before in _STARTERS
        return not (common and self._is_start(place - 1)) and not self._is_upper(place - 1)

    def _is_an_institution(self, place: int) -> bool:
        if self._text.startswith(" & ", self.words[place].end()):
            return True
        if place + 1 >= len(self.words) or self._gap(place) not in {" ", "-", "\u00a0"}:
            return False
        behind = self.words[place + 1][0]
        joined = self._gap(place) == "-" and not self._is_upper(place + 1)  # a double name, or authors of a paper
        return (joined or behind in WORD_SETS["institutions"]) and self._is_capital(place + 1)

    def _is_cued(self, place: int) -> bool:
        start, end = self.words[place].span()
        left = _SENTENCE_END.split(self._folded[max(0, start - _REACH) : start])[-1]
        right = _SENTENCE_END.split(self._folded[end : end + _REACH], maxsplit=1)[0]
        return not WORD_SETS["cues"].isdisjoint(WORD.findall(f"{left} {right}")) or "'" in self.words[place][0]

    def _before(self, place: int) -> str:
        return self.words[place - 1][0] if place and _SIDE.fullmatch(self._gap(place - 1)) else ""

    def _gap(self, place: int) -> str:
        """What stands between a word and the next one."""
        if not 0 <= place < len(self.words) - 1:
            return "\n"
        return self._text[self.words[place].end() : self.words[place + 1].start()]

    def _is_capital(self, place: int) -> bool:
        return self._text[self.words[place].start()].isupper()

    def _is_upper(self, place: int) -> bool:
        return self._text[slice(*self.words[place].span())].isupper()

    def _is_start(self, place: int) -> bool:
        start = self.words[place].start()
        return bool(_START.search(self._text[max(0, start - 4) : start])) or start == 0


AT_ONCE = 500_000
"""Characters whose words are in memory at a time: two hundred bytes each."""


def _in_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the text is cut: in whole lines, which no name and no word that tells of one goes beyond."""
    start = 0
    while len(text) - start > AT_ONCE and (end := text.find("\n", start + AT_ONCE) + 1):
        yield start, end
        start = end
    yield start, len(text)


def fold(text: str) -> str:
    """Small letters without accents, every character at its place."""
    lower = lower_keeping_offsets(text)
    return lower if lower.isascii() else lower.translate(_base_letters())


@cache
def _base_letters() -> dict[int, str]:
    """The letter under the accents of Latin, Greek and Cyrillic letters."""
    found = dict(zip(map(ord, "øłđðıßæœ"), "olddisao", strict=True))
    for code in (*range(0xC0, 0x530), *range(0x1E00, 0x2000)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if code not in found and base != chr(code):
            found[code] = base
    return found


def _expanded(word: str) -> str:
    """Müller as Mueller."""
    return fold("".join(_EXPANDED.get(char, char) for char in lower_keeping_offsets(word)))


def _contracted(word: str) -> str:
    """Mueller as Muller, which Müller folds to."""
    word = fold(word)
    for pair in ("ae", "oe", "ue", "aa", "ss"):
        word = word.replace(pair, pair[0])
    return word


def _bare(word: str) -> str:
    """Without a possessive or an ending behind an apostrophe; O'Brien keeps it."""
    before, mark, behind = word.replace("\u2019", "'").partition("'")
    return before if mark and len(before) >= LEAST and len(behind) <= _LONGEST_ENDING else word


def _stems(word: str) -> Iterator[str]:
    for length in range(1, min(_LONGEST_ENDING, len(word) - LEAST) + 1):
        if word[-length:] in WORD_SETS["endings"]:
            yield word[:-length]


def _called(word: str, namesakes: Mapping[str, _Person]) -> _Person | None:
    """Whose given name or initial this is, with or without an ending; a person known by an initial has any such one."""
    word = _bare(word)
    if found := namesakes.get(word):
        return found
    for stem in _stems(word):
        for end in ("", *_WORDS["dropped"]):
            if len(stem) > 1 and (found := namesakes.get(stem + end)):
                return found
    found = namesakes.get(word[0])
    return found if found and found.only_initial else None


def _digits(raw: str) -> str:
    return "".join(char for char in plain_marks(raw) if char.isdigit()).lstrip("0")


_STARTERS = WORD_SETS["articles"] | WORD_SETS["within"] | WORD_SETS["particles"] | WORD_SETS["starters"]
