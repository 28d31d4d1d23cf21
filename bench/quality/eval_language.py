"""How often the language stage is right: single sentences and documents of ten, in the languages both identifiers know.

Run: `python -m bench.quality.eval_language [--data ../shared/data/languages] [--verbose]`. Documents are sentences of
one language put together. Also: how fast it is on text that the first identifier is sure of, and how large the share of
documents is that stay without an answer at the default threshold. Nothing is tuned to these sentences.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from bench.places import SHARED_DATA
from crawler.config import LanguageConfig
from crawler.document import Document
from crawler.stages.language.codes import normal_code
from crawler.stages.language.stage import LanguageStage

FLOORS = {"sentences": 0.96, "documents": 0.995}
"""Shares that must be right; `make eval` fails below them."""
SENTENCES_A_DOCUMENT = 10
FAST = 1_000.0
"""Documents a second on one core, confident text."""


def sentences(path: Path) -> dict[str, list[str]]:
    """Sentences by language code."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        code, _, sentence = line.partition("\t")
        found[normal_code(code)].append(sentence)
    return found


def identify(stage: LanguageStage, texts: Iterable[tuple[str, str]]) -> tuple[float, Counter[tuple[str, str]], int]:
    """Share that is right, the confusions (true, answered), and how many ended without the stage's consent."""
    right, total, refused, wrong = 0, 0, 0, Counter[tuple[str, str]]()
    for code, text in texts:
        doc = Document(url="http://example.org/", text=text)
        refused += not isinstance(stage(doc), Document)
        total += 1
        if doc.language == code:
            right += 1
        else:
            wrong[code, doc.language or "none"] += 1
    return right / max(total, 1), wrong, refused


def speed(stage: LanguageStage, texts: list[str]) -> float:
    """Documents a second of CPU time."""
    for text in texts[:5]:
        stage(Document(url="http://example.org/", text=text))
    started = time.process_time()
    for text in texts:
        stage(Document(url="http://example.org/", text=text))
    return len(texts) / (time.process_time() - started)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED_DATA / "languages")
    parser.add_argument("--verbose", action="store_true", help="print every confusion")
    options = parser.parse_args()
    path = options.data / "sentences.tsv"
    if not path.is_file():
        print(f"not measured: no evaluation data in {options.data} (give --data)")
        return 0
    stage = LanguageStage(LanguageConfig())
    assert stage._second is not None, "the default has two identifiers"
    found = sentences(path)
    both = {code for code in found if code in stage._first.known and code in stage._second.known}
    single = [(code, s) for code in sorted(both) for s in found[code]]
    n = SENTENCES_A_DOCUMENT
    long = [(c, " ".join(found[c][i : i + n])) for c in sorted(both) for i in range(0, len(found[c]) - n + 1, n)]
    failed = False
    for name, texts in (("sentences", single), ("documents", long)):
        share, wrong, refused = identify(stage, texts)
        failed |= share < FLOORS[name]
        print(f"{name:10} {len(texts):6} in {len(both)} languages: {share:.2%} right (floor {FLOORS[name]:.1%}), "
              f"{refused} below the threshold")  # fmt: skip
        for (true, answer), count in wrong.most_common(None if options.verbose else 6):
            print(f"    {true} taken for {answer}: {count}")
    confident = [text * 2 for code, text in long if code in {"en", "de", "fr", "it", "nl", "pl", "fi", "el", "tr"}]
    print(f"speed      {speed(stage, confident):.0f} documents a second of CPU, confident text (aim {FAST:.0f})")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
