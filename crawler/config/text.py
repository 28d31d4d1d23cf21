"""Settings of the stages on text: extraction, quality, personal data, evaluation sets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler import plugins
from crawler.config import eval_sets
from crawler.config.declare import setting


def _check_region(value: str) -> str | None:
    if len(value) == 2 and value.isascii() and value.isalpha() and value.isupper():
        return None
    return "expected an ISO 3166-1 code of two capital letters, such as US or DE"


def _check_models(value: tuple[str, ...]) -> str | None:
    if not value:
        return "expected at least one language:model pair; PII_PERSON=off looks for no names"
    if all(language.isalpha() and model.isidentifier() for language, _, model in (v.partition(":") for v in value)):
        return None
    return "expected language:model pairs such as en:en_core_web_sm,de:de_core_news_sm"


RULE_SET_NAMES = ("gopher_repetition", "gopher_quality", "fineweb", "c4", "c4_paragraphs", "refinedweb_lines")
"""The rule sets by the name of their class in `crawler/stages/quality/rules/`, in the same order."""


PROFILE_NAMES = (
    *("prose", "technical", "legal", "verse", "slides", "datatrove"),
    *("law", "medicine", "science", "code", "finance"),
)
"""The built-in quality profiles; QUALITY_PROFILES_FILE adds others."""
PROFILE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
"""How a profile may be called."""


COMMENTS = ("drop", "keep", "separate")
"""What becomes of what readers wrote below a text."""
HIDDEN_TEXT = ("drop", "keep")
"""What becomes of what no reader of a page sees."""


CHOICES = {"comments": COMMENTS, "hidden_text": HIDDEN_TEXT}
"""What an entry of the allowlist may ask of the extraction, with the values of each."""


def _check_profile(value: str) -> str | None:
    if PROFILE_NAME.fullmatch(value):
        return None
    return f"expected auto, {', '.join(PROFILE_NAMES)}, or a profile of QUALITY_PROFILES_FILE"


def _check_rules(value: tuple[str, ...]) -> str | None:
    if set(RULE_SET_NAMES) >= set(value):
        return None
    known = (*RULE_SET_NAMES, *plugins.names("rules"))
    unknown = [name for name in value if name not in known]
    return f"expected names out of {', '.join(known)}, not {', '.join(unknown)}" if unknown else None


@dataclass(frozen=True, slots=True)
class ExtractionConfig:
    """What is the text of the page?"""

    extractor: str = setting(
        "EXTRACTOR", "learned", "main-text extractor", choices=("learned", "trafilatura", "resiliparse")
    )
    text_format: str = setting(
        "TEXT_FORMAT",
        "text",
        "layout of the text: text, or markdown",
        choices=("text", "markdown"),
    )
    comments: str = setting(
        "COMMENTS",
        COMMENTS[0],
        "what readers wrote below a text: keep it in the text, drop it, or separate it (field comments of the record)",
        choices=COMMENTS,
    )
    hidden_text: str = setting(
        "HIDDEN_TEXT",
        "drop",
        "what no reader of a page sees (hidden, display: none, closed dialogs, off screen): drop, or keep; counted",
        choices=HIDDEN_TEXT,
    )
    min_words: int = setting("EXTRACTION_MIN_WORDS", 50, "fewer words are too_short; under 100 a kept page is marked short",
                             minimum=0)  # fmt: skip
    yield_share: float = setting("YIELD_MIN_SHARE", 0.6, "of the usual text of their shape of URL; latest pages that "
                                 "give less and say the same are held; 0 = off", minimum=0.0, maximum=1.0)  # fmt: skip
    yield_pages: int = setting("YIELD_HISTORY_PAGES", 30, "pages of a shape before anything is said about it",
                               minimum=1)  # fmt: skip
    yield_window: int = setting("YIELD_WINDOW_PAGES", 20, "latest pages of a shape that are compared with those before",
                                minimum=2, maximum=1000)  # fmt: skip
    max_links: int = setting("PARSE_MAX_LINKS", 10_000, "links read from one page; the others are counted (cap: links), against pages made of links",
                             minimum=0)  # fmt: skip


@dataclass(frozen=True, slots=True)
class QualityConfig:
    """Is it worth keeping?"""

    rules: tuple[str, ...] = setting("QUALITY_RULES", ("gopher_repetition", "gopher_quality", "fineweb"), "rule sets, in "
                                     f"the order they decide: {', '.join(RULE_SET_NAMES)}; empty = none, the score alone "
                                     "decides", check=_check_rules)  # fmt: skip
    min_score: float = setting("QUALITY_MIN_SCORE", 0.3, "quality_score below this is low_quality", minimum=0.0,
                               maximum=1.0)  # fmt: skip
    profile: str = setting("QUALITY_PROFILE", "auto", "thresholds and weights by kind of text: prose, technical, legal, "
                           "verse, slides, datatrove; law, medicine, science, code, finance keep documents of their field only; a "
                           "profile of one's own; auto = prose, technical, legal, verse or slides, by page", check=_check_profile)  # fmt: skip
    profiles_file: str | None = setting("QUALITY_PROFILES_FILE", None, "YAML file with profiles of one's own; the digest "
                                        "takes its content, not its path", digest=False)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PiiConfig:
    """Personal data: what is redacted."""

    person: str = setting("PII_PERSON", "contextual", "person names: beside another identifier or in a sentence on "
                          "pay, health, family, home or convictions; all; or off",
                          choices=("contextual", "all", "off"))  # fmt: skip
    max_density: float = setting("PII_MAX_DENSITY", 0.05, "share of redacted characters above which a page has to hold "
                                 "EXTRACTION_MIN_WORDS words beside the entries of a directory",
                                 minimum=0.0, maximum=1.0)  # fmt: skip
    default_region: str = setting("PII_PHONE_REGION", "US", "region for phone numbers without a country code",
                                  check=_check_region)  # fmt: skip
    models: tuple[str, ...] = setting("PII_MODELS", ("en:en_core_web_sm",), "spaCy models that find names, as "
                                      "language:model", check=_check_models)  # fmt: skip
    uncovered: str = setting("PII_UNCOVERED", "signs", "pages in a language that no model of PII_MODELS reads: keep "
                             "(counted), hold in held/pii/ for a person, or hold only those with signs that they are "
                             "about somebody: an identifier, or words on pay, health, family or convictions",
                             choices=("keep", "signs", "hold"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class DecontaminationConfig:
    """Does a text repeat an evaluation set? The digest takes the content of the sets, not their paths."""

    eval_sets: tuple[str, ...] = setting("EVAL_SETS", (), "evaluation sets that no kept text may repeat: files (JSON lines, "
                                         "JSON, text, Parquet), folders or globs; #column+column behind one names the "
                                         "columns that count", check=eval_sets.problem_of, digest=False)  # fmt: skip
    ngram: int = setting("DECONTAMINATION_NGRAM", 13, "words of a passage that counts as a repetition", minimum=5,
                         maximum=64, digest=False)  # fmt: skip
    min_overlap: int = setting("DECONTAMINATION_MIN_OVERLAP", 1, "different passages shared with one set from which a page "
                               "is contaminated", minimum=1, digest=False)  # fmt: skip
    max_examples: int = setting("DECONTAMINATION_MAX_EXAMPLES", 10, "a passage that stands in more examples is the set's "
                                "template and is not searched", minimum=1, digest=False)  # fmt: skip


ACTIONS = ("score", "drop", "hold")
"""What a crawl does with a text on the wrong side of the threshold: note the score, reject it, or keep it for a person
to look at."""
SIDES = ("below", "above")
"""Which scores are on the wrong side: those below the threshold, or the threshold and those above it."""
_CLASSIFIER = re.compile(r"([a-z][a-z0-9_]{0,39}):(.+)", re.DOTALL)


def _check_classifiers(value: tuple[str, ...]) -> str | None:
    names = []
    for pair in value:
        found = _CLASSIFIER.fullmatch(pair)
        if not found:
            return f"expected name:path pairs such as worth:models/worth.npz (a name is a-z, then a-z, 0-9, _), not {pair!r}"
        names.append(found[1])
    twice = sorted({name for name in names if names.count(name) > 1})
    return f"the name {twice[0]} stands for two classifiers; give one of them another name" if twice else None


def classifiers_of(value: tuple[str, ...]) -> dict[str, str]:
    """The paths of classifiers by name, in the order of the setting."""
    return {name: path for name, _, path in (pair.partition(":") for pair in value)}


def is_word_lists(path: str) -> bool:
    """True for a classifier that is a file of word lists (`crawler/config/word_lists.py`), no model."""
    return path.endswith((".yaml", ".yml"))


@dataclass(frozen=True, slots=True)
class ClassifyConfig:
    """Is it like what people want to keep? The digest takes the content of the models, not their paths."""

    classifiers: tuple[str, ...] = setting("CLASSIFIERS", (), "classifiers that score every text, as name:path (gristmill "
                                           "classify train); the card of each says whether a text on the wrong side of its "
                                           "threshold is rejected, or held in held/classifier/ for a person; a .yaml "
                                           "file has word lists and holds in held/safety/", check=_check_classifiers, digest=False)  # fmt: skip
