"""The quality rules count these tokens: a text split as their thresholds were set on it.

The oracle (datatrove) splits English with spaCy's blank tokenizer: punctuation marks and the halves of contractions are
tokens of their own, which moves every ratio "per word". `tokenize` follows spaCy's prefix, suffix and infix rules
(spacy/lang/punctuation.py, spacy/lang/en/tokenizer_exceptions.py, 3.8) without its vocabulary; a chunk between white
space is split once and remembered. The oracle's own tokenizers stand in `tokenizers.py`; why English has this one
beside them: `docs/adr/quality-001-english-tokens.md`. Known deviations: emoticons, unlisted abbreviations, bare host
names, "im" and "dont" (contractions to spaCy), letter case outside Latin-1, Greek and Cyrillic at a full stop inside a
word.
"""

from __future__ import annotations

import re
from itertools import chain
from string import ascii_letters, digits

_PUNCT = "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪"
_QUOTES = "'\"”“`‘´’‚„»«「」『』（）〔〕【】《》〈〉〈〉⟦⟧"
_CURRENCY = "$£€¥฿₽﷼₴₠₡₢₣₤₥₦₧₨₩₪₫₭₮₯₰₱₲₳₵₶₷₸₹₺₻₼₾₿"
_ICONS = (
    "\u00a6\u00a9\u00ae\u00b0\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\U0001f300-\U0001faff"
)
_UNITS = (
    "km²|km³|km|m²|m³|m|dm²|dm³|dm|cm²|cm³|cm|mm²|mm³|mm|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h|mph|hPa|Pa|mbar"
    "|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K|%"
)
_LOWER = "a-zß-öø-ÿāčēėęģīķļńņšūųžżа-яёα-ω"
_UPPER = "A-ZÀ-ÖØ-ÞА-ЯЁΑ-Ω"


def _any(chars: str) -> str:
    return "[" + re.escape(chars) + "]"


_MARKS = frozenset(_PUNCT + _QUOTES)
_MARK = f"{_any(_PUNCT + _QUOTES)}|[{_ICONS}]|\\.\\.++"
_PREFIX = re.compile(rf"{_MARK}|[§%=—–]|\+(?![0-9])|{_any(_CURRENCY)}")
_SUFFIX = re.compile(
    rf"(?:{_MARK}|['’][sS]|[—–]|(?<=[0-9])\+|(?<=[0-9]){_any(_CURRENCY)}|(?<=[0-9])(?:{_UNITS})"
    rf"|(?<=[0-9{_LOWER}%²\-+{re.escape(_QUOTES)})\]])\.|(?<=[{_UPPER}][{_UPPER}])\.)\Z"
)
_INFIX = re.compile(
    rf"([.…{_ICONS}+\-*^,–—~:<>=/](?:(?<=\.)\.+|(?<=[…{_ICONS}])|(?<=[0-9][+\-*^])(?=[0-9-])"
    rf"|(?<=[{_LOWER}{re.escape(_QUOTES)}]\.)(?=[{_UPPER}{re.escape(_QUOTES)}])|(?<=[^\W\d_],)(?=[^\W\d_])"
    r"|(?<=[^\W_]-)-{0,2}(?=[^\W\d_])|(?<=[^\W_][–—~:<>=/])(?=[^\W\d_])))"
)
"""It begins with a plain set of characters: such an expression is searched three to eight times faster."""
_URL = re.compile(r"(?:https?|ftp)://[^\s/.]+\.[a-z]|www\.", re.IGNORECASE)
_CONTRACTION = re.compile(
    r"(?i:(do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|sha|should|must|might|may|need|dare|ai)(n['’]?t)"
    r"|(i|you|he|she|it|we|they|that|there|this|these|those|who|what|when|where|why|how|could|would|should|must|might)"
    r"(['’](?:m|re|ve|ll|d|s))|(can)(not)|(gon|got|lem)(na|ta|me))"
)


