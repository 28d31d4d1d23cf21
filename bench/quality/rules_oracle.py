"""The oracle of `eval_rules.py`: datatrove's own filters. Runs in an environment that has datatrove, not in ours.

Run: `DATATROVE_PYTHON bench/quality/rules_oracle.py DOCUMENTS CONDITIONS OUT [PART OF]`. Imports nothing of the
project.

CONDITIONS is a JSON object: `stop_words` {language: [words]}, `no_word_length` and `no_short_lines` [languages]: the
rules that make no sense for a language are off here as they are with us. OUT: one JSON object a line: id, `verdicts`
{filter: reason, "" = kept; filters that end in an error are left out}, or `unavailable` where the oracle's tokenizer
for the language is not installed.
"""

from __future__ import annotations

import contextlib
import csv
import json
import logging
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4ParagraphFilter,
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)
from datatrove.utils._import_utils import ASSETS_PATH
from datatrove.utils.word_tokenizers import load_word_tokenizer

Filters = dict[str, Any]


def names() -> dict[str, str]:
    """ISO 639-1 code -> the oracle's name (ISO 639-3 and script) of its default.

    datatrove 0.10.1 reads the words FALSE of this table as true, so that its bare two-letter codes name the last script
    of a language (Hindi in Latin letters, Chinese without a segmenter). The long names say what its authors meant.
    """
    found = {"no": "nob_Latn", "tl": "fil_Latn", "pcm": "pcm_Latn"}
    with (Path(ASSETS_PATH) / "tokenizer_assignment.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["code_1"] and row["default_code_1"] == row["default_script"] == "TRUE":
                found[row["code_1"]] = f"{row['code_3']}_{row['script']}"
    return found


def filters_for(code: str, language: str, conditions: dict[str, Any]) -> Filters:
    """Every filter with its own defaults, in the document's language: our `code`, the oracle's name for it."""
    stop_words = conditions["stop_words"].get(code)
    quality: dict[str, Any] = {"language": language, "stop_words": stop_words}
    if stop_words is None:
        quality["min_stop_words"] = None
    if code in conditions["no_word_length"]:
        quality |= {"min_avg_word_length": None, "max_avg_word_length": None}
    short = {"short_line_thr": 2.0} if code in conditions["no_short_lines"] else {}
    return {
        "gopher_repetition": GopherRepetitionFilter(language=language),
        "gopher_quality": GopherQualityFilter(**quality),
        "fineweb": FineWebQualityFilter(language=language, **short),
        "c4": C4QualityFilter(language=language, filter_no_terminal_punct=False),
        "c4_terminal": C4QualityFilter(language=language),
        "c4_paragraphs": C4ParagraphFilter(),
    }


def judge(filters: Filters, text: str) -> tuple[dict[str, str], dict[str, str]]:
    """First reason of every filter ("" = kept), and the texts that filters left behind."""
    verdicts, texts = {}, {}
    for name, each in filters.items():
        doc = Document(text=text, id="")
        try:
            result = each.filter(doc)
        except Exception:  # a division by no words; a sentence splitter that loses its place
            continue
        verdicts[name] = result[1] if isinstance(result, tuple) else "" if result else "dropped"
        if not verdicts[name] and doc.text != text:
            texts[name] = doc.text
    return verdicts, texts


def main() -> None:
    documents, conditions_path, out_path = sys.argv[1:4]
    part, of = map(int, sys.argv[4:6]) if len(sys.argv) > 4 else (0, 1)
    with Path(conditions_path).open(encoding="utf-8") as file:
        conditions = json.load(file)
    known: dict[str, Filters | None] = {}
    named = names()
    with Path(documents).open(encoding="utf-8") as lines, Path(out_path).open("w", encoding="utf-8") as out:
        for number, line in enumerate(lines):
            if number % of != part:
                continue
            record = json.loads(line)
            language = record["language"]
            if language not in known:
                known[language] = None
                with contextlib.suppress(Exception):  # a tokenizer may miss its package or its model
                    load_word_tokenizer(named[language]).word_tokenize("A word.")
                    known[language] = filters_for(language, named[language], conditions)
            answer: dict[str, Any] = {"id": record["id"]}
            filters = known[language]
            if filters is None:
                answer["unavailable"] = language
            else:
                answer["verdicts"], answer["texts"] = judge(filters, record["text"])
            out.write(json.dumps(answer) + "\n")
    print(f"datatrove {version('datatrove')}, spaCy {version('spacy')}", end="")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main()
