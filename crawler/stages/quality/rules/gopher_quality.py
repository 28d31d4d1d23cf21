"""Quality rules of Gopher: is this prose at all? As datatrove's `gopher_quality_filter.py` computes them."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.document import DropReason
from crawler.stages.quality.rules.base import Findings, Page

STOP_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset({"the", "be", "to", "of", "and", "that", "have", "with"}),
    "de": frozenset({"der", "die", "das", "und", "in", "zu", "den", "nicht", "von", "mit", "ist"}),
    "fr": frozenset({"le", "la", "les", "de", "des", "et", "que", "dans", "pour", "est", "un", "une"}),
    "es": frozenset({"el", "la", "los", "de", "que", "y", "en", "un", "una", "por", "con", "para"}),
    "it": frozenset({"il", "la", "di", "che", "e", "un", "una", "per", "con", "non", "del", "della"}),
    "pt": frozenset({"o", "a", "os", "de", "que", "e", "um", "uma", "para", "com", "não", "do", "da"}),
    "nl": frozenset({"de", "het", "een", "en", "van", "in", "is", "dat", "op", "te", "met", "voor"}),
    "pl": frozenset({"i", "w", "na", "z", "się", "nie", "do", "że", "jest", "to", "o", "jak"}),
    "cs": frozenset({"a", "v", "se", "na", "je", "že", "s", "z", "do", "to", "pro", "k"}),
    "sv": frozenset({"och", "att", "det", "i", "som", "en", "på", "är", "av", "för", "med", "den"}),
    "da": frozenset({"og", "at", "det", "i", "som", "en", "på", "er", "af", "for", "med", "den"}),
    "nb": frozenset({"og", "å", "det", "i", "som", "en", "på", "er", "av", "for", "med", "den"}),
    "no": frozenset({"og", "å", "det", "i", "som", "en", "på", "er", "av", "for", "med", "den"}),
    "ru": frozenset({"и", "в", "не", "на", "что", "с", "по", "как", "это", "для", "к", "из"}),
    "uk": frozenset({"і", "в", "не", "на", "що", "з", "до", "як", "це", "для", "та", "у"}),
    "tr": frozenset({"ve", "bir", "bu", "için", "da", "de", "ile", "olarak", "çok", "gibi", "daha"}),
    "id": frozenset({"yang", "dan", "di", "ke", "dari", "ini", "itu", "untuk", "dengan", "pada"}),
    "vi": frozenset({"và", "là", "của", "có", "không", "một", "cho", "các", "được", "trong"}),
    "ro": frozenset({"și", "de", "în", "la", "cu", "a", "pe", "un", "o", "nu", "să", "este"}),
    "hu": frozenset({"a", "az", "és", "hogy", "nem", "is", "egy", "ez", "van", "de", "meg"}),
    "el": frozenset({"και", "το", "να", "του", "η", "της", "με", "που", "για", "την", "από", "είναι"}),
}
"""Function words by ISO 639-1 code. English: the paper's eight. Others: ours, the most frequent function words."""


@dataclass(frozen=True, slots=True)
class GopherQuality:
    """Thresholds of Rae et al. 2021, section A1.1. `None` switches a rule off."""

    min_words: int | None = 50
    """Words, punctuation tokens not counted."""
    max_words: int | None = 100_000
    min_mean_word_length: float | None = 3
    """Characters a word."""
    max_mean_word_length: float | None = 10
    max_symbols_a_token: float | None = 0.1
    """Number of "#", and of ellipses, by the number of tokens."""
    max_bullet_lines: float | None = 0.9
    """Share of lines that begin with a bullet."""
    max_ellipsis_lines: float | None = 0.3
    """Share of lines that end in an ellipsis."""
    min_alphabetic_tokens: float | None = 0.8
    """Share of tokens with a letter in them, punctuation tokens counted."""
    min_stop_words: int | None = 2
    """Distinct stop words, case-sensitive."""

    def judge(self, page: Page) -> Findings:
        """Measure everything, then name the first failing rule in datatrove's order."""
        found = Findings()
        self._lengths(page, found)
        self._symbols(page, found)
        self._lines(page, found)
        self._tokens(page, found)
        return found

    def _lengths(self, page: Page, found: Findings) -> None:
        total = len(page.words)
        found.below("gopher_words", total, self.min_words, DropReason.GOPHER_SHORT_DOC)
        found.above("gopher_words", total, self.max_words, DropReason.GOPHER_LONG_DOC)
        if page.short_words:
            for rule in ("gopher_below_avg_threshold", "gopher_above_avg_threshold"):
                found.skipped[rule] = f"words of {page.language} are short"
            return
        mean = sum(map(len, page.words)) / max(len(page.words), 1)
        found.below("gopher_mean_word_length", mean, self.min_mean_word_length, DropReason.GOPHER_BELOW_AVG_THRESHOLD)
        found.above("gopher_mean_word_length", mean, self.max_mean_word_length, DropReason.GOPHER_ABOVE_AVG_THRESHOLD)

    def _symbols(self, page: Page, found: Findings) -> None:
        text, total = page.text, max(len(page.tokens), 1)
        limit = self.max_symbols_a_token
        found.above("gopher_hashes", text.count("#") / total, limit, DropReason.GOPHER_TOO_MANY_HASHES)
        ellipses = text.count("...") + text.count("…")
        found.above("gopher_ellipses", ellipses / total, limit, DropReason.GOPHER_TOO_MANY_ELLIPSIS)

    def _lines(self, page: Page, found: Findings) -> None:
        lines = page.text.splitlines()
        total = max(len(lines), 1)
        bullets = sum(line.lstrip().startswith(("•", "-")) for line in lines) / total
        found.above("gopher_bullet_lines", bullets, self.max_bullet_lines, DropReason.GOPHER_TOO_MANY_BULLETS)
        ends = sum(line.rstrip().endswith(("...", "…")) for line in lines) / total
        found.above("gopher_ellipsis_lines", ends, self.max_ellipsis_lines, DropReason.GOPHER_TOO_MANY_END_ELLIPSIS)

    def _tokens(self, page: Page, found: Findings) -> None:
        alphabetic = sum(t.isalpha() or any(map(str.isalpha, t)) for t in page.tokens)
        share = alphabetic / max(len(page.tokens), 1)
        reason = DropReason.GOPHER_BELOW_ALPHA_THRESHOLD
        found.below("gopher_alphabetic_tokens", share, self.min_alphabetic_tokens, reason)
        stop_words = STOP_WORDS.get(page.language)
        if stop_words is None:
            found.skipped["gopher_enough_stop_words"] = f"no list of stop words for {page.language}"
            return
        distinct = len(stop_words.intersection(page.tokens))
        found.below("gopher_stop_words", distinct, self.min_stop_words, DropReason.GOPHER_ENOUGH_STOP_WORDS)
