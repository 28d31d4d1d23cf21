"""Do our quality rules say what their named oracle says? Verdict and first reason beside datatrove's.

Run: `python -m bench.quality.eval_rules [--documents FILE] [--python DATATROVE_PYTHON] [--write]`. FILE comes from
`python -m bench.quality.rules_documents`. datatrove is no dependency: it runs in an environment of its own (`pip
install "datatrove==0.10.1" spacy regex orjson numpy jieba sudachipy sudachidict_core pythainlp pyvi indic-nlp-library
"kiwipiepy<0.21"`) through `bench/quality/rules_oracle.py`; its answers are kept beside FILE. Without FILE the committed
golden texts are compared. `--write` puts the tables into `docs/rules.md`. Ours is asked twice: with the oracle's
tokenizers (exact) and with the fast ones.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from bench.places import PROJECT
from bench.quality.rules_compare import MODES, Judged, compare, conditions
from bench.quality.rules_report import agreement, by_language, by_rules, deviations

FLOORS = {"exact": 0.995, "fast": 0.98}
"""Shares of verdicts with the oracle's first reason; `make eval` fails below them."""
GOLDEN = PROJECT / "tests" / "stages" / "quality" / "golden" / "datatrove-0.10.1.json"
PAGE = PROJECT / "docs" / "rules.md"
START, END = "<!-- bench/quality/eval_rules.py writes from here -->", "<!-- to here -->"

Records = list[dict[str, Any]]


def golden() -> tuple[Records, dict[str, dict[str, Any]]]:
    """The committed texts of our own, with the oracle's recorded answers."""
    cases = json.loads(GOLDEN.read_text("utf-8"))
    documents = [{"id": c["name"], "language": c.get("language", "en"), "text": c["text"]} for c in cases]
    answers = {
        c["name"]: {"verdicts": {k: v for k, v in c["datatrove"].items() if not k.endswith("_text")}} for c in cases
    }
    return documents, answers


def ask_oracle(documents: Path, python: Path, processes: int) -> tuple[dict[str, dict[str, Any]], str]:
    """The oracle's answers by id, and its versions. Answers that are newer than the documents are read again."""
    told = documents.with_suffix(".conditions.json")
    told.write_text(json.dumps(conditions()), "utf-8")
    parts = [documents.with_suffix(f".oracle-{part}.jsonl") for part in range(processes)]
    script = PROJECT / "bench" / "quality" / "rules_oracle.py"
    running = [
        subprocess.Popen(
            [python, "-W", "ignore", script, documents, told, out, str(part), str(processes)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        for part, out in enumerate(parts)
    ]  # fmt: skip
    said = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise SystemExit(f"the oracle failed: run {python} {script} to see why")
    lines = itertools.chain.from_iterable(part.read_text("utf-8").splitlines() for part in parts)
    return {answer["id"]: answer for answer in map(json.loads, lines)}, said[0]


def block(job: tuple[Records, dict[str, dict[str, Any]]]) -> list[Judged]:
    return list(compare(*job))


def judged_in_parallel(documents: Records, answers: dict[str, dict[str, Any]], processes: int) -> list[Judged]:
    jobs = [(part := documents[at : at + 100], {d["id"]: answers[d["id"]] for d in part})
            for at in range(0, len(documents), 100)]  # fmt: skip
    with ProcessPoolExecutor(processes) as pool:
        return list(itertools.chain.from_iterable(pool.map(block, jobs)))


def report(judged: list[Judged], versions: str, left_out: dict[str, int]) -> str:
    documents, languages = len({j.name for j in judged}), len({j.language for j in judged})
    exact = sorted({j.language for j in judged if not j.exact})
    return "\n\n".join(
        [
            f"{documents:,} documents in {languages} languages against {versions}. Exact mode has no tokenizer of the "
            f"oracle for {', '.join(exact) or 'none of them'}: those count under *fast* only. The oracle itself had "
            f"none for {', '.join(f'{code} ({n})' for code, n in sorted(left_out.items())) or 'none'}.",
            "### By rule set",
            by_rules(judged),
            "### By language (exact / fast)",
            by_language(judged),
            "### Kinds of deviation, exact mode",
            deviations(judged, "exact"),
            "### Kinds of deviation, fast tokenizer",
            deviations(judged, "fast"),
        ]
    )


def write(text: str) -> None:
    """Put the report between the marks of the page."""
    page = PAGE.read_text("utf-8")
    before, rest = page.split(START, 1)
    PAGE.write_text(f"{before}{START}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}", "utf-8")


def verdict(judged: list[Judged]) -> int:
    """Print the shares; 1 where one is below its floor."""
    failed = 0
    for mode in MODES:
        counted = [j for j in judged if j.exact or mode == "fast"]
        share = agreement(counted, mode)
        failed |= share < FLOORS[mode]
        print(
            f"{mode:6} {len(counted):6} verdicts: {share:.2%} with the oracle's first reason (floor {FLOORS[mode]:.1%})"
        )
        for name in sorted({j.rules for j in counted}):
            group = [j for j in counted if j.rules == name]
            print(f"    {name:20} {agreement(group, mode):.2%}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, help="JSON lines of bench.quality.rules_documents")
    parser.add_argument("--python", type=Path, help="interpreter of the environment that has datatrove")
    parser.add_argument("--oracle", type=Path, nargs="*", help="answers of an earlier run, instead of --python")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/rules.md")
    options = parser.parse_args()
    versions = "datatrove 0.10.1"
    if options.documents is None:
        print("no --documents: the committed golden texts only")
        documents, answers = golden()
    else:
        documents = [json.loads(line) for line in options.documents.read_text("utf-8").splitlines()]
        if options.oracle:
            lines = itertools.chain.from_iterable(path.read_text("utf-8").splitlines() for path in options.oracle)
            answers = {answer["id"]: answer for answer in map(json.loads, lines)}
        else:
            answers, versions = ask_oracle(options.documents, options.python, options.processes)
    documents = [d for d in documents if d["id"] in answers]
    judged = judged_in_parallel(documents, answers, options.processes)
    left_out: dict[str, int] = {}
    for record in documents:
        if "verdicts" not in answers[record["id"]]:
            left_out[record["language"]] = left_out.get(record["language"], 0) + 1
    if options.write:
        write(report(judged, versions, left_out))
    elif options.documents:
        print(report(judged, versions, left_out))
    return verdict(judged)


if __name__ == "__main__":
    sys.exit(main())
