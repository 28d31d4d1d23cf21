"""Every operation has its own options: its help shows them, its example works, and it refuses those of others."""

from __future__ import annotations

import argparse
import re
import shlex

import orjson
import pytest

from crawler import read_corpus
from crawler.commands import dataset, diagnose, explore, frontier, optout, quarantine, report, seed
from crawler.commands.options import refuse_another
from tests.commands.conftest import fill, scrapy_process
from tests.support.corpus_folder import Folder

WITH_OPERATIONS = (dataset, frontier)
OPERATIONS = [
    (module.__name__.rpartition(".")[2], name) for module in WITH_OPERATIONS for name in module.Command.operations
]
COMMANDS = (dataset, frontier, quarantine, optout, report, diagnose, explore, seed)


def options_of(help_text: str) -> set[str]:
    """The long options that a help describes (one a line, indented)."""
    return set(re.findall(r"^  (?:-\w, |-\w \S+, )?(--[a-z-]+)", help_text, re.MULTILINE)) - {"--help"}


def operation(command: str, name: str):
    (module,) = (module for module in WITH_OPERATIONS if module.__name__.endswith(command))
    return module.Command.operations[name]


def examples(*commands: str) -> list[tuple[str, ...]]:
    return [tuple(shlex.split(f"{c} {operation(c, n).loaded().example}")) for c, n in OPERATIONS if c in commands]


@pytest.mark.parametrize(("command", "name"), OPERATIONS)
def test_the_help_of_an_operation_is_its_own(scrapy, command, name):
    shown = scrapy(command, name, "--help")
    assert shown.code == 0
    assert shown.out.startswith(f"usage: scrapy {command} {name} ")
    assert f"Example: scrapy {command} {operation(command, name).loaded().example}" in " ".join(shown.out.split())
    whole = " ".join(shown.out.split()).lower()
    assert operation(command, name).summary.lower() in whole
    theirs = {"--logfile", "--loglevel", "--nolog", "--profile", "--pidfile", "--set", "--pdb"}
    assert not options_of(shown.out) & theirs


@pytest.mark.parametrize("command", ["dataset", "frontier"])
def test_an_option_of_another_operation_is_refused(scrapy, command):
    names = [name for of, name in OPERATIONS if of == command]
    own = {name: options_of(scrapy(command, name, "--help").out) for name in names}
    everything = set().union(*own.values())
    assert len(everything) > 3
    for name in names:
        words = shlex.split(f"{command} {operation(command, name).loaded().example}")
        for option in everything - own[name]:
            refused = scrapy(*words, option)
            assert (refused.code, refused.out) == (2, "")
            assert f"error: {option}: no option of {name}\n" in refused.err


@pytest.mark.parametrize("module", COMMANDS)
def test_the_help_of_a_command_says_what_it_is_for_and_gives_an_example(scrapy, module):
    name = module.__name__.rpartition(".")[2]
    shown = scrapy(name, "--help")
    whole = " ".join(shown.out.split())
    assert shown.code == 0
    assert module.Command().short_desc() in whole
    assert whole.endswith(f"Example: scrapy {module.Command.example}")


@pytest.mark.parametrize("module", COMMANDS)
def test_a_misspelt_option_is_a_wrong_call(scrapy, module):
    name = module.__name__.rpartition(".")[2]
    words = [name, "verify", "corpus"] if name == "dataset" else [name]
    refused = scrapy(*words, "--htlm")
    assert (refused.code, refused.out) == (2, "")
    assert "--htlm" in refused.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dataset", "verify", "--remove", "--domain", "x", "corpus"], "--remove, --domain: no option of verify"),
        (["dataset", "substrings", "--drop-old", "corpus"], "--drop-old goes with --remove"),
        (["dataset", "semantic", "--drop-old", "corpus"], "--drop-old goes with --remove"),
        (["dataset", "contaminated", "--eval", "e", "--drop-old", "corpus"], "--drop-old goes with --remove"),
        (["dataset", "expire", "--older-than", "1", "--dry-run", "--by", "me", "corpus"], "--dry-run writes none"),
        (["dataset", "verify", "corpus", "another"], "unexpected 'another'"),
        (["dataset", "verify"], "the following arguments are required: CORPUS_DIR"),
        (["dataset", "select", "corpus"], "the following arguments are required: --out"),
        (["dataset"], "the following arguments are required: OPERATION"),
        (["dataset", "verfy", "corpus"], "invalid choice: 'verfy' (choose from 'page', "),
        (["frontier", "status", "--out", "a", "-s", "CORPUS_DIR=b"], "--out and -s CORPUS_DIR=b give one setting two"),
        (["frontier", "status", "--out", "a", "-s", "CORPUS_DIR=A"], "--out and -s CORPUS_DIR=A give one setting two"),
        (["crawl", "--delay", "2", "-s", "DOWNLOAD_DELAY=1", "http://127.0.0.1/"], "--delay and -s DOWNLOAD_DELAY=1"),
        (["crawl", "--recrawl", "-s", "RECRAWL=0", "http://127.0.0.1/"], "--recrawl and -s RECRAWL=0 give"),
        (["crawl", "--limit", "2", "-s", "CLOSESPIDER_ITEMCOUNT=3", "http://127.0.0.1/"], "--limit and -s CLOSESP"),
        (["explore", "--crawl-id", "a", "-s", "CRAWL_ID=b", "corpus"], "--crawl-id and -s CRAWL_ID=b give one"),
    ],
)
def test_what_would_do_nothing_is_refused(scrapy, corpus, words, message):
    refused = scrapy(*words)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err


