"""First step of the benches' own webs: text that is readable, distinct, and nobody else's.

All of it comes from the demo web (our own, CC0): its articles as they are, and prose made from their words by a
first-order Markov chain, long and sound enough for the quality rules. The same seed gives the same text.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

from bench.places import PROJECT

DEMO = PROJECT / "demo" / "sites"
LINK = re.compile(r"\[([^\]\n]{1,200})\]\([^)\s]{1,300}\)")
SENTENCE = re.compile(r"[A-Z][a-z][^.\n|<>\[\]{}*#@=:]{30,}\.")


def prose(seed: object, words: int = 260) -> list[str]:
    """Paragraphs of about `words` words in all."""
    follows, starts = _chain()
    rng = random.Random(str(seed))
    paragraphs, total = [], 0
    while total < words:
        sentences = []
        for _ in range(5):
            sentence = [rng.choice(starts)]
            while not sentence[-1].endswith(".") and len(sentence) < 40:
                sentence.append(rng.choice(follows.get(sentence[-1], ["end."])))
            sentences.append(" ".join(sentence).rstrip(".,;") + ".")
            total += len(sentence)
        paragraphs.append(" ".join(sentences))
    return paragraphs


@cache
def articles(words: int = 180) -> tuple[tuple[str, ...], ...]:
    """The paragraphs of every English article of the demo web with at least `words` words, by file name."""
    found = []
    for path in _sources():
        body = path.read_text(encoding="utf-8").partition("\n---\n")[2]
        blocks = [LINK.sub(r"\1", block.strip()) for block in body.split("\n\n")]
        paragraphs = tuple(" ".join(block.split()) for block in blocks if block[:1].isalpha())
        if sum(len(paragraph.split()) for paragraph in paragraphs) >= words:
            found.append(paragraphs)
    return tuple(found)


def _sources() -> list[Path]:
    """Without the pages that a script draws: they came later, and what the benches build stays the same."""
    others = ("/de/", "/fr/", "/studio/")
    return [path for path in sorted(DEMO.rglob("*.md")) if not any(part in str(path) for part in others)]


@cache
def _chain() -> tuple[dict[str, list[str]], list[str]]:
    follows: dict[str, list[str]] = defaultdict(list)
    starts = []
    for path in _sources():
        for sentence in SENTENCE.findall(path.read_text(encoding="utf-8")):
            words = sentence.split()
            starts.append(words[0])
            for a, b in pairwise(words):
                follows[a].append(b)
    return dict(follows), starts
