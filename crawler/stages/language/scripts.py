"""The language stage asks here in which script a text is written, by its letters, and which languages are written so.

Scripts have their codes of ISO 15924. A letter counts by what it says: one of Chinese as much as half a word, so that a
Chinese page with Latin names of products is no Latin one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import regex

from crawler.stages.text.tables import sections

_NAMES = (
    "Latn=Latin Cyrl=Cyrillic Grek=Greek Armn=Armenian Hebr=Hebrew Arab=Arabic Syrc=Syriac Thaa=Thaana Nkoo=Nko "
    "Deva=Devanagari Beng=Bengali Guru=Gurmukhi Gujr=Gujarati Orya=Oriya Taml=Tamil Telu=Telugu Knda=Kannada "
    "Mlym=Malayalam Sinh=Sinhala Thai=Thai Laoo=Lao Tibt=Tibetan Mymr=Myanmar Geor=Georgian Hang=Hangul Ethi=Ethiopic "
    "Cher=Cherokee Cans=Canadian_Aboriginal Ogam=Ogham Khmr=Khmer Mong=Mongolian Tale=Tai_Le Talu=New_Tai_Lue "
    "Lana=Tai_Tham Bali=Balinese Sund=Sundanese Java=Javanese Cham=Cham Olck=Ol_Chiki Tfng=Tifinagh Copt=Coptic "
    "Yiii=Yi Lisu=Lisu Vaii=Vai Mtei=Meetei_Mayek Kana=Katakana Hira=Hiragana Bopo=Bopomofo Hani=Han"
)
_SCRIPTS = tuple(pair.split("=") for pair in _NAMES.split())
OTHER = "Zzzz"
"""ISO 15924 code for all scripts that are not in the list."""
CODES = (*(code for code, _ in _SCRIPTS), OTHER)
"""ISO 15924 codes, in the order of the numbers that the table gives."""
_NUMBER = {code: number for number, code in enumerate(CODES, 1)}
_WEIGHTS = np.ones(len(CODES) + 1)
for _code, _weight in {
    "Hani": 2.5,
    "Hang": 2.5,
    "Kana": 1.5,
    "Hira": 1.5,
    "Yiii": 2.5,
    "Ethi": 2.0,
    "Vaii": 2.0,
}.items():
    _WEIGHTS[_NUMBER[_code]] = _weight
_WEIGHTS[0] = 0.0
_PLANE = 0x10000
_BLOCKS = ((0x3400, 0x4DC0, "Hani"), (0x4E00, 0xA000, "Hani"), (0xAC00, 0xD7A4, "Hang"))
_BEYOND = np.array(
    [(_PLANE, _NUMBER[OTHER]), (0x1D000, 0), (0x1D800, _NUMBER[OTHER]), (0x1F000, 0), (0x20000, _NUMBER["Hani"]),
     (0x32000, 0)]
)  # fmt: skip
"""From which code point on which script stands, beyond the first plane; 0: signs of music and mathematics, pictures."""

JAPANESE_KANA = 0.05
"""Share of kana among kana and Chinese characters from which they are Japanese."""
KOREAN_HANGUL = 0.10
"""The same of Hangul for Korean."""
A_FEW = 0.02
"""Share of the letters up to which those of other scripts are left where they are."""

SENTENCE_WORDS = 8
"""Latin words in a row, beside letters of another script, from which they are a sentence; fewer are a name."""
OF_A_NAME = 0.25
"""What a letter of such a name counts."""

_LATIN = _NUMBER["Latn"]
_KINDS = {"Jpan": ("Hira", "Kana", "Hani"), "Hang": ("Hang", "Hani")}
"""What else is written among the letters of a script."""

WRITTEN: dict[str, frozenset[str]] = {
    script.capitalize(): frozenset(" ".join(lines).split())
    for script, lines in sections(__package__, "scripts.txt").items()
    if script
}
"""Script → the languages of the built-in identifiers that are written in it."""


@dataclass(frozen=True, slots=True)
class Script:
    """In which script a text is written: ISO 15924 code ("" without letters), and its share of the letters, 0 to 1."""

    code: str = ""
    share: float = 0.0


def script_of(text: str) -> Script:
    """The script that says most of a text. Kana with Chinese characters are "Jpan", Hangul with them "Hang"."""
    if text.isascii():
        return Script("Latn", 1.0) if any(map(str.isalpha, text)) else Script()
    numbers = _numbers(text)
    weights = np.bincount(numbers, minlength=len(_WEIGHTS)) * _WEIGHTS
    total, latin = float(weights.sum()), float(weights[_LATIN])
    if not total:
        return Script()
    if A_FEW * total < latin < (1 - A_FEW) * total:
        weights[_LATIN] -= (1 - OF_A_NAME) * _in_names(text, numbers)
        total = float(weights.sum())
    found = dict(zip(CODES, weights[1:].tolist(), strict=True))
    kana, han, hangul = found.pop("Hira") + found.pop("Kana"), found["Hani"], found["Hang"]
    if kana and kana >= JAPANESE_KANA * (kana + han):
        found |= {"Jpan": kana + han, "Hani": 0.0}
    elif hangul and hangul >= KOREAN_HANGUL * (hangul + han):
        found |= {"Hang": hangul + han, "Hani": 0.0}
    code = max(found, key=found.__getitem__)
    return Script(code, round(found[code] / total, 4)) if found[code] else Script()


def _in_names(text: str, numbers: npt.NDArray[np.uint8]) -> int:
    """Latin letters in lines, or parts of lines between other letters, that are too short for a sentence."""
    others = (numbers > 0) & (numbers != _LATIN)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    latin = np.where(others, np.uint32(10), codes).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    parts = (part for part in latin.split("\n") if part and len(part.split()) < SENTENCE_WORDS)
    return sum(sum(map(str.isalpha, part)) for part in parts)


def only(text: str, script: str) -> str:
    """The text with a space for each letter of another script, so that names in it say nothing of its language."""
    kept = {_NUMBER[code] for code in _KINDS.get(script, (script,))}
    numbers = _numbers(text)
    others = (numbers > 0) & ~np.isin(numbers, list(kept))
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return np.where(others, np.uint32(32), codes).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def chinese(text: str) -> str:
    """ "Hans" for simplified characters, "Hant" for traditional ones, "Hani" where nothing tells them apart.

    A character is simplified that GB 2312 has and Big5 has not, and the other way round.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    simplified, traditional = (int(np.isin(codes, table).sum()) for table in _chinese())
    if simplified == traditional:
        return "Hani"
    return "Hans" if simplified > traditional else "Hant"