def test_settings_count_before_and_behind_the_operation(scrapy, corpus):
    before = scrapy("dataset", "-s", "ARCHIVE_TTL_DAYS=100000", "expire", "corpus")
    behind = scrapy("dataset", "expire", "-s", "ARCHIVE_TTL_DAYS=200000", "corpus")
    both = scrapy("dataset", "-s", "ARCHIVE_TTL_DAYS=1", "expire", "corpus", "-s", "ARCHIVE_TTL_DAYS=300000")
    assert [done.out for done in (before, behind, both)] == [
        f"no archive is older than {days} days\n" for days in (100_000, 200_000, 300_000)
    ]


@pytest.mark.parametrize("words", examples("dataset"), ids=" ".join)
def test_the_example_of_an_operation_works(scrapy, corpus, tmp_path, words):
    fill(Folder(tmp_path / "stricter"), text="another text")
    (tmp_path / "evals.jsonl").write_bytes(
        orjson.dumps({"question": " ".join("abcdefghijklmnopqrstuvw"[n:] for n in range(20))})
    )
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_text("A text that no corpus has. " * 9)
    for name in ("before", "after"):
        pages = [{"url": f"https://{n}.example/", "text": f"{name} {chr(97 + n)} " * 30} for n in range(8)]
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(orjson.dumps(page) + b"\n" for page in pages))
    (tmp_path / "old-corpus.jsonl").write_bytes(orjson.dumps({"text": "mine " * 50}))
    (tmp_path / "pairs.jsonl").write_bytes(orjson.dumps({"a": "mine " * 50, "b": "yours " * 50, "duplicate": False}))
    (tmp_path / "spec.yaml").write_text("{tokens: 20, tolerance: 1, sources: {ours: {corpus: corpus}}}")
    archive = next((tmp_path / "corpus" / "archive").glob("*.warc.gz"))
    first = archive.with_name(archive.name.removesuffix(".warc.gz") + ".cdxj").read_bytes().splitlines()[0]
    (tmp_path / "index.cdxj").write_bytes(first)
    (tmp_path / "wiki-20260101-pages-articles.xml").write_text(
        "<mediawiki><siteinfo><base>https://wiki.example/wiki/Main</base></siteinfo>"
        "<page><title>Pear</title><ns>0</ns><revision><text>A pear.</text></revision></page></mediawiki>"
    )
    rows = [
        {"canonical_url": r["canonical_url"], "doc_id": r["doc_id"], "topic": "owls"} for r in read_corpus("corpus")
    ]
    (tmp_path / "topics.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    done = scrapy(*words)
    assert (done.code, "error" in done.err) == (0, False), done.err


def test_the_examples_of_the_frontier_work_on_what_the_example_of_seed_has_put_there(scrapy, tmp_path):
    seeded = scrapy(*shlex.split(seed.Command.example))
    assert (seeded.code, seeded.out) == (0, "1 added, 0 known before, 0 refused\n"), seeded.err
    for words in examples("frontier"):
        if words[1] == "export":  # until it is stopped: tests/observe/metrics/test_metrics_endpoint.py
            continue
        done = scrapy(*words, "-s", "CORPUS_DIR=corpus")
        assert (done.code, done.err) == (0, ""), words
    assert scrapy(*shlex.split(quarantine.Command.example)).code == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["crawl"], 2, "error: give a URL, such as scrapy crawl https://example.org/, or name one spider: "),
        (
            ["crawl", "http://127.0.0.1/", "-a", "url=http://127.0.0.1/"],
            2,
            "-a url=… repeats what is given without -a",
        ),
        (["crawl", "corpsu"], 2, "there is no spider 'corpsu'"),
        (["crawl", "corpus", "--nosuch"], 2, "unknown option --nosuch"),
        (["crawl", "corpus", "-a", "foo=1"], 1, "error: foo: unknown argument"),
        (["crawl", "corpus", "-a", "seeds=nothere"], 1, "error: seeds=nothere: no such file"),
        (["crawl", "corpus", "-a", "url=http://127.0.0.1/", "-s", "DOWNLOAD_DELAY=x"], 1, "error: DOWNLOAD_DELAY='x'"),
        (["report", "--check", "nothere", "corpus"], 2, "expected a readable file"),
    ],
)
def test_a_wrong_call_and_what_a_crawl_cannot_begin_with_have_the_codes_of_the_table(tmp_path, words, code, message):
    done = scrapy_process(tmp_path, *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


@pytest.mark.parametrize(("name", "said", "value"), [("DOWNLOAD_DELAY", ".5", "0.5"), ("RECRAWL", "True", "1")])
def test_one_value_in_two_spellings_is_no_contradiction(name, said, value):
    refuse_another(argparse.Namespace(set=[f"{name}={said}"]), name, "--option", value)
