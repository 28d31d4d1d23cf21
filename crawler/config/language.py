"""Settings of the language stage: which language is it in?"""

from __future__ import annotations

from dataclasses import dataclass

from crawler import plugins
from crawler.config.declare import setting


def check_min_scores(value: tuple[str, ...]) -> str | None:
    """What is wrong with pairs of language and score, as a sentence; None where nothing is."""
    for pair in value:
        code, _, score = pair.partition(":")
        try:
            usable = bool(code.strip()) and 0.0 <= float(score) <= 1.0
        except ValueError:
            usable = False
        if not usable:
            return f"expected pairs of language code and score from 0 to 1, such as de:0.8, not {pair!r}"
    return None


def _check_identifier(value: str) -> str | None:
    name, _, argument = value.partition(":")
    if (name == "fasttext" and argument) or name in {"builtin", "py3langid", "langdetect", *plugins.names("languages")}:
        return None
    others = "".join(f", {name}" for name in plugins.names("languages"))
    return f"expected builtin, or fasttext: and the path of a model file{others}, not {value!r}"


@dataclass(frozen=True, slots=True)
class LanguageConfig:
    """Which language is it in?"""

    languages: tuple[str, ...] = setting("LANGUAGES", (), "languages to keep, with a script where it matters: "
                                         "de,zh-Hant; empty = all")  # fmt: skip
    min_score: float = setting("LANGUAGE_MIN_SCORE", 0.65, "identifier confidence needed", minimum=0.0, maximum=1.0)
    min_scores: tuple[str, ...] = setting("LANGUAGE_MIN_SCORES", (), "confidence needed for single languages, such as "
                                          "de:0.8,ms:0.5", check=check_min_scores)  # fmt: skip
    identifier: str = setting("LANGUAGE_IDENTIFIER", "builtin", "language identifier: builtin (py3langid, then langdetect), a "
                              "fastText model file such as fasttext:/models/lid.176.bin, or an identifier of an installed "
                              "package, by name",
                              check=_check_identifier)  # fmt: skip
