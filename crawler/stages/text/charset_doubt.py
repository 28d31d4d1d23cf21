"""A second opinion on a character set: do these characters look like words, and what does a detector say?

A wrong character set leaves signs inside of words, letters of two alphabets in one word, capitals inside of words, or
ideographs that nobody uses. They are counted on a sample; the detector (chardetng, which Firefox asks for pages without
a declaration) is asked only where there is doubt.
"""

from __future__ import annotations

import re
from functools import cache

import regex
from chardetng_py import EncodingDetector  # type: ignore[import-untyped]  # ships no types

from crawler.stages.text.charset_labels import codec_of, read

SAMPLE = 2_048
"""Bytes of text beyond ASCII that are looked at."""
DOUBTFUL = 0.03
"""Share of odd characters among those beyond ASCII, from which the detector is asked."""
HOPELESS = 0.4
"""The same, from which a guess has read no text."""
_TEXTS = re.compile(rb"[^<>\0\x80-\xff]*+[\x80-\xff][^<>\0]*+")
"""Texts and attributes that have a byte beyond ASCII, between the brackets of tags."""
_WITHOUT_LETTERS = re.compile(rb"[\x00-\x7f]{200,}")
_ODD = regex.compile(
    r"""
      [\x80-\x9f\uFFFD\p{Co}\p{Cn}\uFF61-\uFF9F]++
    | (?<=\p{L}|^|\s) [^\x00-\x7f\p{L}\p{M}\p{P}\p{Nd}\p{Z}\p{Cf}]++ (?=\p{L})
    | (?<=\p{L}) [¡-¿–-‰ˆ˜€™←-⟿&&[^·–—’]]++ (?=\p{L})
    | (?<=[\p{Latin}&&\p{L}]) [\p{Cyrillic}\p{Greek}\p{Hebrew}\p{Arabic}\p{Thai}]++
    | (?<=[\p{Cyrillic}\p{Greek}\p{Hebrew}\p{Arabic}\p{Thai}])
      (?:[\p{Latin}&&[^\x00-\x7f]]++ | \p{Latin} (?=[\p{Cyrillic}\p{Greek}\p{Hebrew}\p{Arabic}\p{Thai}]))
    | (?<=[a-z]) [\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}] (?=[a-z])
    | [[\p{Latin}]&&[^\x00-\x7f\u1E00-\u1EFF]]{4,}+
    | (?<=[\p{Ll}&&[^\x00-\x7f]]) \p{Lu}++ | (?<=\p{Ll}) [\p{Lu}&&[^\x00-\x7f]]++
    | (?<=\p{Hangul}) \p{Han} (?=\p{Hangul})
    """,
    regex.VERBOSE | regex.V1,
)
_HAN, _HANGUL = regex.compile(r"\p{Han}"), regex.compile(r"[\uAC00-\uD7A3]")
_KANA = re.compile("[\u3041-\u30fa]")
_BEYOND = re.compile("[^\x00-\x7f]")
_OF_CHINA = frozenset({"gb18030", "big5hkscs"})
_EAST_ASIAN = _OF_CHINA | {"cp949", "cp932", "euc_jp", "iso2022_jp"}
_FREQUENT = frozenset("的一是不了在人有我他這这中大来來上国國个個到說说们們为為和地")
_ENOUGH = 40
"""Ideographs, among which some of those have to be."""
_LANGUAGE = re.compile(
    rb"""<html\b[^<>]{0,500}?\slang\s*=\s*["']?([a-z]{2,3})\b(-(?:hant|tw|hk|mo)\b)?""", re.IGNORECASE
)
_TRADITIONAL = "zh-hant"
_TOP_DOMAINS = {
    _TRADITIONAL: "tw",
    "uk": "ua", "be": "by", "cs": "cz", "el": "gr", "he": "il", "iw": "il", "ar": "sa", "fa": "ir", "ur": "pk",
    "ja": "jp", "ko": "kr", "zh": "cn", "vi": "vn", "sv": "se", "da": "dk", "et": "ee", "sl": "si", "sr": "rs",
    "mk": "mk", "en": "com",
}  # fmt: skip
"""Of a language, where that is not its own code: what the detector takes as a hint."""
_LANGUAGES = {
    codec: frozenset(languages.split())
    for codec, languages in {
        "cp1250": "pl cs sk hu sl hr bs ro sq sr", "iso8859-2": "pl cs sk hu sl hr bs ro sq sr",
        "cp1251": "ru uk be bg mk sr kk mn tg ky tt", "koi8-r": "ru", "koi8-u": "uk ru", "iso8859-5": "ru bg mk sr be",
        "cp866": "ru", "cp1253": "el", "iso8859-7": "el", "cp1254": "tr az ku", "cp1255": "he iw yi",
        "iso8859-8": "he iw yi", "cp1256": "ar fa ur ps", "iso8859-6": "ar", "cp1257": "lt lv et",
        "iso8859-13": "lt lv et", "iso8859-4": "lt lv et", "cp1258": "vi", "cp874": "th",
        "cp932": "ja", "euc_jp": "ja", "cp949": "ko", "gb18030": "zh", "big5hkscs": "zh zh-hant",
    }.items()
}  # fmt: skip


