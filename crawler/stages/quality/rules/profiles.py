"""Thresholds for one kind of text: the oracle's, and what has to give so that good pages live, with the reason.

| profile | thresholds |
|---|---|
| datatrove | every default of datatrove 0.10.1, to compare with other corpora |
| prose | datatrove's, but 0.70 alphabetic tokens; bullets, labels, rows and direct speech told from bad lines |
| technical | prose with more than twice the repetition, half the letters, no C4 rule against code |
| legal | prose, with more repetition of set phrases |
| verse | prose, with choruses, and with lines that are short and end without a full stop |
| slides | prose, with points that end without a full stop; more words a line than titles alone have |
| law | those of legal; `score.py` says what a text has to be as well |
| code, medicine, science, finance | those of technical: tables, figures, set phrases; `score.py` as for law |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from crawler.stages.quality.rules import RULE_SETS, rule_sets
from crawler.stages.quality.rules.base import RuleSet
from crawler.stages.quality.rules.by_language import for_language
from crawler.stages.quality.rules.c4 import C4, C4Paragraphs
from crawler.stages.quality.rules.fineweb import FineWeb
from crawler.stages.quality.rules.gopher_quality import GopherQuality
from crawler.stages.quality.rules.gopher_repetition import GopherRepetition
from crawler.stages.quality.rules.refinedweb_lines import RefinedWebLines


def rules_for(profile: str, names: Iterable[str], language: str = "") -> dict[str, RuleSet]:
    """The named rule sets with the thresholds of a profile (`PROFILE_NAMES`); other packages' have one for all.

    `language`: ISO 639-1, for thresholds of its own (`by_language.py`); "" and profile `datatrove` have none.
    Raises: KeyError for a name that no rule set has; InputError.
    """
    wanted = list(names)
    known = RULE_SETS if RULE_SETS.keys() >= set(wanted) else rule_sets()
    available = known | _CHANGES.get(profile, {})
    found = {name: available[name] for name in wanted}
    return for_language(found, language, found) if profile != "datatrove" else found


def _scaled(limits: tuple[tuple[int, float], ...], factor: float) -> tuple[tuple[int, float], ...]:
    return tuple((n, round(limit * factor, 4)) for n, limit in limits)


# The paper wants letters in 80 % of the words; the oracle counts punctuation marks as words, about one token in eight
# of ordinary prose, and so drops one good news page in nine. 0.70 is the paper's rule on the oracle's tokens.
_PROSE_QUALITY = GopherQuality(min_alphabetic_tokens=0.70, sentence_bullet_words=8, count_items=False, count_code=False)

# Articles repeat labels ("Pros", "Best for:") and put figures into tables: lines up to 40 characters are no repetition,
# and rows neither that nor short. Of what is left 0.03 may repeat: beyond it come shops rather than articles.
# Interviews and novels end their lines with what was said.
_PROSE_LINES = FineWeb(
    max_duplicate_line_chars=0.03,
    label_chars=40,
    count_rows=False,
    count_items=False,
    quoted_ends=True,
    enough_sentences=0.50,
    count_code=False,
)

_PROSE_C4, _PROSE_REFINED = C4(count_spaced=False), RefinedWebLines(count_spaced=False)

_PROSE_REPETITION = GopherRepetition(count_rows=False, enough_sentences=0.50, count_code=False)

# Reference pages repeat their own vocabulary (signatures, "Changed in version"), end fewer lines in a full stop, and
# show code. FineWeb's paper gives 0.1 for repeated lines where its code has 0.01; Apache's module pages reach 0.14.
_TECHNICAL: dict[str, RuleSet] = {
    "gopher_repetition": replace(
        _PROSE_REPETITION,
        max_duplicate_paragraphs=0.60,
        max_duplicate_paragraph_chars=0.30,
        max_duplicate_lines=0.60,
        max_duplicate_line_chars=0.30,
        top_n_grams=_scaled(GopherRepetition().top_n_grams, 1.25),
        duplicate_n_grams=_scaled(GopherRepetition().duplicate_n_grams, 2.5),
    ),
    "gopher_quality": replace(
        _PROSE_QUALITY, min_alphabetic_tokens=0.50, min_mean_word_length=2.5, max_symbols_a_token=0.2
    ),
    "fineweb": replace(
        _PROSE_LINES,
        min_punctuated_lines=0.06,
        max_duplicate_line_chars=0.15,
        max_short_lines=0.80,
        forgive_repeats=True,
    ),
    "c4": C4(curly_bracket=False, javascript=False, min_words_a_line=None, count_spaced=False),
    "refinedweb_lines": RefinedWebLines(min_words=None, count_spaced=False),
}

_LEGAL: dict[str, RuleSet] = {
    "gopher_repetition": replace(
        _PROSE_REPETITION, duplicate_n_grams=_scaled(GopherRepetition().duplicate_n_grams, 1.5)
    ),
    "gopher_quality": _PROSE_QUALITY,
    "fineweb": replace(_PROSE_LINES, max_duplicate_line_chars=0.05),
    "c4": _PROSE_C4,
    "refinedweb_lines": _PROSE_REFINED,
}

# A chorus that is sung four times is half of a short song; what repeats more than .6 says one thing again and again.
_VERSE: dict[str, RuleSet] = {
    "gopher_repetition": replace(
        _PROSE_REPETITION,
        max_duplicate_paragraphs=0.60,
        max_duplicate_paragraph_chars=0.60,
        max_duplicate_lines=0.60,
        max_duplicate_line_chars=0.60,
        top_n_grams=_scaled(GopherRepetition().top_n_grams, 1.5),
        duplicate_n_grams=tuple((n, 0.60) for n, _ in GopherRepetition().duplicate_n_grams),
    ),
    "gopher_quality": _PROSE_QUALITY,
    "fineweb": replace(
        _PROSE_LINES,
        min_punctuated_lines=None,
        max_short_lines=None,
        max_duplicate_line_chars=0.60,
        max_newlines_a_token=0.4,
    ),
    "c4": C4(min_sentences=None, count_spaced=False),
    "c4_paragraphs": C4Paragraphs(min_paragraphs=None),
    "refinedweb_lines": _PROSE_REFINED,
}

# Slides are points without a full stop; a long line without one is a list of words. Of 42 decks made of real pages and
# manuals the first half has 0.065 to 0.082 line breaks a token, slides with nothing but titles 0.22 to 0.35
# (`python -m bench.quality.by_kind`).
_SLIDES: dict[str, RuleSet] = {
    "gopher_repetition": _PROSE_REPETITION,
    "gopher_quality": replace(_PROSE_QUALITY, min_alphabetic_tokens=0.60),
    "fineweb": replace(_PROSE_LINES, point_words=25, max_newlines_a_token=0.15),
    "c4": C4(min_sentences=None, count_spaced=False),
    "c4_paragraphs": C4Paragraphs(min_paragraphs=None),
    "refinedweb_lines": _PROSE_REFINED,
}

_CHANGES: dict[str, dict[str, RuleSet]] = {
    "prose": {
        "gopher_repetition": _PROSE_REPETITION,
        "gopher_quality": _PROSE_QUALITY,
        "fineweb": _PROSE_LINES,
        "c4": _PROSE_C4,
        "refinedweb_lines": _PROSE_REFINED,
    },
    "technical": _TECHNICAL,
    "legal": _LEGAL,
    "law": _LEGAL,
    "code": _TECHNICAL,
    "medicine": _TECHNICAL,
    "science": _TECHNICAL,
    "finance": _TECHNICAL,
    "verse": _VERSE,
    "slides": _SLIDES,
}
