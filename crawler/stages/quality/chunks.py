"""The quality rules split a language's chunks between white space by spaCy's blank tokenizer, built without a wait.

spaCy adds all special cases of a language before its first text: 16,000 in Indonesian, 1.5 s. A special case can touch
only a chunk that holds it, so that here each is added when the first such chunk arrives.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from crawler.imports import untimed
from crawler.stages.quality.tokens import tokenize

_LONG = 64
"""Characters of a chunk from which spaCy, which takes quadratic time, is not asked."""
_NO_WORD = re.compile(r"(?<![^\W_])IS_ALPHA(?![^\W_])")
"""A name of spaCy's own: asked for it as a word, beside marks, too, its vocabulary answers with an error."""
_OWN_LANGUAGES = {"fr": "crawler.stages.quality.french"}
"""spaCy's languages that one of our modules imports."""


def module_of(code: str) -> str:
    """The module that imports one of spaCy's languages, for who wants it imported early."""
    return _OWN_LANGUAGES.get(code, f"spacy.lang.{code}")


class ChunkSplitter:
    """spaCy's tokens of chunks in one of its languages."""

    def __init__(self, code: str) -> None:
        """`code`: spaCy's name of the language. Raises: ImportError without spaCy."""
        self._tokenizer, rules = _built(code)
        self._cases = SpecialCases(rules)
        self._rules = rules.keys()
        self._add(self._cases.of_one_character())

    def __call__(self, chunks: Collection[str]) -> list[tuple[str, ...]]:
        """The tokens of each chunk; a chunk holds a character, and no white space."""
        found = {chunk: self._without_spacy(chunk) or self._by_expressions(chunk) for chunk in chunks}
        left = [chunk for chunk, tokens in found.items() if not tokens]
        for chunk in left:
            self._add(self._cases.within(chunk))  # before the memory zone: what is made there ends with it
        with self._tokenizer.vocab.memory_zone():
            found.update((chunk, self._by_spacy(chunk)) for chunk in left)
        return [found[chunk] for chunk in chunks]

    def _without_spacy(self, chunk: str) -> tuple[str, ...]:
        """Letters alone, or before one mark, need no spaCy unless it has a rule of their own; () where it is asked."""
        if len(chunk) > _LONG or chunk == "IS_ALPHA":
            return tuple(tokenize(chunk))
        word = chunk[:-1] if chunk[-1] in ",;:!?" else chunk
        if word.isalpha() and self._rules.isdisjoint((word, chunk)):
            return (chunk,) if word == chunk else (word, chunk[-1])
        return ()

    def _by_expressions(self, chunk: str) -> tuple[str, ...]:
        """spaCy's way with a chunk, by its expressions, in a third of its time; () where a special case has a part.

        Marks come off both ends as long as there are any; what is left is whole, or parted at its infixes.
        """
        spacy, rules, text = self._tokenizer, self._rules, chunk
        before, after, size, is_whole = [], [], 0, False
        while text and len(text) != size and not text.isalpha() and not (is_whole := bool(spacy.token_match(text))):
            size = len(text)
            found = spacy.prefix_search(text)
            rest = text[found.end() :] if found else text
            found = spacy.suffix_search(rest)
            end = found.start() if found else len(rest)
            first, last = text[: size - len(rest)], rest[end:]
            if not rules.isdisjoint((text, rest, text[: size - len(last)], first, last)):
                return ()
            if first:
                before.append(first)
            if last:
                after.append(last)
            text = rest[:end]
        inside = (text,) if is_whole or text.isalpha() or spacy.url_match(text) else self._parted(text)
        tokens = tuple(filter(None, (*before, *inside, *reversed(after))))
        return () if text in rules or self._cases.may_match(tokens) else tokens

    def _parted(self, text: str) -> Iterator[str]:
        """The infixes and what is between them; spaCy takes none that begins the text."""
        start = 0
        for infix in self._tokenizer.infix_finditer(text):
            if infix.start():
                yield text[start : infix.start()]
                yield infix[0]
                start = infix.end()
        yield text[start:]

    def _by_spacy(self, chunk: str) -> tuple[str, ...]:
        if _NO_WORD.search(chunk):
            return tuple(tokenize(chunk))
        return tuple(stripped for token in self._tokenizer(chunk) if (stripped := token.text.strip()))

    def _add(self, cases: Iterable[tuple[str, Any]]) -> None:
        for key, tokens in cases:
            self._tokenizer.add_special_case(key, tokens)


class SpecialCases:
    """The special cases of a tokenizer, each given out when the first chunk comes that it can touch.

    spaCy looks parts of a chunk up, and then compares the chunk's tokens with a case's own tokens, among which a single
    space is none. So what a chunk has to hold is the case without its white space.
    """

    def __init__(self, rules: dict[str, Any]) -> None:
        """`rules`: what spaCy makes of each case, by the case; not changed."""
        self._rules = rules
        self._waiting: dict[str, list[str]] = {}
        self._sizes: dict[str, set[int]] = {}  # by the first two characters
        for key in rules:
            if text := "".join(key.split()):
                self._waiting.setdefault(text, []).append(key)
                self._sizes.setdefault(text[:2], set()).add(len(text))
        self._texts = frozenset(self._waiting)

    def may_match(self, tokens: Sequence[str]) -> bool:
        """True where a case, given out or not, is one of the tokens or begins with one of them."""
        if not self._texts.isdisjoint(tokens):
            return True
        text, begin = "".join(tokens), 0
        for token in tokens:
            for size in self._sizes.get(text[begin : begin + 2], ()):
                if text[begin : begin + size] in self._texts:
                    return True
            begin += len(token)
        return False

    def of_one_character(self) -> Iterator[tuple[str, Any]]:
        """The cases of one character: to be taken first, `within` looks for two."""
        for text in [text for text in self._waiting if len(text) == 1]:
            yield from self._given_out(text)

    def within(self, chunk: str) -> Iterator[tuple[str, Any]]:
        """The cases that can touch a chunk and have not been given out."""
        for start in range(len(chunk) - 1):
            for size in self._sizes.get(chunk[start : start + 2], ()):
                if (text := chunk[start : start + size]) in self._waiting:
                    yield from self._given_out(text)

    def _given_out(self, text: str) -> list[tuple[str, Any]]:
        return [(key, self._rules[key]) for key in self._waiting.pop(text)]


def _built(code: str) -> tuple[Any, dict[str, Any]]:
    """The tokenizer of `spacy.blank(code)` without its special cases, and these."""
    with untimed():
        import crawler.stages.models.spacy_alone  # noqa: F401  # before the language, which imports all of spaCy

        import_module(module_of(code))
    from spacy import Vocab
    from spacy.tokenizer import Tokenizer
    from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex, get_lang_class

    data: Any = get_lang_class(code).Defaults
    tokenizer = Tokenizer(
        Vocab(),
        prefix_search=compile_prefix_regex(data.prefixes).match,
        suffix_search=compile_suffix_regex(data.suffixes).search,
        infix_finditer=compile_infix_regex(data.infixes).finditer,
        token_match=data.token_match or _no_match,
        url_match=data.url_match,
        max_cache_size=0,  # it would keep the parts of a case with a space as they are split without special cases
    )
    return tokenizer, data.tokenizer_exceptions


def _no_match(text: str) -> None:
    """For languages without words of that kind."""
