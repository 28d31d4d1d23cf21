"""With --json every command and operation answers one object of its declared schema, whatever becomes of the call."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.operations import built_in
from crawler.operations.answer import TYPES, Answer, Schema, encoded
from scripts.json_table import TARGET, render, schemas
from tests.commands.conftest import Done, fill, process_environment, scrapy_process
from tests.commands.test_every_command import ALONE, NEED_PROCESS, REFUSED
from tests.support import warm
from tests.support.corpus_folder import Folder
from tests.support.site import Site

SCHEMAS = {schema.name: schema for schema in schemas()}
NAMES = sorted(ALONE)
LIMIT = 60
NO_ERROR = {"optout"}  # its exit code 1 is an answer
EMPTY = {"shell"}  # what it prints on standard error is the refusal of the page


def is_of(value: Any, kind: str) -> bool:
    """True where the value is of a declared type."""
    if kind.endswith(" or null"):
        return value is None or is_of(value, kind.removesuffix(" or null"))
    if kind.startswith("list of "):
        return isinstance(value, list) and all(is_of(item, kind.removeprefix("list of ")) for item in value)
    return isinstance(value, TYPES[kind]) and (kind in ("boolean", "value") or not isinstance(value, bool))


def answered(done: Done, name: str) -> dict[str, Any]:
    """The object, which is all of standard output and what its schema declares."""
    found = json.loads(done.out)
    schema = SCHEMAS.get(name.replace(" ", "-"), Schema(name, {}))
    assert (found.pop("schema"), found.pop("version")) == (f"gristmill/{schema.name}", schema.version)
    facts = {key: value for key, value in found.items() if key != "error"}
    assert not facts or set(facts) == set(schema.fields)
    assert {key: value for key, value in facts.items() if not is_of(value, schema.fields[key][0])} == {}
    if "error" in found:
        assert found["error"]["problems"] and all(isinstance(text, str) for text in found["error"]["problems"])
    return found


def worked(done: Done, name: str) -> dict[str, Any]:
    """The facts of a call that has done what was asked."""
    assert done.code == 0, done.err
    found = answered(done, name)
    assert found and "error" not in found
    return found


@pytest.fixture
def call(scrapy, tmp_path):
    def run(name: str, *words: object) -> Done:
        words = (*name.split(), *words, "--json")
        if name.partition(" ")[0] in NEED_PROCESS - {"bench", "parse", "runspider"}:
            return scrapy_process(tmp_path, *words, timeout=LIMIT)
        return scrapy(*words)

    return run


def test_every_command_has_a_schema_and_every_type_in_it_is_one():
    assert set(SCHEMAS) == {name.replace(" ", "-") for name in set(NAMES) - REFUSED}
    kinds = {kind for schema in SCHEMAS.values() for kind, _ in schema.fields.values()}
    assert {kind.removesuffix(" or null").removeprefix("list of ") for kind in kinds} <= set(TYPES)
    assert all(schema.fields and schema.version >= 1 for schema in SCHEMAS.values())
    taken = {"schema", "version", "error"}
    assert not any(taken & set(schema.fields) for schema in SCHEMAS.values())


def test_the_page_lists_what_the_commands_declare():
    assert TARGET.read_text("utf-8") == render()


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_done_in_an_empty_folder_is_an_object_too(call, tmp_path, name):
    words, code = ALONE[name]
    done = call(name, *words)
    assert done.code == code, done.err
    found = answered(done, name)
    assert ("error" in found) == (bool(code) and name not in NO_ERROR)
    assert all(f"error: {problem}\n" in done.err for problem in found.get("error", {}).get("problems", ()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_call_is_an_object_too(call, name):
    done = call(name, *ALONE[name][0], "--nonsense")
    assert done.code == 2
    (problem,) = answered(done, name)["error"]["problems"]
    assert "--nonsense" in problem or name in REFUSED


@pytest.mark.parametrize(
    ("words", "name", "problem"),
    [
        (["dataset", "select", "corpus"], "dataset-select", "the following arguments are required: --out"),
        (["dataset", "best", "--drop-old", "corpus"], "dataset-best", "--drop-old goes with --exchange"),
        (["dataset", "select", "--out", "x", "--min-quality", "2", "corpus"], "dataset-select", "--min-quality"),
        (["report", "--samples", "x", "corpus"], "report", "--samples"),
        (["report"], "report", "expected a CORPUS_DIR, or several"),
        (["dataset", "page", "--raw", "corpus", "https://example.org/1"], "dataset-page", "leave out --json"),
    ],
)
def test_whoever_finds_the_mistake_tells_it_in_json(scrapy, words, name, problem):
    done = scrapy(*words, "--json")
    assert done.code == 2
    assert problem in answered(done, name)["error"]["problems"][0]
    assert done.err.startswith("usage: ") or "Usage" in done.err


WIKI = (
    "<mediawiki><siteinfo><base>https://wiki.example/wiki/Main</base></siteinfo>"
    "<page><title>Pear</title><ns>0</ns><revision><text>A pear.</text></revision></page></mediawiki>"
)


@pytest.mark.parametrize("name", built_in.OPERATIONS)
def test_what_an_operation_on_a_corpus_did_is_what_its_schema_declares(scrapy, corpus, tmp_path, name):
    fill(Folder(tmp_path / "stricter"), text="another text")
    evals = {"question": " ".join("abcdefghijklmnopqrstuvw"[n:] for n in range(20))}
    (tmp_path / "evals.jsonl").write_bytes(orjson.dumps(evals))
    (tmp_path / "old-corpus.jsonl").write_bytes(orjson.dumps({"text": "mine " * 50}))
    row = {"canonical_url": corpus.records()[0]["canonical_url"], "doc_id": "id-0", "topic": "birds"}
    (tmp_path / "topics.jsonl").write_bytes(orjson.dumps(row))
    (tmp_path / "pairs.jsonl").write_bytes(orjson.dumps({"a": "mine " * 50, "b": "yours " * 50, "duplicate": False}))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_text("A text that no corpus has. " * 9)
    for side in ("before", "after"):
        pages = [{"url": f"https://{n}.example/", "text": f"{side} {chr(97 + n)} " * 30} for n in range(8)]
        (tmp_path / f"{side}.jsonl").write_bytes(b"".join(orjson.dumps(page) + b"\n" for page in pages))
    (tmp_path / "spec.yaml").write_text("{tokens: 20, tolerance: 1, sources: {ours: {corpus: corpus}}}")
    archive = next((tmp_path / "corpus" / "archive").glob("*.warc.gz"))
    lines = archive.with_name(archive.name.removesuffix(".warc.gz") + ".cdxj").read_bytes().splitlines()
    (tmp_path / "index.cdxj").write_bytes(lines[0])
    (tmp_path / "wiki-20260101-pages-articles.xml").write_text(WIKI)
    words = shlex.split(built_in.OPERATIONS[name].loaded().example)
    worked(scrapy("dataset", *words, "--json"), f"dataset {name}")


def test_the_option_may_stand_before_the_operation_and_json_is_the_same_as_told(scrapy, corpus):
    before, behind = scrapy("dataset", "--json", "verify", "corpus"), scrapy("dataset", "verify", "corpus", "--json")
    assert before.out == behind.out
    found = worked(behind, "dataset verify")
    assert scrapy("dataset", "verify", "corpus").out.startswith(
        f"ok: {found['files']} files, {found['records']} records, each page exactly once"
    )


def test_of_a_query_the_rows_are_in_the_order_of_the_columns(scrapy, corpus):
    sql = "SELECT domain, count(*) AS n, DATE '2026-01-02' AS day, 0.5::DECIMAL(3,1) AS half FROM documents GROUP BY 1"
    found = worked(scrapy("dataset", "query", "corpus", sql, "--json"), "dataset query")
    assert found == {"columns": ["domain", "n", "day", "half"], "rows": [["example.org", 6, "2026-01-02", "0.5"]]}


def test_what_is_asked_before_a_deletion_is_no_part_of_the_object(scrapy, corpus):
    wish = ["dataset", "exclude", "--domain", "example.org", "--reason", "letter", "corpus", "--json"]
    refused = scrapy(*wish)
    assert answered(refused, "dataset exclude")["error"]["problems"] == ["nothing was changed; add --yes to do it"]
    assert "6 kept documents" in refused.err
    found = worked(scrapy(*wish, "--yes"), "dataset exclude")
    assert (found["kept"], found["raw"], found["refused"], found["corpus_version"]) == (6, 6, ["example.org"], 2)
    again = worked(scrapy(*wish, "--yes"), "dataset exclude")
    assert (again["kept"], again["raw"]) == (0, 0)


def test_archives_that_lapsed_are_listed_first_as_a_trial(scrapy, corpus):
    old = ["dataset", "expire", "--older-than", "0.001", "corpus", "--json"]
    trial, done, again = (worked(scrapy(*old, *more), "dataset expire") for more in (["--dry-run"], [], []))
    assert (trial["dry_run"], done["dry_run"]) == (True, False)
    assert trial["archives"] == done["archives"] != []
    assert again["archives"] == []


def test_a_gate_that_does_not_hold_ends_with_3_and_is_a_problem(scrapy, corpus, tmp_path):
    (tmp_path / "gates.yaml").write_text("whole: {kept: {min: 7}}\n")
    done = scrapy("report", "--check", "gates.yaml", "corpus", "--json")
    found = answered(done, "report")
    assert (done.code, found["gates"]) == (3, 1)
    assert found["error"]["problems"] == ["whole: kept is 6, below the minimum 7"]
    (tmp_path / "gates.yaml").write_text("whole: {kept: {min: 6}}\n")
    assert worked(scrapy("report", "--check", "gates.yaml", "corpus", "--json"), "report")["gates"] == 1


def test_the_report_is_the_content_of_stats_json_and_with_a_grouping_that_of_its_format(scrapy, corpus, tmp_path):
    whole = worked(scrapy("report", "--html", "corpus", "--json"), "report")
    assert whole["summary"] == json.loads((tmp_path / "corpus" / "stats.json").read_bytes())
    assert [Path(path).name for path in whole["written"]] == ["report.html", "stats.json"]
    grouped = worked(scrapy("report", "--by", "domain", "corpus", "--json"), "report")
    assert grouped["accounts"] == json.loads(scrapy("report", "--by", "domain", "--format", "json", "corpus").out)


def test_a_frontier_answers_about_what_was_seeded(scrapy):
    seeded = worked(scrapy(*shlex.split("seed -a url=https://example.org/ -s CORPUS_DIR=corpus --json")), "seed")
    assert seeded == {"added": 1, "known": 0, "refused": {}, "queued": 0}
    for name in (name for name in SCHEMA_EXAMPLES if name != "frontier export"):
        words = shlex.split(SCHEMA_EXAMPLES[name])
        found = worked(scrapy("frontier", *words, "--json", "-s", "CORPUS_DIR=corpus"), name)
        assert name != "frontier status" or found["counts"]["queued"] == 1
    refused = scrapy(*shlex.split("seed -a url=https://example.org/new -s CORPUS_DIR=corpus --json"))
    found = answered(refused, "seed")
    assert (refused.code, found["added"], sum(found["refused"].values())) == (1, 0, 1)
    assert "https://example.org/new" in found["error"]["problems"][0]


SCHEMA_EXAMPLES = {
    f"frontier {name}": operation.loaded().example
    for name, operation in import_module("crawler.operations.tend").OPERATIONS.items()
}


def test_keys_are_named_and_no_secret_is_told(scrapy, tmp_path):
    made = worked(scrapy("botkey", "new", "bot-key.pem", "--json"), "botkey new")
    agent = "BOT_SIGNATURE_AGENT=https://bot.example.org"
    listed = worked(
        scrapy("botkey", "directory", "bot-key.pem", "--to", "public", "-s", agent, "--json"), "botkey directory"
    )
    assert listed["keyids"] == [made["keyid"]]
    assert (tmp_path / "bot-key.pem").read_text().splitlines()[1] not in json.dumps([made, listed])


# --- pages and crawls ---------------------------------------------------------------------------------------------


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site(pages=3)
    made.start()
    yield made
    made.stop()


def allowed(site: Site) -> list[str]:
    settings = {"NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": site.port, "DOWNLOAD_DELAY": 0, "PII_PERSON": "off"}
    settings |= {"FRONTIER_IDLE_SECONDS": 0.5, "STAGE_WORKERS": 0}
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


def test_one_page_is_asked_for_and_answered_in_each_way(site, tmp_path):
    url, more = site.url(0), [*allowed(site), "--json"]
    found = worked(scrapy_process(tmp_path, "fetch", url, *more), "fetch")
    assert (found["url"], found["status"]) == (url, 200)
    assert found["text"].encode() == site.answer("/p/0")[1] and found["bytes"] == len(site.answer("/p/0")[1])
    assert ["User-Agent", "CorpusBot"] in [[name, value.partition("/")[0]] for name, value in found["sent"]]
    seen = worked(scrapy_process(tmp_path, "view", url, *more, BROWSER="true"), "view")
    assert seen == {"url": url, "status": 200}
    typed = worked(scrapy_process(tmp_path, "shell", url, "-c", "print('é'), response.status", *more), "shell")
    assert typed == {"printed": "é\n(None, 200)\n"}
    (said,) = worked(scrapy_process(tmp_path, "optout", url, *more), "optout")["explanations"]
    assert (said["url"], said["answer"]) == (url, "yes")


def test_a_crawl_a_replay_and_a_diagnosis_end_with_one_object(site, tmp_path):
    crawl = ["crawl", "corpus", "-a", f"url={site.url(0)}", "-s", "CORPUS_DIR=corpus", *allowed(site), "--json"]
    done = scrapy_process(tmp_path, *crawl)
    found = worked(done, "crawl")
    assert (found["corpus"], found["finish_reason"], found["kept"]) == ("corpus", "finished", 3)
    assert found["summary"]["kept"] == 3
    assert "kept" in done.err, "the summary for a person"
    replay = ["crawl", "replay", "-a", "archive=corpus/archive/*.warc.gz", "-s", "CORPUS_DIR=again"]
    again = worked(scrapy_process(tmp_path, *replay, *allowed(site), "--json"), "crawl")
    assert (again["corpus"], again["kept"]) == ("again", 3)
    diagnosis = worked(scrapy_process(tmp_path, "diagnose", "corpus", "--json"), "diagnose")
    assert (diagnosis["total"], diagnosis["kept"]) == (3, 3)


def test_the_workers_of_a_machine_end_with_one_object_together(site, tmp_path):
    words = ["work", "corpus", "--workers", "2", "-a", f"url={site.url(0)}", "-s", "CORPUS_DIR=corpus"]
    found = worked(scrapy_process(tmp_path, *words, *allowed(site), "--json"), "work")
    assert (found["kept"], found["summary"]["kept"]) == (3, 3)


def test_a_crawl_that_brings_nothing_tells_facts_and_the_problem(tmp_path):
    words = ["crawl", "corpus", "-a", "url=http://127.0.0.1:1/", "-s", "NETWORK_ALLOW=127.0.0.0/8"]
    settings = ["NETWORK_PORTS=1", "PII_PERSON=off", "FRONTIER_IDLE_SECONDS=0.1", "RETRY_TIMES=0"]
    more = [part for setting in settings for part in ("-s", setting)]
    done = scrapy_process(tmp_path, *words, *more, "--json")
    found = answered(done, "crawl")
    assert done.code == 1
    assert found["kept"] == 0 and found["error"]["problems"]


# --- until it is stopped ------------------------------------------------------------------------------------------


def begun(folder: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "scrapy", *words, "--json"]
    environment = process_environment(**more)
    return warm.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.parametrize(
    ("name", "words"), [("explore", ["--no-open", "corpus"]), ("frontier export", ["--port", "0"])]
)
def test_what_serves_tells_its_address_once_it_answers_and_nothing_at_its_end(scrapy, corpus, tmp_path, name, words):
    scrapy(*shlex.split("seed -a url=https://example.org/ -s CORPUS_DIR=corpus"))
    process = begun(tmp_path, *name.split(), *words, "-s", "CORPUS_DIR=corpus")
    try:
        assert process.stdout is not None
        text = process.stdout.readline()
        while not text.endswith("}\n"):
            text += process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
        process.wait(LIMIT)
    found = answered(Done(0, text, err), name)
    assert found["address"].startswith("http://127.0.0.1:")
    assert rest == ""


def test_a_signal_is_told_in_json_too(tmp_path):
    (tmp_path / "corpus" / "manifest.d").mkdir(parents=True)
    process = begun(tmp_path, "dataset", "verify", "corpus", SCRAPY_SETTINGS_MODULE="tests.commands.slow_settings")
    try:
        while not (tmp_path / "reading").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
        process.wait(LIMIT)
    assert process.returncode == 128 + signal.SIGTERM
    assert answered(Done(143, out, err), "dataset verify")["error"]["problems"] == ["interrupted by SIGTERM"]
    assert err == "error: interrupted by SIGTERM\n"


# --- what JSON has no form for --------------------------------------------------------------------------------------


def test_a_folder_whose_name_is_no_utf8_is_named_in_an_object_that_can_be_read(tmp_path):
    name = os.fsdecode(b"caf\xe9")
    done = scrapy_process(tmp_path, "dataset", "verify", name, "--json")
    (problem,) = answered(done, "dataset verify")["error"]["problems"]
    assert (done.code, "caf\\xe9" in problem) == (1, True)
    assert json.loads(encoded(Schema("x", {}), Answer(problems=[name])))["error"] == {"problems": [name]}


def test_numbers_that_are_none_and_long_ones_and_sets_can_be_read_by_any_parser():
    facts = {"none": float("nan"), "long": 2**80, "set": {"b", "a"}, "path": Path("x")}
    found = json.loads(encoded(Schema("x", {}), Answer(facts | {"long": 1})))
    assert found == {"schema": "gristmill/x", "version": 1, "none": None, "long": 1, "set": ["a", "b"], "path": "x"}
    assert json.loads(encoded(Schema("x", {}), Answer({"long": 2**80})))["long"] == 2**80