_MAY_CONTRACT = frozenset("aetAET")
_MAY_CONTRACT_WITH_APOSTROPHE = frozenset("tmeldsaTMELDSAſ")
"""Without regard to letter case ſ is an s."""
_ENDS_NO_SUFFIX = frozenset(ascii_letters + digits) - {unit[-1] for unit in _UNITS.split("|")} - frozenset("sS")
"""Most letters, and every digit: no unit ends in one of them, nor does a genitive."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WHOLE = _set(
    "e.g. i.e. u.s. u.k. u.n. a.m. p.m. mr. mrs. ms. dr. prof. st. vs. v.s. inc. ltd. co. corp. jr. sr. bros. no. "
    "mt. jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. gen. gov. rep. sen. rev. d.c. ph.d. adm. "
    "messrs. c++ 's ’s 'cause 'em :) :( :-) ;) :p :d a. b. c. d. e. f. g. h. i. j. k. l. m. n. o. p. q. r. s. t. "
    "u. v. w. x. y. z."
)
_LONGEST_WHOLE = max(map(len, _WHOLE))
_SPLIT_THOUGH_ALPHABETIC = frozenset({"cannot", "gonna", "gotta", "lemme"})
_CACHE_LIMIT = 65_536
_cache: dict[str, tuple[str, ...]] = {}


def tokenize(text: str) -> list[str]:
    """Tokens in order, no white space among them. Linear in the length of the text."""
    chunks = text.split()
    parts = {chunk: split(chunk) for chunk in set(chunks)}
    return list(chain.from_iterable(map(parts.__getitem__, chunks)))


def split(chunk: str) -> tuple[str, ...]:
    """The tokens of what stands between white space."""
    if _is_whole_word(chunk):
        return (chunk,)
    return _cache.get(chunk) or _remember(chunk)


def split_once(chunk: str) -> tuple[str, ...]:
    """Like `split`, for who remembers the answer."""
    if chunk.isalpha():
        return (chunk,) if chunk.lower() not in _SPLIT_THOUGH_ALPHABETIC else tuple(_split(chunk))
    if _is_word_and_mark(chunk) and chunk[-2] not in _MAY_CONTRACT:
        return chunk[:-1], chunk[-1]
    return tuple(_split(chunk))


def _is_whole_word(chunk: str) -> bool:
    return chunk.isalpha() and chunk.lower() not in _SPLIT_THOUGH_ALPHABETIC


def _remember(chunk: str) -> tuple[str, ...]:
    parts = tuple(_split(chunk))
    if len(chunk) <= 64:
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        _cache[chunk] = parts
    return parts


def _split(chunk: str) -> list[str]:
    """Marks off both ends, then the inside."""
    if _is_word_and_mark(chunk):
        return [*_inside(chunk[:-1]), chunk[-1]]
    before: list[str] = []
    after: list[str] = []
    start, end = 0, len(chunk)
    while start < end and not _is_whole(chunk, start, end) and (prefix := _PREFIX.match(chunk, start)):
        before.append(prefix[0])
        start = prefix.end()
    may_be_url = _URL.match(chunk, start) is not None
    while start < end and not _is_whole(chunk, start, end):
        if may_be_url and chunk[end - 1].isalnum() and _URL.match(chunk, start, end):
            break
        suffix = _suffix(chunk, start, end)
        if suffix is None:
            break
        after.append(suffix)
        end -= len(suffix)
    return [*before, *(_inside(chunk[start:end]) if start < end else ()), *reversed(after)]


def _is_word_and_mark(chunk: str) -> bool:
    """Letters and one mark, the usual chunk, without a search for marks. "Mr." is none, nor is "X."."""
    mark = chunk[-1]
    if mark == ".":
        return "a" <= chunk[-2:-1] <= "z" and chunk[:-1].isalpha() and chunk.lower() not in _WHOLE
    return mark in ",;:!?)" and chunk[:-1].isalpha()


def _is_whole(chunk: str, start: int, end: int) -> bool:
    return end - start <= _LONGEST_WHOLE and chunk[start:end].lower() in _WHOLE


def _suffix(chunk: str, start: int, end: int) -> str | None:
    """The mark at the end: at most eight characters are looked at, so a long chunk costs no more than its length."""
    last = chunk[end - 1]
    if last in _MARKS:
        return last
    if last in _ENDS_NO_SUFFIX:
        return None
    window = chunk[max(start, end - 8) : end]
    match = _SUFFIX.search(window)
    return match[0] if match else None


def _inside(word: str) -> list[str]:
    if word[-1] in _MAY_CONTRACT_WITH_APOSTROPHE and (match := _CONTRACTION.fullmatch(word)):
        return [part for part in match.groups() if part]
    if word.isalpha() or _URL.match(word):
        return [word]
    return _parted(word)


def _parted(word: str) -> list[str]:
    return [part for part in _INFIX.split(word) if part]
