"""Write `docs/languages.md` from what the stages know of each language: `python scripts/languages_table.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from crawler.stages.language.identifiers import Langdetect, Py3Langid  # noqa: E402  # run from its folder, not installed
from crawler.stages.language.scripts import WRITTEN  # noqa: E402
from crawler.stages.pii.context_words import COVERED  # noqa: E402
from crawler.stages.quality.punctuation import UNMARKED  # noqa: E402
from crawler.stages.quality.rules.by_language import languages  # noqa: E402
from crawler.stages.quality.rules.gopher_quality import STOP_WORDS  # noqa: E402
from crawler.stages.quality.tokenizers import SPACY  # noqa: E402
from crawler.stages.text.words import UNSPACED  # noqa: E402

TARGET = ROOT / "docs" / "languages.md"
LANGUAGES = (
    "af am ar az be bg bn bo bs ca cs cy da de el en eo es et eu fa fi fr ga gu he hi hr hu hy id is it "
    "ja ka kk km ko la lg lo lt lv mi mk mn mr ms my nb nl nn pa pl pt ro ru sk sl sn so sq sr st sv sw "
    "ta te th tl tn tr ts uk ur vi xh yi yo zh zu "
)
HEAD = """# Languages

What works in which language. Written by `scripts/languages_table.py` from the data of the stages.

- **Named by**: the identifiers that know it. *both*: two that confirm each other; *one*: py3langid; *und*: neither, so
  that its pages are `und` with their script ([stages](stages.md#language)).
- **Words**: how the rules and `word_count` split a text. *spaCy*: the tokenizer of the language or of a relative;
  *white space*; *characters*: scripts without spaces, cut at a word's mean length (Chinese and Japanese two characters,
  Thai, Lao, Khmer, Burmese and Tibetan four), since no dictionary is at hand. No rule counts these by white space.
- **Stop words**: known for Gopher's rule and the score; elsewhere the rule is skipped, and the record says so.
- **Limits**: *own*: the looser of our limit and FineWeb-2's for the language
  (`crawler/stages/quality/language_limits.txt`), at most half as loose again as ours. Thai and Lao, which mark no end
  of a sentence, need none; the marks of other scripts (। ؟ ۔ ។ ། ။ ። ։ and the Greek ;) count, and speech in 「」.
- **Personal data**: *words*: numbers are told by the words around them, too; else by their form alone. Names of persons
  need a model of `PII_MODELS`; by default English has one.
- **Dates**: numeric ones and those in a page's data everywhere.

`python -m bench.quality.translations` measures what is kept of a text whose English is kept: of the declaration of
human rights in 23 languages 97 to 100 in 100 (2026-11-27; before: none in Thai, Tibetan and Amharic, 72 in Japanese, 3
in Malayalam).

Not told apart: Bosnian, Croatian and Serbian in Latin letters; Tswana is named Northern Sotho. A few words in a
language that nobody knows may still get a neighbour's name.

"""


def main() -> None:
    """Write the page."""
    TARGET.write_text(HEAD + "\n".join(table()) + "\n", "utf-8")


def table() -> Iterator[str]:
    """The rows, with their head."""
    both, first = Langdetect().known, Py3Langid().known
    yield "| language | named by | scripts | words | stop words | limits | personal data |"
    yield "|---|---|---|---|---|---|---|"
    for language in LANGUAGES.split():
        code = "no" if language == "nb" else language
        named = "both" if code in both & first else "one" if code in both | first else "und"
        scripts = ", ".join(script for script, some in WRITTEN.items() if code in some) or "–"
        words = "characters" if code in UNSPACED else "spaCy" if code in SPACY else "white space"
        limits = "own" if code in languages() else "ours"
        limits += ", no marks" if code in UNMARKED else ""
        yield (
            f"| {language} | {named} | {scripts} | {words} | {'yes' if code in STOP_WORDS else 'no'} | {limits} "
            f"| {'words' if code in COVERED else 'form'} |"
        )


if __name__ == "__main__":
    main()
