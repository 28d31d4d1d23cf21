"""The oracle's own tokenizers, for `eval_rules.py`: spaCy's whole, jieba, SudachiPy and PyThaiNLP where installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from crawler.stages.quality.tokenizers import SPACY, Tokenizer, fast


def exact(language: str) -> Tokenizer:
    """The oracle's tokenizer of a language; the product's where it is not at hand."""
    if language in _SEGMENTERS and all(map(find_spec, _SEGMENTERS[language][0])):
        return _segmented(language)
    return _spacy(language) if language in SPACY else fast(language)


@cache
def _segmented(language: str) -> Tokenizer:
    return _SEGMENTERS[language][1]()


@cache
def _spacy(language: str) -> Tokenizer:
    """The oracle's tokenizer of a spaced language. Raises: ImportError without spaCy."""
    import spacy

    return _of_spacy("spacy", spacy.blank(SPACY[language]))


def _of_spacy(name: str, nlp: Any, longest: int | None = None) -> Tokenizer:
    """`longest`: characters that the tokenizer behind it can read at once."""
    nlp.add_pipe("sentencizer")

    def docs(text: str) -> Iterable[Any]:
        nlp.max_length = len(text) + 10
        text = text.replace("IS_ALPHA", "")  # a name of spaCy's own: its vocabulary answers with an error
        size = longest or len(text) or 1
        return (nlp(text[start : start + size]) for start in range(0, len(text), size))

    def words(text: str) -> list[str]:
        with nlp.memory_zone():
            return [stripped for doc in docs(text) for token in doc if (stripped := token.text.strip())]

    def sentences(line: str) -> int:
        with nlp.memory_zone():
            return sum(len(list(doc.sents)) for doc in docs(line))

    return Tokenizer(name, words, sentences)


def _jieba() -> Tokenizer:
    import logging
    import warnings

    import spacy

    with warnings.catch_warnings():  # jieba 0.42 has escapes that Python 3.12 warns of, and asks for pkg_resources
        warnings.simplefilter("ignore")
        import_module("jieba").setLogLevel(logging.WARNING)
        return _of_spacy("jieba", spacy.blank("zh", config={"nlp": {"tokenizer": {"segmenter": "jieba"}}}))


def _sudachi() -> Tokenizer:
    import spacy

    return _of_spacy("sudachipy", spacy.blank("ja"), longest=13_000)


def _pythainlp() -> Tokenizer:
    thai: Any = import_module("pythainlp.tokenize")

    def words(text: str) -> list[str]:
        tokens = thai.word_tokenize(text, keep_whitespace=False, engine="newmm-safe")
        return [stripped for token in tokens if (stripped := token.strip())]

    return Tokenizer("pythainlp", words, lambda line: sum(bool(s.strip()) for s in thai.sent_tokenize(line)))


_SEGMENTERS: dict[str, tuple[tuple[str, ...], Callable[[], Tokenizer]]] = {
    "zh": (("jieba",), _jieba),
    "ja": (("sudachipy", "sudachidict_core"), _sudachi),
    "th": (("pythainlp", "pycrfsuite"), _pythainlp),
}
