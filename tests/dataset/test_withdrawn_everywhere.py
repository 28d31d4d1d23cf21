"""A withdrawn page stays away from every declared operation: nothing of it is printed, sent or written again.

Each operation runs on a corpus in which one page, with a word of its own in text, title and address, is there, was
withdrawn, or is on its way out: the log says so, and whoever should have rewritten the files was killed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset import exclude
from crawler.dataset.annotate import Annotations
from crawler.dataset.annotations.job import job_of
from crawler.document import Document, Drop, DropReason
from crawler.operations.answer import Answer
from crawler.operations.built_in import OPERATIONS as DATASET
from crawler.operations.classify import OPERATIONS as CLASSIFY
from crawler.operations.declared import Work, WrongCall
from crawler.operations.exclude import WORK as EXCLUDE
from crawler.operations.llm import OPERATIONS as LLM
from crawler.problems import InputError
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import holding_of
from tests.support.letters import Letters
from tests.support.models import ModelServer, Say
from tests.support.operations import answer_of
from tests.support.syllables import prose
from tests.support.three_domains import everything

MARK = "zanzibarquill"
PAGE, HELD = f"https://birch.example/{MARK}", f"https://cedar.example/{MARK}/held"
EDITED = "https://alder.example/edited"
SHARED = prose(30, 7)
TEXT = f"{prose(80, 1)} {MARK} {SHARED} {MARK} {prose(80, 2)} {MARK}"
LIVING = 14
OPERATIONS = {
    f"{kind} {name}": operation
    for kind, some in (("dataset", DATASET), ("classify", CLASSIFY), ("llm", LLM))
    for name, operation in some.items()
}
ASKED = "--model SERVER --prices prices.yaml --budget 9000EUR --concurrency 1"
SHOW: dict[str, tuple[str, ...]] = {
    "classify explain": (f"train.npz {PAGE} --corpus corpus",),
    "classify perplexity": ("words.arpa corpus --language en --out out.jsonl",),
    "classify train": ("words --keep corpus --drop drop.jsonl --perplexity --out out",),
    "dataset chunks": ("--out out corpus",),
    "dataset contaminated": ("--eval evals.jsonl corpus", "--eval evals.jsonl --remove corpus"),
    "dataset dedup": ("--list out.jsonl --out out other corpus",),
    "dataset diff": ("corpus empty", "corpus other"),
    "dataset export": ("--to jsonl.gz --out out corpus",),
    "dataset held": ("list corpus",),
    "dataset lineage": ("corpus DOC_ID",),
    "dataset merge": ("--out out corpus other",),
    "dataset mix": ("--out out spec.json",),
    "dataset page": ("corpus DOC_ID",),
    "dataset query": ("corpus SELECT", "corpus SELECT_WORDS"),
    "dataset select": ("--out out corpus",),
    "dataset semantic": ("corpus", "--annotate edited --remove corpus"),
    "dataset substrings": ("--min-tokens 20 corpus", "--min-tokens 20 --remove corpus"),
    "dataset trial": ("--held-out texts --seeds 2 --transformer tiny --pack out corpus other",),
    "llm clean": (f"corpus {ASKED}",),
    "llm extract": (f"corpus --schema schema.json {ASKED}",),
    "llm judge": (f"corpus {ASKED}",),
    "llm questions": (f"corpus --out out {ASKED}",),
    "llm synthesize": (f"corpus --out out {ASKED}",),
}
"""Calls that print, send or write something of a page that is there; one that is withdrawn by then is not in it."""
SILENT: dict[str, tuple[str, ...]] = {
    "classify eval": ("train.npz --labels corpus",),
    "dataset annotate": ("corpus --name topics --file rows.jsonl",),
    "dataset annotations": ("corpus",),
    "dataset best": ("--exchange corpus",),
    "dataset exclude": ("--domain birch.example --reason x corpus", "--again corpus"),
    "dataset expire": ("--older-than 1 corpus",),
    "dataset images": ("corpus --dry-run",),
    "dataset index": ("corpus",),
    "dataset log": ("corpus",),
    "dataset rejudge": ("corpus",),
    "dataset repair": ("corpus",),
    "dataset show": ("corpus",),
    "dataset supersede": ("corpus",),
    "dataset tag": ("corpus release-1",),
    "dataset transcribe": ("corpus --name scans --command PROGRAM",),
    "dataset verify": ("corpus", "--fix corpus"),
}
"""Calls that tell of no single page."""
NO_CORPUS = {
    "llm caption", "classify card", "classify import", "dataset captures", "dataset duplicates", "dataset mediawiki",
}  # fmt: skip
STATES = ("there", "cut off", "withdrawn")


def test_no_operation_is_forgotten_here() -> None:
    assert SHOW.keys() | SILENT.keys() | NO_CORPUS == OPERATIONS.keys()
    assert not SHOW.keys() & SILENT.keys()


CALLS = [(name, words) for table in (SHOW, SILENT) for name, calls in table.items() for words in calls]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every call may need: corpora in each of the states, and small files."""
    folder = tmp_path_factory.mktemp("shelf")
    _corpus(folder / "there")
    _other(folder / "other")
    letters = Letters(folder / "empty")
    letters.add("https://elm.example/", prose(90, 99), language="en")
    letters.close()
    for state in STATES[1:]:
        shutil.copytree(folder / "there", folder / state)
    withdraw(folder / "withdrawn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exclude, "rewrite", killed)
        with pytest.raises(KeyboardInterrupt):
            withdraw(folder / "cut off")
    _files(folder)
    return folder


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def withdraw(corpus: Path, *words: str) -> dict[str, Any]:
    chosen = words or ("--url", PAGE, "--url", HELD, "--reason", "asked")
    return dict(answer_of(EXCLUDE, *chosen, "--yes", corpus).facts)


def _corpus(folder: Path) -> None:
    letters = Letters(folder)
    more: dict[str, Any] = {
        "language": "en",
        "license_tier": "A",
        "license_tag": "CC0-1.0",
        "extraction_confidence": 0.1,
        "token_estimate": 150,
    }
    letters.add(PAGE, TEXT, title=f"Of {MARK}", **more)
    for number in range(LIVING):
        letters.add(
            f"https://s{number}.example/page", f"{prose(60, 10 + number)} {SHARED} {prose(60, 40 + number)}", **more
        )
    edited = [word for word in TEXT.split() if word != MARK]
    gone = set(random.Random(3).sample(range(len(edited)), len(edited) // 3))
    letters.add(EDITED, " ".join(word for at, word in enumerate(edited) if at not in gone), quality_score=0.1, **more)
    held = Document(HELD, HELD, domain="cedar.example", text=prose(90, 5) + MARK, title=MARK, language="de")
    held.crawled_at = "2026-01-01T00:00:00Z"
    letters._corpus.hold(holding_of(held, Drop("pii", DropReason.HELD_PII, "no model")), "pii")
    letters.close()
    place = Place(str(folder))
    about = job_of({"said": "string"}, {"said": "x"}, None, {"kind": "label", "code": "test"}, now=1.8e9)
    row = {"canonical_url": PAGE, "doc_id": _doc_id(folder), "said": MARK}
    Annotations(place).write("words", about, [row], now=1.8e9)
    label = {"url": PAGE, "doc_id": _doc_id(folder), "judge": "Jo", "answer": "keep", "stratum": "kept"}
    (folder / "labels.jsonl").write_bytes(orjson.dumps(label | {"config_digest": "", "at": "2026-01-02"}) + b"\n")


def _other(folder: Path) -> None:
    """Another crawl of the page, before somebody asked: it says something else there."""
    letters = Letters(folder, "w2", CRAWL_ID="others")
    letters.add(PAGE, f"{MARK} {prose(90, 77)}", title=MARK, language="en", token_estimate=150)
    for number in range(8):
        letters.add(f"https://t{number}.example/", prose(90, 200 + number), language="en", token_estimate=150)
    letters.close()


def _doc_id(corpus: Path) -> str:
    from crawler.dataset.rewrite import records_in

    return next(str(record["doc_id"]) for record in records_in(Place(str(corpus))) if record["url"] == PAGE)


def _files(folder: Path) -> None:
    def lines(name: str, rows: list[dict[str, Any]]) -> None:
        (folder / name).write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))

    texts = [{"url": f"https://u{n}.example/", "text": prose(80, 300 + n), "language": "en"} for n in range(24)]
    lines("drop.jsonl", texts[:12])
    lines("keep.jsonl", texts[12:])
    lines("evals.jsonl", [{"question": " ".join(TEXT.split()[90:130])}, {"question": prose(60, 11)}])
    lines("rows.jsonl", [{"canonical_url": "https://s1.example/page", "doc_id": "x", "topic": "birds"}])
    sources = {name: {"corpus": name, "epochs": 2} for name in ("corpus", "other")}
    (folder / "spec.json").write_bytes(orjson.dumps({"tokens": 3_700, "tolerance": 1, "sources": sources}))
    (folder / "schema.json").write_text('{"type": "object", "properties": {"name": {"type": "string"}}}')
    (folder / "prices.yaml").write_text(
        "date: 2026-01-01\ncurrency: EUR\nmodels:\n  openai:small: {input: 1, output: 1}\n"
    )
    (folder / "texts").mkdir()
    (folder / "texts" / "one.txt").write_text(prose(400, 500))
    train = CLASSIFY["train"].loaded()
    given = ("--keep", folder / "keep.jsonl", "--drop", folder / "drop.jsonl", "--out", folder)
    answer_of(train, "train", *given)
    answer_of(train, "words", *given, "--perplexity")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    made = ModelServer(lambda _: Say("{}")).start()
    yield made
    made.stop()


def _run(work: Work, words: list[str]) -> str:
    """Facts and problems; lines are printed, while what they are read from is open."""
    parser = argparse.ArgumentParser()
    work.declare(parser)
    said: list[str] = []

    def tell(answer: Answer) -> None:
        said.append(json.dumps(answer.facts, default=str) + "\n".join(answer.problems))
        answer.show()

    opts = parser.parse_args(words, argparse.Namespace(json=False, tell=tell))
    done = work.run(opts, lambda **more: from_mapping({"CORPUS_DIR": "indexed", "STAGE_WORKERS": "0", **more}))
    if done is not None:
        tell(done)
    return said[0]


@pytest.fixture
def call(
    shelf: Path,
    server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """Runs an operation in a folder of its own; all that came out of it: lines, facts, files, requests."""
    monkeypatch.chdir(tmp_path)
    for path in shelf.iterdir():
        if path.name not in STATES:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    selects = {
        "SELECT": "SELECT url, title FROM records UNION ALL SELECT url, title FROM documents",
        "SELECT_WORDS": "SELECT said FROM words",
        "DOC_ID": _doc_id(shelf / "there"),
        "SERVER": server.model(),
        "PROGRAM": "cat {file}",
    }

    def run(state: str, name: str, words: str) -> str:
        if not (tmp_path / "corpus").exists():
            shutil.copytree(shelf / state, tmp_path / "corpus")
        server.asks.clear()
        capsys.readouterr()
        try:
            facts = _run(OPERATIONS[name].loaded(), [selects.get(word, word) for word in words.split()])
        except (StorageError, InputError, WrongCall) as error:
            facts = str(error)
        out, err = capsys.readouterr()
        made = [everything(path) for path in tmp_path.glob("out") if path.is_dir()]
        made += [path.read_bytes() for path in tmp_path.glob("out*") if path.is_file()]
        made += [orjson.dumps(ask.body) for ask in server.asks]
        return "\n".join((facts, out, err, *(each.decode("utf-8", "replace") for each in made)))

    return run


def apart(said: str) -> str:
    """Without what may name the page: the log of withdrawals, and the address that the caller has typed."""
    lines = (line for line in said.splitlines() if not line.startswith('{"kind":"'))
    return "\n".join(lines).replace(f"{PAGE}: no record of this page", "")


def left_in(corpus: Path) -> str:
    """All that is on the disk, unpacked, but for the log."""
    copy = corpus.with_name("copy")
    shutil.copytree(corpus, copy)
    (copy / "withdrawals.jsonl").unlink(missing_ok=True)
    return everything(copy).decode("utf-8", "replace")


@pytest.mark.parametrize(("name", "words"), [(n, words) for n, calls in SHOW.items() for words in calls], ids=str)
def test_what_shows_a_page_that_is_there_shows_it(call: Callable[..., str], name: str, words: str) -> None:
    said = call("there", name, words)
    assert ('"score"' if name == "classify explain" else MARK) in said, said


@pytest.mark.parametrize("state", STATES[1:])
@pytest.mark.parametrize(("name", "words"), CALLS, ids=str)
def test_nothing_of_a_page_that_was_withdrawn_comes_back(
    call: Callable[..., str], state: str, name: str, words: str, tmp_path: Path
) -> None:
    said = apart(call(state, name, words))
    assert MARK not in said, said[max(0, said.find(MARK) - 500) :][:1000]
    withdraw(tmp_path / "corpus")
    said = left_in(tmp_path / "corpus")
    assert MARK not in said, said[max(0, said.find(MARK) - 500) :][:1000]


KEPT = ("chunks", "dedup", "export", "merge", "mix", "select")


@pytest.mark.parametrize("name", KEPT)
def test_a_folder_that_was_made_before_is_named_and_loses_the_page_or_is_made_again(
    call: Callable[..., str], name: str, tmp_path: Path
) -> None:
    (words,) = SHOW[f"dataset {name}"]
    assert MARK in call("there", f"dataset {name}", words)
    held = withdraw(tmp_path / "corpus")["still_held"]
    assert {Path(each["folder"]).name for each in held} == {"out"}
    if not held[0]["files"][0]["path"].startswith("shards/"):
        shutil.rmtree(tmp_path / "out")
        call("there", f"dataset {name}", words)
    else:
        answer_of(EXCLUDE, "--again", "--yes", tmp_path / "out")
    assert MARK not in left_in(tmp_path / "out")
