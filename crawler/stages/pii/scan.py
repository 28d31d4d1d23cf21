"""The scan marks where a recogniser has to look at all: one linear pass over the text.

Every expression here starts at a rare anchor (an `@`, a digit, a trigger word) and is bounded, so the scan is linear in
the text and a page without candidates costs well under a millisecond per 10 kB. It decides nothing: it yields
`Candidate`s, short stretches of text (at most `MAX_CANDIDATE` characters) that `recognise` puts before a recogniser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from crawler.stages.pii.needles import Needles
from crawler.stages.pii.outline import Outline
from crawler.stages.pii.page import lower_keeping_offsets
from crawler.stages.pii.scripts import JOINING, is_joining
from crawler.stages.pii.skeleton import earliest, possible_kinds

MAX_CANDIDATE = 400
"""Longest candidate in characters; keeps every later expression bounded, whatever the page does."""

_LOCAL_PART = re.compile(r"[\w.!'+~-]{1,64}\Z")  # of the marks RFC 5322 allows, those that people have
_DOMAIN = re.compile(r"(?:[\w-]{1,63}\.){1,8}[\w-]{2,63}")
DOT_WORDS = r"dot|punkt|point|punto|ponto|punt|kropka|prick|piste|bod|\."
_DOT = rf"(?:\s?[\[({{<]\s?(?:{DOT_WORDS})\s?[\])}}>]\s?|\.)"
_MASKED_AT = re.compile(
    r"[\[({<]\s?(?:at|ät|@|arroba|arobase|arobas|chiocciola|apenstaartje|małpa|malpa|snabel-?a)\s?[\])}>]",
    re.IGNORECASE,
)
_MASKED_LEFT = re.compile(rf"[\w+-]{{1,64}}(?:{_DOT}[\w+-]{{1,64}}){{0,3}}\s?\Z", re.IGNORECASE)
_MASKED_RIGHT = re.compile(rf"\s?[\w-]{{1,63}}(?:{_DOT}[\w-]{{2,63}}){{1,4}}", re.IGNORECASE)
_SPOKEN_DOT = re.compile(r" dot (?:com|org|net|edu|gov|info|io|co|uk|de|fr|eu|us|ca|au)(?!\w)", re.IGNORECASE)
_SPOKEN_LEFT = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}(?: dot [\w.+-]{1,64}){0,2} at [\w-]{1,63}(?: dot [\w-]{1,63}){0,2}\Z", re.IGNORECASE
)

_SPACE = " \u00a0\u202f\u2009"
_DASH = "\\-\u2010\u2011\u2012\u2013"
_RUN = 47  # characters of a row of digits that are read together, less one
NUMERIC: dict[str, re.Pattern[str]] = {
    "phone": re.compile(
        rf"[0-9+(](?<!{JOINING}[0-9+(])(?<![.,$€£#/+({_DASH}][0-9+(])(?<!=[0-9(])(?=(?:[^0-9\n]{{0,4}}[0-9]){{5}})"
        rf"(?:(?<=\()\+)?[\d().{_SPACE}{_DASH}/]{{5,{_RUN}}}+"
    ),
    "card": re.compile(
        rf"[0-9](?<!{JOINING}[0-9])(?<![./=#{_DASH}][0-9])\d{{3}}(?:(?:[{_SPACE}{_DASH}]\d{{2,7}}){{2,4}}"
        rf"(?:[{_SPACE}{_DASH}]\d{{1,3}})?|\d{{8,15}})(?!{JOINING}|[.{_DASH}]\d)"
    ),
    "ipv4": re.compile(
        rf"[0-9](?<!{JOINING}[0-9])(?<![.-][0-9])\d{{0,2}}\.(?:\d{{1,3}}\.){{2}}\d{{1,3}}(?!{JOINING}|-|\.\d)"
    ),
    "ipv6": re.compile(
        rf"[23](?<!{JOINING}[23])(?<![:.][23])[0-9A-Fa-f]{{3}}:[0-9A-Fa-f:]{{3,34}}[0-9A-Fa-f:](?!{JOINING})"
    ),
    "iban": re.compile(
        rf"[0-9](?:(?<=[A-Za-z]{{2}}[0-9])(?:(?<![A-Za-z0-9][A-Za-z]{{2}}[0-9])|(?<=[Ii][Bb][Aa][Nn][A-Za-z]{{2}}[0-9]))"
        rf"|(?<=[A-Z]{{2}} [0-9])(?<![A-Za-z0-9][A-Z]{{2}} [0-9]))\d[A-Za-z0-9{_SPACE}.-]{{10,44}}"
    ),
    "bitcoin": re.compile(rf"[13b](?<!{JOINING}[13b])(?<!/[13b])(?:(?<=b)c1)?[a-zA-HJ-NP-Z0-9]{{25,59}}(?!{JOINING})"),
    "ether": re.compile(rf"0x[0-9a-fA-F]{{40}}(?!{JOINING})"),
    "fiscal": re.compile(
        rf"[A-Z](?<!{JOINING}[A-Z])[A-Z]{{5}}[0-9A-Z]{{2}}[A-Z][0-9A-Z]{{2}}[A-Z][0-9A-Z]{{3}}[A-Z](?!{JOINING})"
    ),
    "nif": re.compile(r"[0-9XYZ](?<!\w[0-9XYZ])\d{7}-?[A-Z](?!\w)"),
    "hetu": re.compile(r"[0-9](?<!\w[0-9])\d{5}[-+A]\d{3}[0-9A-Y](?!\w)"),
}
"""Anchored, bounded expressions by kind of candidate. The look-behind stands after the first character, because an
expression that starts with a plain set of characters is searched four times faster."""

_GAP = re.compile(rf"[{_SPACE}]{{1,3}}[/{_DASH}][{_SPACE}]{{1,3}}|[{_SPACE}]{{2,4}}")
_WHITE = re.compile(rf"[{_SPACE}]")
_DIGIT = re.compile("[0-9]")
_SIGN = re.compile(r"[0-9@\[({<]| dot ", re.IGNORECASE)
_CLUSTER = re.compile(r"[0-9](?:(?:[^0-9\n]{0,3}[0-9]){3}|[a-z]{1,6}[0-9])")
_CLUSTER_IN_SKELETON = re.compile(rb"0(?:(?:[^0\n]{0,3}0){3}|[Aa]{1,6}0)")
_BEFORE, _BEHIND = 30, 80  # characters an identity number may stand before or behind its trigger word


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stretch `text[start:end]` that a recogniser of this kind should judge."""

    kind: str
    start: int
    end: int


