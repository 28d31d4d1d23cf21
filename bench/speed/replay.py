"""Replay next to datatrove, in one run, on the same archives, with the same number of processes.

`python -m bench.speed.replay [--pages 1600] [--processes 2] [--peer PYTHON]`: PYTHON is the interpreter of an
environment of its own (default: DATATROVE_PYTHON), made by `python -m venv FOLDER` and
`pip install 'datatrove[io,processing]' py3langid lxml_html_clean orjson spacy`.

1. Throughput, from the start of each command to its end: datatrove (trafilatura, language, Gopher, C4, FineWeb); ours
   with the same rules and thresholds, with our words and with datatrove's (spaCy); and ours as it comes.
   Ours reads opt-outs, redacts personal data and removes duplicates besides.
2. Verdicts: the texts that datatrove extracted, with what its filters said, go through our stages as WET records. So
   both judge the same text, and every difference is one between the rules.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.places import PROJECT
from bench.speed.measure import Cost, measured
from bench.speed.replay_input import PACKAGES, pages_of, write_archives
from demo.outputs import read_corpus

PEER = os.environ.get("DATATROVE_PYTHON", "")
LIMIT_SECONDS = 3600.0
PEER_NEEDS = "pip install 'datatrove[io,processing]' py3langid lxml_html_clean orjson spacy"
_STARTS = (
    "import py3langid, trafilatura; from datatrove.pipeline.readers import WarcReader; WarcReader('.');"
    "from datatrove.utils.word_tokenizers import load_word_tokenizer; load_word_tokenizer('en').word_tokenize('It is.')"
)
"""What each process of the peer does first: where it fails, datatrove's pool starts processes anew without an end."""
SAME = {
    "QUALITY_RULES": "gopher_repetition,gopher_quality,c4,fineweb",
    "QUALITY_PROFILE": "datatrove",
    "QUALITY_MIN_SCORE": "0",
    "LANGUAGES": "en",
    "LANGUAGE_MIN_SCORE": "0",
    "PII_PERSON": "off",
    "EXTRACTION_MIN_WORDS": "1",
}
RULES = {"gopher_repetition", "gopher_quality", "c4", "fineweb"}


@dataclass(frozen=True, slots=True)
class Result:
    """What one contestant did with the archives."""

    name: str
    cost: Cost
    pages: int
    kept: int

    def line(self) -> str:
        rate, cpu = self.pages / self.cost.seconds, 1000 * self.cost.cpu_seconds / self.pages
        return f"{self.name:<22}{rate:8.1f} documents/s {cpu:8.1f} ms CPU a document {self.kept:6} kept"


def run_peer(peer: str, archives: Path, out: Path, pages: int, processes: int) -> Result:
    command = [peer, str(PROJECT / "bench" / "speed" / "replay_datatrove.py"), str(archives), str(out), str(processes)]
    cost = measured(command, out.with_suffix(".log"), out.parent, LIMIT_SECONDS)
    _check("datatrove", cost, out)
    return Result("datatrove", cost, pages, sum(1 for _ in _documents(out / "kept")))


def run_ours(name: str, archives: Path, out: Path, pages: int, settings: dict[str, str]) -> Result:
    command = [sys.executable, "-m", "scrapy", "crawl", "replay", "-a", f"archive={archives}"]
    for key, value in {"CORPUS_DIR": str(out), "PROGRESS": "off", **settings}.items():
        command += ["-s", f"{key}={value}"]
    cost = measured(command, out.with_suffix(".log"), PROJECT, LIMIT_SECONDS)
    _check(name, cost, out)
    return Result(name, cost, pages, len(read_corpus(out).kept))


def _check(name: str, cost: Cost, out: Path) -> None:
    if cost.code:
        raise SystemExit(f"{name} failed:\n{out.with_suffix('.log').read_text()[-3000:]}")


def compare(theirs: Path, out: Path, processes: int) -> tuple[int, Counter[str]]:
    """Texts that both judged, and how often which pair of verdicts differs."""
    expected = {}
    wet = out.with_suffix(".wet")
    with wet.open("wb") as file:
        for number, (verdict, doc) in enumerate(_verdicts(theirs)):
            url = f"http://text.test/{number}"
            expected[url] = verdict
            file.write(_conversion(url, number, doc["text"].encode()))
    run_ours("verdicts", wet, out, len(expected), {**SAME, "STAGE_WORKERS": str(processes)})
    corpus = read_corpus(out)
    ours = {record["url"]: "kept" for record in corpus.kept}
    for record in corpus.rejected:  # a duplicate has passed every rule
        ours[record["url"]] = "kept" if record["stage"] in {"exact", "near"} else _rule_of(record)
    differ = Counter(
        f"datatrove {verdict}, ours {ours.get(url)}" for url, verdict in expected.items() if ours.get(url) != verdict
    )
    return len(expected), differ


def _rule_of(record: dict[str, str]) -> str:
    return f"{record['reason']}" if record["stage"] == "quality" else f"{record['stage']}/{record['reason']}"


def _verdicts(out: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Verdict ("kept" or the reason in our words) and document; those that fell to the language filter are left out."""
    yield from (("kept", doc) for doc in _documents(out / "kept"))
    for rule in sorted(RULES):
        for doc in _documents(out / "removed" / rule):
            yield _our_word(rule, doc["metadata"]["filter_reason"]), doc


def _our_word(rule: str, reason: str) -> str:
    """Our reason for datatrove's: it leaves the rule's name out, and adds the n of an n-gram."""
    reason = reason.replace("-", "_").lower()
    if rule == "gopher_repetition":
        return "top_n_gram" if reason.startswith("top_") else "dup_n_gram" if reason.endswith("_n_grams") else reason
    known = {"line_punct_ratio", "short_line_ratio", "char_dup_ratio", "list_ratio", "empty"}
    if rule == "fineweb":
        return f"fineweb_{reason}" if reason in known else reason
    return f"c4_{reason}" if rule == "c4" else reason


def _documents(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt") as file:
            yield from map(json.loads, file)


def _conversion(url: str, number: int, text: bytes) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{number:032x}>\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text + b"\r\n\r\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1600)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--peer", default=PEER)
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES))
    options = parser.parse_args()
    if shutil.which(options.peer) is None:
        raise SystemExit(f"{options.peer or '--peer'}: no interpreter there; make an environment: {PEER_NEEDS}")
    if subprocess.run([options.peer, "-c", _STARTS], cwd=tempfile.gettempdir(), check=False).returncode:
        raise SystemExit(f"{options.peer}: something is missing there, see above; {PEER_NEEDS}")
    with tempfile.TemporaryDirectory(prefix="replay-") as name:
        folder = Path(name)
        pages = pages_of(tuple(options.packages), options.pages)
        archives = write_archives(pages, folder / "input", options.processes)
        workers = {"STAGE_WORKERS": str(options.processes)}
        peer = run_peer(options.peer, archives, folder / "datatrove", len(pages), options.processes)
        same = run_ours("ours, same rules", archives, folder / "same", len(pages), SAME | workers)
        ours = run_ours("ours, as it comes", archives, folder / "default", len(pages), workers)
        texts, differ = compare(folder / "datatrove", folder / "verdicts", options.processes)
    print(f"{len(pages)} pages of {', '.join(options.packages)}; {options.processes} processes")
    for result in (peer, same, ours):
        print(f"{result.line()}   {peer.cost.seconds / result.cost.seconds:.2f} times datatrove")
    print(f"the same {texts} texts: {texts - sum(differ.values())} equal verdicts")
    for pair, count in differ.most_common():
        print(f"  {count:4}  {pair}")


if __name__ == "__main__":
    main()
