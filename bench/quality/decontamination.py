"""Decontamination on real texts: what is found, what it costs.

`python -m bench.quality.decontamination TEXTS.jsonl [--documents 10000] [--examples 20000]`

TEXTS.jsonl comes from `python -m bench.web.texts FOLDER TEXTS.jsonl`. Builds an evaluation set in the form of others:
half are questions of a template ("Which of the following statements about … is true according to the passage above?"),
half are free, all with four choices; the words follow one another as in texts that are not searched, but never for
long as in any of them. Then counts hits in DOCUMENTS clean texts (long ones are cut into 1,000 words), plants a free
question in each of 1,000 of them, and prints what was found, build time, memory and time a document.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import orjson

from crawler.config import from_mapping
from crawler.stages.contamination.index import open_index
from crawler.stages.contamination.stage import ContaminationStage


def load(path: Path) -> list[str]:
    """Different texts of at most 1,000 words, in the order of the file."""
    with path.open("rb") as file:
        texts = dict.fromkeys(orjson.loads(line)["text"] for line in file)
    return list(dict.fromkeys(part for text in texts for part in parts(text)))


def parts(text: str) -> Iterator[str]:
    words = text.split(" ")
    for start in range(0, len(words), 1_000):
        yield " ".join(words[start : start + 1_000])


def chain_of(texts: list[str]) -> dict[str, list[str]]:
    follows: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        for left, right in pairwise(text.split()):
            if (
                left.isalpha() and max(len(left), len(right)) <= 15 and right.strip(".,;:?!()").isalpha()
            ):  # a path or an address alone would be a passage
                follows[left].append(right)
    return follows


def phrase(chance: random.Random, follows: dict[str, list[str]], starts: list[str], words: int) -> str:
    made = [chance.choice(starts)]
    while len(made) < words:
        one_of = follows.get(made[-1]) if len(made) % 4 else None  # every fourth word anew: no sentence is copied
        made.append(chance.choice(one_of or starts))
    return " ".join(made)


def evaluation_set(texts: list[str], count: int, chance: random.Random) -> list[dict[str, object]]:
    """Questions in the form of the well-known multiple-choice sets."""
    follows = chain_of(texts)
    starts = sorted(follows)
    made: list[dict[str, object]] = []
    for number in range(count):
        topic = phrase(chance, follows, starts, 6)
        question = f"Which of the following statements about {topic} is true according to the passage above?"
        if number % 2:
            question = phrase(chance, follows, starts, chance.randint(15, 60))
        choices = [phrase(chance, follows, starts, chance.randint(1, 12)) for _ in range(4)]
        made.append({"id": f"q-{number}", "question": question, "choices": choices, "answer": number % 4})
    return made


def planted(chance: random.Random, text: str, passage: str) -> str:
    """The passage somewhere in the text, in other letter case and punctuation."""
    words = text.split(" ")
    clothes = [str.upper, str.lower, str.title]
    disguised = " ".join(chance.choice(clothes)(w) + chance.choice(["", ",", ";", "!"]) for w in passage.split())
    words.insert(chance.randint(0, len(words)), f"\n{disguised}\n")
    return " ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--examples", type=int, default=20_000)
    options = parser.parse_args()
    chance = random.Random(5)
    texts = load(options.texts)
    chance.shuffle(texts)
    clean, sources = texts[: options.documents], texts[options.documents : options.documents + 3_000]
    examples = evaluation_set(sources, options.examples, chance)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quiz.jsonl"
        path.write_bytes(b"".join(orjson.dumps(example) + b"\n" for example in examples))
        tempfile.tempdir = folder
        config = from_mapping({"EVAL_SETS": str(path)})
        cpu = time.process_time()
        rows = open_index(config)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"index: {len(examples):,} examples, {rows.shape[1]:,} n-grams, {rows.nbytes / 1e6:.1f} MB, built in "
            f"{time.process_time() - cpu:.1f} s CPU (this process has {peak:,.0f} MB at most, texts included)"
        )
        stage = ContaminationStage(config)
        cpu = time.process_time()
        hits = [(text, found[0]) for text in clean if (found := stage.overlaps(text))]
        seconds = time.process_time() - cpu
        words = sum(len(text.split()) for text in clean)
        print(f"clean: {len(clean):,} documents, {words:,} words, {len(hits)} hits")
        print(f"time: {1e3 * seconds / len(clean):.2f} ms a document, {1e6 * seconds / words:.2f} ms per 1,000 words")
        for text, first in hits[:10]:
            print(f"  {first}: {text[first.characters[0] : first.characters[1]][:200]!r}")
        questions = [str(e["question"]) for e in examples if str(e["question"]).split()[0] != "Which"]
        texts_with = [(planted(chance, text, chance.choice(questions))) for text in clean[:1_000]]
        print(f"planted: {sum(bool(stage.overlaps(text)) for text in texts_with):,} of {len(texts_with):,} found")


if __name__ == "__main__":
    main()
