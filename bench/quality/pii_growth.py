"""How the cost of the personal-data stage grows: `python -m bench.quality.pii_growth [--seconds 120] [--seed 1]`.

Atoms of numbers, addresses, marks and names are repeated, alone and joined by chance. Prints each pattern that takes
more than `MOST` times as long for twice the text, and the memory of the process. Exits 1 where there is one.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Iterator

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.pii.stage import PiiStage, check_models

SIZE = 100_000
MOST = 2.4
LEAST_SECONDS = 0.3
ATOMS = (
    *("1", "12 ", "1234 ", "12 34 ", "123-", "1234567 ", "1.", "1.2.", "1.2.3.4 ", "1/", "(1", "+", "+49 ", "00 ", "0"),
    *("@", "a@", "@a.", "a@b.de ", "x@fernbank.net,", "a.", "(at) ", " [dot] com", " at a dot com", "a:b@c.de:", "//"),
    *(
        "\u0301",
        "\u0300\u0316",
        "a\u0301\u0316",
        "İ",
        "Σ",
        "٣٤ ",
        "中1",
        "\u00a0",
        "\u202f1",
        "_",
        "'",
        "’s ",
        "[",
        "<",
    ),
    *("DE89", "DE89 3704 0044 0532 0130 00 ", "GB1", "13", "0x1", "ABCDEF01A23B456C", "12345678A", "123456-123A"),
    *("tel ", "Tel. 030 901820 ", "030 901820 8h ", "call ", "fax\n", "ssn 1", "passport 12345678 ", "card 4111 "),
    *("4111 1111 1111 1111 ", "2001:db8::1 ", "2020-01-02 ", "12:30 ", "salary ", "Tom Baker earns 9 dollars. ", "J. "),
    *("Mr Baker ", "Baker", "Tom ", "\n", "1\n", "|1", "1;", "\t", "© ", "a" * 63 + ".", "T. Baker, tel. 030 901820\n"),
)
HEADS = ("", "Numbers\n", "Tom Baker earns 84,000 dollars.\n", "Tel\n", "a\tb\n")
"""What stands before a pattern once: a line, a name that is known from there on, a label, a heading of columns."""


def patterns(seed: int) -> Iterator[tuple[str, str, str]]:
    """Head, atom and language, without end: each atom alone, then joined ones."""
    chance = random.Random(seed)
    for atom in ATOMS:
        yield from ((head, atom, "en") for head in HEADS)
    while True:
        joined = "".join(chance.choices(ATOMS, k=chance.choice((2, 2, 3, 4))))
        yield chance.choice(HEADS), joined, chance.choice(("en", "de", "fr", "ru", "zh"))


def seconds_of(stage: PiiStage, head: str, atom: str, language: str, size: int) -> float:
    """CPU time of the stage for a text of so many characters."""
    text = (head + atom * (size // len(atom) + 1))[:size]
    start = time.process_time()
    stage(Document(url="http://a.example/", text=text, language=language))
    return time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    config = from_mapping({}).pii
    stage = PiiStage(from_mapping({"PII_PERSON": "off"}).pii if check_models(config) else config)
    end, tried, bad = time.monotonic() + options.seconds, 0, 0
    for head, atom, language in patterns(options.seed):
        if time.monotonic() > end:
            break
        tried += 1
        once = seconds_of(stage, head, atom, language, SIZE)
        if once < LEAST_SECONDS:
            continue
        twice = seconds_of(stage, head, atom, language, 2 * SIZE)
        if twice > MOST * once:
            bad += 1
            print(f"{twice / once:.2f} times, {once:.2f} s for {SIZE:,} characters: {head!r} {atom!r} {language}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{tried} patterns, {bad} grow faster than {MOST} for twice the text; the process took {memory:,.0f} MiB")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