def sample_of(body: bytes) -> bytes:
    """The first texts of a page that have a byte beyond ASCII."""
    found, size = list[bytes](), 0
    for match in _TEXTS.finditer(body):
        text = _WITHOUT_LETTERS.sub(b" ", match[0])[:SAMPLE]
        found.append(text)
        size += len(text)
        if size >= SAMPLE:
            break
    return b"\n".join(found)


def language_of(body: bytes) -> str:
    """What the page's root says its language is; "" where it says nothing."""
    found = _LANGUAGE.search(body[:4_096])
    if found is None:
        return ""
    language = found[1].decode("ascii").lower()
    return _TRADITIONAL if language == "zh" and found[2] else language


def speaks(codec: str, language: str) -> bool:
    """True where a language is written in a character set that is made for few."""
    return language in _LANGUAGES.get(codec, ())


def is_foreign(codec: str, language: str) -> bool:
    """True where another character set was made for a language, and this one was not."""
    return bool(language) and not speaks(codec, language) and any(language in one for one in _LANGUAGES.values())


def guess(sample: bytes, language: str) -> str | None:
    """The detector's answer; never UTF-8."""
    detector = EncodingDetector()
    detector.feed(sample, last=False)  # a sample may end within a character
    domain = _TOP_DOMAINS.get(language, language if len(language) == 2 else "")
    found = codec_of(detector.guess(tld=domain.encode() or None, allow_utf8=False))
    return "koi8-u" if found == "koi8-r" else found


def oddness(sample: bytes, codec: str) -> float:
    """Share of odd characters among those beyond ASCII, 0 to 1, of the sample read by this codec."""
    text = read(sample, codec, "replace")
    beyond = len(_BEYOND.findall(text))
    if not beyond:
        return 0.0
    odd: float = sum(len(match[0]) for match in _ODD.finditer(text))
    if codec in _EAST_ASIAN:
        odd += _odd_ideographs(text, codec)
    return min(1.0, odd / beyond)


def _odd_ideographs(text: str, codec: str) -> float:
    """What is rare, and a half of all where what no text of the language lacks is missing."""
    ideographs, kana, hangul = _HAN.findall(text), len(_KANA.findall(text)), _HANGUL.findall(text)
    rare = sum(one not in _common() for one in ideographs) + sum(one not in _common_hangul() for one in hangul)
    if codec in _OF_CHINA:
        is_lacking = len(ideographs) >= _ENOUGH and _FREQUENT.isdisjoint(ideographs)
        rare += kana
    elif codec == "cp949":
        is_lacking = len(ideographs) > len(hangul)
        rare += kana
    else:
        is_lacking = len(ideographs) >= _ENOUGH and not kana
    return rare + (len(ideographs) / 2 if is_lacking else 0)


@cache
def _common() -> frozenset[str]:
    """The ideographs of the first levels of GB 2312, Big5 and JIS X 0208."""
    rows = ((0xB0, 0xD8, "gb2312"), (0xA4, 0xC7, "big5"), (0xB0, 0xD0, "euc_jp"))
    pairs = (
        (bytes((lead, trail)), codec) for begin, end, codec in rows for lead in range(begin, end) for trail in _TRAILS
    )
    return frozenset(pair.decode(codec, "ignore") for pair, codec in pairs)


_TRAILS = (*range(0x40, 0x7F), *range(0xA1, 0xFF))


@cache
def _common_hangul() -> frozenset[str]:
    """The 2,350 syllables of KS X 1001."""
    pairs = (bytes((lead, trail)) for lead in range(0xB0, 0xC9) for trail in range(0xA1, 0xFF))
    return frozenset(pair.decode("euc_kr", "ignore") for pair in pairs)