_PLAIN = dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u3000", " ")
_PLAIN |= dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\uff0d", "-")
_PLAIN |= {"\uff0b": "+", "\uff20": "@", "\uff0e": ".", "\uff08": "(", "\uff09": ")"}
_PLAIN |= {char: str(int(char)) for char in map(chr, range(0x80, 0x10000)) if char.isdecimal()}
"""Beyond these codes are the digits of mathematics and of scripts that no page is in; a set with them is slow."""
_FANCY = re.compile(f"[{''.join(_PLAIN)}]")


def plain_marks(text: str) -> str:
    """Spaces and hyphens of all widths and digits of other scripts as the ASCII ones, every character at its place.

    A trunk zero in square brackets stands in round ones.
    """
    if "[0]" in text:
        text = _TRUNK.sub(r"\1(0)", text)
    return text if text.isascii() else _FANCY.sub(lambda match: _PLAIN[match[0]], text)


_TRUNK = re.compile(r"((?:\+|00)[1-9]\d{0,2}[ \u00a0-]?)\[0\]")  # +49 [0]4442, where others write (0)


def scan(text: str, lower: str, triggers: Iterable[str]) -> Iterator[Candidate]:
    """Yield candidates of all kinds. `lower` is `lower_keeping_offsets(text)`.

    `triggers` are lower-case words ("passport", "ssn") after or before which an identity number may stand; their
    candidates have the kind `"id:" + trigger` and cover 30 characters before to 80 after the word.
    """
    outline = Outline(text)
    yield from shapes(text, outline)
    for trigger in triggers_near_digits(text, outline, tuple(triggers)):
        yield from around(trigger, text, lower)


def may_have_candidates(text: str) -> bool:
    """False where a text (a title, as a rule) has none of the signs of which every candidate has one."""
    return _SIGN.search(text) is not None


def shapes(text: str, outline: Outline) -> Iterator[Candidate]:
    """What has the form of an address or of a number that needs no word beside it."""
    if "@" in text:
        yield from _emails(text)
    yield from _masked_emails(text, outline.folded)
    if not _DIGIT.search(text):
        return
    for kind, first in possible_kinds(outline).items():
        start: int | None = first
        while start is not None and (match := NUMERIC[kind].search(text, start)):
            end, behind = _ends(kind, text, *match.span())
            if end > match.start():
                yield Candidate(kind, _country_start(text, match.start()) if kind == "iban" else match.start(), end)
            start = earliest(kind, outline, behind)


