"""The language stage reads codes of languages here, in every usual spelling, with or without a script.

ISO 639-3 codes stand for the two-letter code that this project writes instead. Individual languages stand under their
macrolanguage (Egyptian Arabic is "ar", Mandarin "zh"). Identifiers with many languages (GlotLID) answer in these codes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.stages.text.tables import sections

_PAIRS = " ".join(sections(__package__, "iso_639.txt")[""]).split()
ISO_639_1: dict[str, str] = dict(pair.split("=") for pair in _PAIRS)
"""ISO 639-3 → ISO 639-1."""

_OTHERS = {
    "zh-cn": "zh", "zh-tw": "zh", "wuu": "zh", "yue": "zh", "nb": "no", "iw": "he", "hbo": "he", "in": "id", "ji": "yi",
    "arz": "ar", "ary": "ar", "kik": "ki", "gug": "gn", "fuv": "ff", "uzs": "uz", "sdh": "ku", "fil": "tl", "grc": "el",
}  # fmt: skip
_SAME_SCRIPT = {"Kore": "Hang", "Hrkt": "Jpan", "Hira": "Jpan", "Kana": "Jpan"}
_CHINESE = frozenset({"Hans", "Hant"})


def normal_code(code: str) -> str:
    """One spelling: lower case, ISO 639-1 where it exists, no region ("zh-cn" and "zh-TW" are "zh", "nb" is "no")."""
    code = code.strip().lower().replace("_", "-")
    language = code.split("-")[0]
    return _OTHERS.get(code) or _OTHERS.get(language) or ISO_639_1.get(language, language)


@dataclass(frozen=True, slots=True)
class Tag:
    """A language as somebody asks for it. script: ISO 15924; "" where any will do."""

    language: str
    script: str = ""

    def names(self, language: str, script: str | None) -> bool:
        """True where a text in this language and script is what is asked for. "Hani" is any kind of Chinese."""
        if language != self.language:
            return False
        return self.script in ("", script) or (self.script == "Hani" and script in _CHINESE)


def tag(code: str) -> Tag:
    """What "zh", "zh-Hant", "zho_Hant" or "zh-Hant-TW" asks for (BCP 47, and the names of FineWeb-2 and GlotLID)."""
    parts = code.strip().replace("_", "-").split("-")
    script = parts[1].capitalize() if len(parts) > 1 and len(parts[1]) == _SCRIPT_LETTERS else ""
    language = normal_code("-".join([parts[0], *parts[2:]]) if script else code)
    return Tag(language, _SAME_SCRIPT.get(script, script))


_SCRIPT_LETTERS = 4


class Scores:
    """LANGUAGE_MIN_SCORE and LANGUAGE_MIN_SCORES: which score a language needs."""

    def __init__(self, least: float, single: Iterable[str]) -> None:
        """`single`: pairs such as "de:0.8" or "zh-Hant:0.5"; the first that names a language decides, with its script
        before one without.
        """
        pairs = [(tag(code), float(score)) for code, _, score in (pair.partition(":") for pair in single)]
        self._least = least
        self.pairs = sorted(pairs, key=lambda pair: not pair[0].script)
        """In the order in which they decide."""

    def needed(self, language: str, script: str | None) -> float:
        """The score, 0 to 1, that a text in this language and script needs."""
        own = self.own(language, script)
        return self._least if own is None else own

    def own(self, language: str, script: str | None) -> float | None:
        """The score that LANGUAGE_MIN_SCORES gives for it; None where it gives none."""
        return next((score for one, score in self.pairs if one.names(language, script)), None)
