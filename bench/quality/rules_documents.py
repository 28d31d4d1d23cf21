"""Documents for `bench/quality/eval_rules.py`: real texts in many languages, whole and broken, so that reasons vary.

Run: `python -m bench.quality.rules_documents OUT TEXTS.jsonl… [--sentences ../shared/data/languages/sentences.tsv]`.

TEXTS are what `bench.web.texts` writes. The language is our own stage's; pages with the same text count once. A choice
of them, in a fixed pseudo-random order, is broken in the ways that pages are: cut short, one line, lines without ends,
lists, every line twice, code, dots. OUT: one JSON object a line: id, language, text.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from crawler.config import LanguageConfig
from crawler.document import Document
from crawler.stages.language.codes import normal_code
from crawler.stages.language.stage import LanguageStage

MAX_CHARS = 30_000
"""Longer texts take the oracle seconds and show nothing new."""
SEED = 7


def first_words(text: str, number: int) -> str:
    words = text.split(" ")
    return " ".join(words[:number])


def bulleted(text: str) -> str:
    return "\n".join(f"- {line}" for line in text.split("\n"))


def repeated_lines(text: str, share: int = 3) -> str:
    lines = text.split("\n")
    return "\n".join([*lines, *lines[: max(len(lines) // share, 1)]])


def code_lines(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(line if at % 3 else f"if (x[{at}] == y) {{ z += {at}; }}" for at, line in enumerate(lines))


BREAKS: dict[str, Callable[[str], str]] = {
    "cut": lambda text: text[:400],
    "head": lambda text: "\n".join(text.split("\n")[:4]),
    "one_line": lambda text: " ".join(text[:3_000].split("\n")),
    "no_ends": lambda text: re.sub(r"[.!?。।]+(?=\n|$)", "", text[:6_000]),
    "words": lambda text: "\n".join(first_words(text[:3_000], 250).split(" ")),
    "titles": lambda text: "\n".join(line[:25] for line in text[:6_000].split("\n")),
    "list": lambda text: bulleted(text[:4_000]),
    "twice": lambda text: repeated_lines(text[:6_000], 1),
    "some_twice": lambda text: repeated_lines(text[:6_000], 20),
    "phrases": lambda text: (text[:700] + " ") * 2 + text[700:3_000],
    "code": lambda text: code_lines(text[:5_000]),
    "numbers": lambda text: re.sub(r"(\s)", r"\g<1>12 ", text[:3_000], count=200),
    "dots": lambda text: re.sub(r"[.!?。।]?(?=\n|$)", "...", text[:4_000]),
    "paragraphs": lambda text: text[:5_000].replace("\n", "\n\n") + "\n\n" + text[:900].replace("\n", "\n\n"),
    "hashes": lambda text: re.sub(r" ", " # ", text[:2_000], count=120),
    "cookies": lambda text: (
        "This site uses cookies and javascript.\n" + text[:2_500] + "\nRead our privacy policy [1]."
    ),
}
"""Ways a page can be broken: name → what is left of its text."""


def real(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """(id, text) of every different text."""
    seen: set[str] = set()
    for path in paths:
        for line in path.read_bytes().splitlines():
            record = orjson.loads(line)
            text = record["text"][:MAX_CHARS]
            if text not in seen:
                seen.add(text)
                yield record["url"].removeprefix("http://localhost/"), text


def by_language(texts: Iterator[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    stage, found = LanguageStage(LanguageConfig(min_score=0.5)), defaultdict(list)
    for name, text in texts:
        doc = Document(url="http://localhost/", text=text)
        if isinstance(stage(doc), Document) and doc.language and doc.language_signals.get("main_share", 0) >= 0.6:
            found[doc.language].append((name, text))
    return found


def joined_sentences(path: Path, size: int = 20) -> Iterator[tuple[str, str, str]]:
    """(id, language, text) of the sentences of one language, `size` at a time, two to a line."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        code, _, sentence = line.partition("\t")
        found[normal_code(code)].append(sentence)
    for code, sentences in sorted(found.items()):
        for start in range(0, len(sentences) - size + 1, size):
            part = sentences[start : start + size]
            yield f"sentences/{code}/{start}", code, "\n".join(" ".join(part[i : i + 2]) for i in range(0, size, 2))


def choose(found: dict[str, list[tuple[str, str]]], most: int) -> Iterator[tuple[str, str, str]]:
    """At most `most` documents a language, two thirds of them whole."""
    chance, names = random.Random(SEED), list(BREAKS)
    for code, documents in sorted(found.items()):
        chance.shuffle(documents)
        for number, (name, text) in enumerate(documents[:most]):
            yield name, code, text
            if number % 2:
                way = names[(number // 2) % len(names)]
                yield f"{name}#{way}", code, BREAKS[way](text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--sentences", type=Path)
    parser.add_argument("--most", type=int, default=150, help="whole documents of one language")
    options = parser.parse_args()
    documents = list(choose(by_language(real(options.texts)), options.most))
    if options.sentences:
        documents += joined_sentences(options.sentences)
    with options.out.open("wb") as out:
        for name, code, text in documents:
            out.write(orjson.dumps({"id": name, "language": code, "text": text}) + b"\n")
    print(f"{len(documents)} documents in {len({code for _, code, _ in documents})} languages")


if __name__ == "__main__":
    main()