def _country_start(text: str, at: int) -> int:
    """Where the two letters before the check digits begin: "DE89", "DE 89"."""
    return at - 3 if text[at - 1] == " " else at - 2


def _ends(kind: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Where the candidate in `[start:end]` ends (at its start where it is none), and where the text is read on."""
    if kind == "phone":
        shorter = _digits_end(text, start, end)
        if shorter <= start:
            return start, end  # a row without a space, or nothing of it: never read at its start again
        shorter = _first_of_two(text, start, shorter)
        return shorter, shorter
    if kind == "card" and (gap := _WHITE.search(text, start, end)):
        return end, gap.end()  # the number may start at a later group
    return end, end


def _emails(text: str) -> Iterator[Candidate]:
    at = text.find("@")
    while at >= 0:
        left = _LOCAL_PART.search(text[max(0, at - 64) : at])
        right = _DOMAIN.match(text, at + 1, min(len(text), at + 256))
        if left and right:
            yield Candidate("email", max(0, at - 64) + left.start(), right.end())
        at = text.find("@", at + 1)


_MAYBE_MASKED_AT = re.compile(
    rb"\([\s\x1c-\x1f\x80]?(?:@|[a\x80]t[^a-z]|arr?oba|ch[i\x80]occ|apen|ma[l\x80]pa|[s\x80]nabel)"
)
_MAYBE_SPOKEN_DOT = b" dot "


def _masked_emails(text: str, folded: bytes) -> Iterator[Candidate]:
    for anchor in _MASKED_AT.finditer(text) if _MAYBE_MASKED_AT.search(folded) else ():
        base = max(0, anchor.start() - 100)
        left = _MASKED_LEFT.search(text[base : anchor.start()])
        right = _MASKED_RIGHT.match(text, anchor.end(), min(len(text), anchor.end() + 160))
        if left and right:
            yield Candidate("masked_email", base + left.start(), right.end())
    for anchor in _SPOKEN_DOT.finditer(text) if _MAYBE_SPOKEN_DOT in folded else ():
        base = max(0, anchor.start() - 160)
        if left := _SPOKEN_LEFT.search(text[base : anchor.start()]):
            yield Candidate("masked_email", base + left.start(), anchor.end())


_LABEL_GLUED = re.compile(r"[A-ZÀ-Þ][a-zß-ÿ]")  # "…5000Fax": a line break was lost
_EXTENSION_GLUED = re.compile(r"x ?\d{1,6}(?!\w)|ext", re.IGNORECASE)
_LAST_GROUP = re.compile(rf"[{_SPACE}]+[({_DASH}]?\d{{1,2}}\Z")


def _digits_end(text: str, start: int, end: int) -> int:
    """Where the row of digits and marks in `[start:end]` ends; 0 where a letter or a decimal goes on: no telephone.

    Never in the middle of a group: what is found must not be a part of the number. A short last group that belongs to
    what follows ("030 901820 8h", "… 3,50 Euro") is left to it.
    """
    if end - start > _RUN and text[end : end + 1].isdigit():
        end = max(start, *(text.rfind(space, start, end) for space in _SPACE))
    while end > start and not text[end - 1].isdigit():
        end -= 1
    behind = text[end : end + 1]
    decimal = behind == "," and text[end + 1 : end + 2].isdigit()
    if not decimal and not (is_joining(behind) or behind == "_"):
        return end
    if _EXTENSION_GLUED.match(text, end) or _LABEL_GLUED.match(text, end) or text[start] == "+":
        return end
    shorter = _LAST_GROUP.search(text[start:end])
    return start + shorter.start() if shorter else 0


def _first_of_two(text: str, start: int, end: int) -> int:
    """End of the first number where two stand side by side, "030 901820 / 030 901821"; else the end of both."""
    for gap in _GAP.finditer(text, start, end):
        before, behind = text[start : gap.start()], text[gap.end() : gap.end() + 14]
        abroad = before.startswith(("+", "00", "(+")) and not behind.startswith(("+", "0", "("))
        whole = sum(map(str.isdigit, before)) > (_LEAST_ABROAD if abroad else 5)
        if whole and sum(map(str.isdigit, behind)) > 5:
            return gap.start()
    return end


_LEAST_ABROAD = 8
"""Digits of a whole number with its country: fewer are country and area, "+49 (0)4442 / 931726"."""


def triggers_near_digits(text: str, outline: Outline, triggers: tuple[str, ...]) -> list[str]:
    """The triggers that stand beside digits somewhere and, where they must (`_standing`), as words anywhere.

    The outline tells all of them in ASCII exactly; the others are looked for in small letters.
    """
    places = _around_digits(text, outline)
    if not places or not triggers:
        return []
    beside = b" ".join(outline.folded[start:end] for start, end in places)
    needles = _needles(triggers)
    found = [
        trigger
        for trigger in needles.possible(beside)
        if (needle := needles.needles[trigger]) in beside and _standing(needle).search(outline.folded)
    ]
    foreign = _FOREIGN_WORD.search(beside)
    if not foreign and all(map(str.isascii, found)):
        return found
    surroundings = lower_keeping_offsets(" ".join(text[start:end] for start, end in places))
    if foreign:
        found += _foreign_needles(triggers).possible(_low_bytes(surroundings))
    return [trigger for trigger in found if trigger in surroundings]


_FOREIGN_WORD = re.compile(rb"\x80[\x80.\"]\x80")  # all triggers of `_is_foreign` have it; a quotation mark has not


def _is_foreign(trigger: str) -> bool:
    """No letter of it is ASCII: in the outline it looks like any other word of its length."""
    return not any("a" <= char <= "z" for char in trigger)


@cache
def _needles(triggers: tuple[str, ...]) -> Needles:
    return Needles({word: Outline(word).folded for word in triggers if not _is_foreign(word)}, width=3)


@cache
def _foreign_needles(triggers: tuple[str, ...]) -> Needles:
    return Needles({word: _low_bytes(word) for word in triggers if _is_foreign(word)}, width=3)


def _low_bytes(text: str) -> bytes:
    """One byte of every UTF-16 unit: letters of one alphabet stay apart."""
    return text.encode("utf-16-le", "surrogatepass")[::2]


def _around_digits(text: str, outline: Outline) -> list[tuple[int, int]]:
    """The parts of the text where a trigger word could have a number beside it, in order and apart from each other."""
    if outline.has_foreign_digits:
        clusters = [match.span() for match in _CLUSTER.finditer(lower_keeping_offsets(text))]
    else:
        clusters = [match.span() for match in _CLUSTER_IN_SKELETON.finditer(outline.skeleton)]
    parts: list[tuple[int, int]] = []
    for start, end in clusters:
        part = max(0, start - _BEHIND - 40), min(len(text), end + _BEFORE + 10)
        if parts and part[0] <= parts[-1][1]:
            part = parts.pop()[0], part[1]
        parts.append(part)
    return parts


TRIGGER_STARTS_WORD, TRIGGER_IS_WORD = 8, 4
"""Up to these lengths a trigger has to start a word and has to be one; longer ones stand in compounds, too."""


@cache
def _standing(needle: bytes) -> re.Pattern[bytes]:
    """The needle of a trigger where it may be the word, or the start of one, that it has to be: not "tin" in "testing".

    The look-behind stands after the letters, because an expression that starts with plain ones is searched faster.
    """
    word = re.escape(needle)
    starts = rb"(?<![a-z0-9_]" + word + rb")" if len(needle) <= TRIGGER_STARTS_WORD else b""
    return re.compile(word + starts + (rb"(?![a-z])" if len(needle) <= TRIGGER_IS_WORD else b""))


def around(trigger: str, text: str, lower: str) -> Iterator[Candidate]:
    """The surroundings of every place where the trigger stands, cut at white space."""
    at = lower.find(trigger)
    while at >= 0:
        start, end = max(0, at - _BEFORE), min(len(text), at + len(trigger) + _BEHIND)
        yield Candidate(f"id:{trigger}", _word_start(text, start, at), _word_end(text, end, at + len(trigger)))
        at = lower.find(trigger, at + len(trigger))


def _word_start(text: str, at: int, limit: int) -> int:
    """Move right to the next word start, so that a cut never makes half a number look like a whole one."""
    while 0 < at < limit and not text[at - 1].isspace():
        at += 1
    return at


def _word_end(text: str, at: int, limit: int) -> int:
    """Move left to the previous word end."""
    while limit < at < len(text) and not text[at].isspace():
        at -= 1
    return at
