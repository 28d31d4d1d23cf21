"""The quality rules choose here which tokenizer counts the words and sentences of a language, fast or the oracle's.

The oracle (datatrove 0.10.1, `assets/tokenizer_assignment.csv`) splits most languages with spaCy's blank tokenizer of
the language or of a relative, Chinese with jieba, Japanese with SudachiPy, Thai with PyThaiNLP; the last three are no
dependencies of this project (`SEGMENTERS`). For languages whose tokenizer is not at hand, and by default, the fast
tokenizer counts; the record then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from unicodedata import category

from crawler.stages.quality.chunks import ChunkSplitter, module_of
from crawler.stages.quality.punctuation import ENDS
from crawler.stages.quality.tokens import split, split_once, tokenize
from crawler.stages.text.words import UNSPACED, pieces

Split = Callable[[Collection[str]], Iterable[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """How one language is counted."""

    name: str
    """"fast", "pieces" (script without spaces, cut into pieces of a word's mean length), or the package's name."""
    words: Callable[[str], list[str]]
    """Tokens in order, marks included, no white space."""
    sentences: Callable[[str], int]
    """Sentences of one line."""
    split: Split | None = None
    """The tokens of each of these chunks, where a chunk between white space decides alone; it remembers nothing."""


@dataclass(frozen=True, slots=True)
class Segmenter:
    """A package that finds words where a script puts no spaces."""

    modules: tuple[str, ...]
    install: str
    load: Callable[[], Tokenizer]


class MissingSegmenterError(ImportError):
    """The package behind `QUALITY_SEGMENTERS` is not installed. The message names the command that installs it."""


class Tokenizers:
    """The tokenizer of every language, as configured. Raises: `MissingSegmenterError`."""

    def __init__(self, mode: str = "fast", segmenters: Iterable[str] = ()) -> None:
        """`mode`: "fast" or "spacy"; `segmenters`: languages (zh, ja, th) whose words a package finds."""
        self._exact = mode == "spacy"
        self._segmenters = frozenset(segmenters)
        for language in sorted(self._segmenters):
            _check(language)

    def __call__(self, language: str) -> Tokenizer:
        """The tokenizer for an ISO 639-1 code."""
        if language in self._segmenters:
            return _segmented(language)
        if self._exact and language in SPACY:
            return _spacy(language)
        return fast(language)


def fast(language: str) -> Tokenizer:
    """The default: no dictionary, and no chunk between white space is split twice."""
    if language in UNSPACED:
        return PIECES
    return _remembered(language) if language in SPACY and language != "en" else FAST


def token_sentences(tokens: Iterable[str]) -> int:
    """Sentences by spaCy's sentencizer: one ends at a mark of `TERMINAL`, and at the marks that follow it."""
    count, ended, anything = 1, False, False
    for token in tokens:
        anything = True
        if token in ENDS:
            ended = True
        elif ended and not all(category(char)[0] == "P" for char in token):
            count, ended = count + 1, False
    return count if anything else 0


def _fast_sentences(line: str) -> int:
    """`token_sentences` of the tokens. A chunk of letters alone goes on with a sentence or begins the next."""
    chunks = line.split()
    count, ended = 1, False
    for chunk in chunks:
        if not ended and chunk.isalpha():
            continue
        for token in split(chunk):
            if token in ENDS:
                ended = True
            elif ended and not all(category(char)[0] == "P" for char in token):
                count, ended = count + 1, False
    return count if chunks else 0


def _fast_split(chunks: Collection[str]) -> Iterable[tuple[str, ...]]:
    return map(split_once, chunks)


def _piece_words(text: str) -> list[str]:
    return [token for chunk in text.split() for piece in pieces(chunk) for token in tokenize(piece)]


def _piece_split(chunks: Collection[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(token for piece in pieces(chunk) for token in tokenize(piece)) for chunk in chunks)


def _piece_sentences(line: str) -> int:
    return token_sentences(_piece_words(line))


FAST = Tokenizer("fast", tokenize, _fast_sentences, _fast_split)
PIECES = Tokenizer("pieces", _piece_words, _piece_sentences, _piece_split)


def _codes(codes: str) -> dict[str, str]:
    """Language → spaCy's language, from "code" or "code=spaCy's code"."""
    return {code: target or code for code, _, target in (pair.partition("=") for pair in codes.split())}


SPACY: dict[str, str] = _codes(
    "af am ar az bg ca cs da de el en es et eu fa fi fo fr ga he hr hu hy id is it ky la lb lg lt lv mk ms nb nl pl pt "
    "ro ru sk sl sq sr sv ti tl tn tr tt uk yo an=es ba=tt bs=sr co=es fy=en li=nl nn=nb no=nb oc=es rm=fr sc=es tk=tr "
    "wa=fr ch=ms fj=ms jv=ms mg=ms mh=ms mi=ms sm=ms su=ms to=ms ty=ms ee=tn hz=tn ig=tn kg=tn ki=tn kj=tn ln=tn lu=tn "
    "nd=tn ng=tn nr=tn ny=tn sn=tn ss=tn st=tn sw=tn ts=tn ve=tn xh=tn zu=tn rn=lg rw=lg ab=xx ak=xx av=xx ay=xx bm=xx "
    "ce=xx cv=xx eo=xx gn=xx ha=xx ho=xx ht=xx ia=xx ie=xx ik=xx io=xx kl=xx kv=xx nv=xx oj=xx om=xx os=xx qu=xx sg=xx "
    "so=xx tg=xx tw=xx uz=xx vo=xx za=xx"
)
"""Languages that the oracle gives to a blank spaCy tokenizer, and which one: a relative's where there is no own one."""


def modules(languages: Iterable[str]) -> list[str]:
    """What is loaded for the first text in one of these languages ("fr", "pt-BR")."""
    known = (SPACY.get(language.strip().lower().partition("-")[0], "") for language in languages)
    return sorted({module_of(name) for name in known if name not in {"", "en", "xx"}})


@cache
def _spacy(language: str) -> Tokenizer:
    """The oracle's tokenizer of a spaced language. Raises: ImportError without spaCy."""
    import spacy

    return _of_spacy("spacy", spacy.blank(SPACY[language]))


@cache
def _remembered(language: str) -> Tokenizer:
    """spaCy's tokens chunk by chunk, remembered: it splits at white space first, so that the chunks decide alone.

    Long chunks, for which spaCy takes quadratic time, are left to `tokenize`.
    """
    split_all = ChunkSplitter(SPACY[language])
    memory: dict[str, tuple[str, ...]] = {}

    def words(text: str) -> list[str]:
        chunks = text.split()
        unknown = {chunk for chunk in chunks if chunk not in memory}
        if unknown:
            if len(memory) > _MEMORY_LIMIT:
                memory.clear()
                unknown = set(chunks)
            memory.update(zip(unknown, split_all(unknown), strict=True))
        return [token for chunk in chunks for token in memory[chunk]]

    return Tokenizer("fast", words, lambda line: token_sentences(words(line)), split_all)


_MEMORY_LIMIT = 65_536


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


SEGMENTERS: dict[str, Segmenter] = {
    "zh": Segmenter(("jieba",), 'pip install "jieba>=0.42,<1"', _jieba),
    "ja": Segmenter(("sudachipy", "sudachidict_core"), 'pip install "sudachipy>=0.6,<1" sudachidict_core', _sudachi),
    "th": Segmenter(("pythainlp", "pycrfsuite"), 'pip install "pythainlp>=5,<6" "python-crfsuite>=0.9,<1"', _pythainlp),
}
"""Languages by ISO 639-1 code whose words a package can find, as the oracle does."""


def installed() -> list[str]:
    """Languages whose segmenter is installed."""
    return [language for language, segmenter in SEGMENTERS.items() if not _absent(segmenter)]


def missing(segmenters: Iterable[str]) -> list[str]:
    """What stops a crawl before its first request: segmenters that are not installed, and how to install them."""
    problems = []
    for language in sorted(segmenters):
        try:
            _check(language)
        except MissingSegmenterError as error:
            problems.append(str(error))
    return problems


def _absent(segmenter: Segmenter) -> list[str]:
    return [module for module in segmenter.modules if find_spec(module) is None]


def _check(language: str) -> None:
    segmenter = SEGMENTERS.get(language)
    if segmenter is None:
        raise MissingSegmenterError(
            f"QUALITY_SEGMENTERS: no segmenter for {language!r}, only for {', '.join(SEGMENTERS)}"
        )
    if absent := _absent(segmenter):
        raise MissingSegmenterError(
            f"QUALITY_SEGMENTERS names {language!r}, and {', '.join(absent)} is not installed: "
            f"run {segmenter.install}, or take {language!r} out (its words are then estimated from characters)"
        )


@cache
def _segmented(language: str) -> Tokenizer:
    return SEGMENTERS[language].load()
