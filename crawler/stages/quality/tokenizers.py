"""The quality rules choose here which tokenizer counts the words and sentences of a language.

The oracle (datatrove 0.10.1, `assets/tokenizer_assignment.csv`) splits most languages with spaCy's blank tokenizer of
the language or of a relative; here the same is done chunk by chunk. English has a quicker one of its own, scripts
without spaces are cut into pieces of a word's mean length. `bench/quality/exact_tokenizers.py` has the oracle's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from unicodedata import category

from crawler.stages.quality.chunks import ChunkSplitter, module_of
from crawler.stages.quality.punctuation import ENDS
from crawler.stages.quality.tokens import split, split_once, tokenize
from crawler.stages.text.words import UNSPACED, WORD_SPACE, pieces

Split = Callable[[Collection[str]], Iterable[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """How one language is counted."""

    name: str
    """"fast", or "pieces" (script without spaces, cut into pieces of a word's mean length)."""
    words: Callable[[str], list[str]]
    """Tokens in order, marks included, no white space."""
    sentences: Callable[[str], int]
    """Sentences of one line."""
    split: Split | None = None
    """The tokens of each of these chunks, where a chunk between white space decides alone; it remembers nothing."""


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
    found = sorted({module_of(name) for name in known if name not in {"", "en", "xx"}})
    return ["crawler.stages.models.spacy_alone", *found] if found else []


_WORD_SPACED = frozenset({"am", "ti"})


def _at_word_spaces(split_all: Split) -> Split:
    """The tokens of chunks in which an Ethiopic mark stands between words instead of white space."""

    def split_words(chunks: Collection[str]) -> Iterable[tuple[str, ...]]:
        parts = {chunk: [part for part in chunk.split(WORD_SPACE) if part] or [chunk] for chunk in chunks}
        every = list({part for some in parts.values() for part in some})
        found = dict(zip(every, split_all(every), strict=True))
        return [tuple(chain.from_iterable(map(found.__getitem__, parts[chunk]))) for chunk in chunks]

    return split_words


@cache
def _remembered(language: str) -> Tokenizer:
    """spaCy's tokens chunk by chunk, remembered: it splits at white space first, so that the chunks decide alone.

    Long chunks, for which spaCy takes quadratic time, are left to `tokenize`.
    """
    split_all: Split = ChunkSplitter(SPACY[language])
    if language in _WORD_SPACED:
        split_all = _at_word_spaces(split_all)
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