@cache
def _chinese() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    characters = "".join(map(chr, range(0x4E00, 0xA000)))
    simple, full = (set(characters.encode(name, "ignore").decode(name)) for name in ("gb2312", "big5"))
    return _codes(simple - full), _codes(full - simple)


def _codes(characters: Iterable[str]) -> npt.NDArray[np.uint32]:
    return np.array(sorted(map(ord, characters)), dtype=np.uint32)


def _numbers(text: str) -> npt.NDArray[np.uint8]:
    """For each character the number of its script, 0 for what is no letter."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    numbers = _table().take(codes, mode="clip")
    beyond = np.flatnonzero(codes >= _PLANE)
    if len(beyond):
        rows = np.searchsorted(_BEYOND[:, 0], codes[beyond], side="right") - 1
        numbers[beyond] = _BEYOND[rows, 1]
    return numbers


@cache
def _table() -> npt.NDArray[np.uint8]:
    """The numbers of the first plane; its last one is no letter. East Asian blocks are of one script as a whole."""
    found = np.zeros(_PLANE, np.uint8)
    for begin, end, code in _BLOCKS:
        found[begin:end] = _NUMBER[code]
    others = [code for code in range(_PLANE - 1) if not found[code] and not 0xD800 <= code < 0xF900]
    every = "".join(map(chr, others))
    letters = "".join(regex.findall(r"[\p{L}\p{M}]", every))
    codes = np.array(list(map(ord, letters)))
    for match in regex.finditer(r"[^\p{Script=Common}\p{Script=Inherited}]++", letters):
        found[codes[match.start() : match.end()]] = _NUMBER[OTHER]
    for code, name in _SCRIPTS:
        for match in regex.finditer(rf"\p{{Script={name}}}++", letters):
            found[codes[match.start() : match.end()]] = _NUMBER[code]
    return found
