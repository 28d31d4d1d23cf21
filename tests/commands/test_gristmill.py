"""`gristmill` runs in any folder: what it lists, where its settings come from, and how it ends."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.commands import begin
from crawler.commands.gristmill import main, overview
from crawler.commands.of_scrapy import KEPT, REFUSED
from crawler.commands.options import OPTIONS
from crawler.commands.table import LINES
from crawler.runtime import load
from crawler.storage.files.shards import read_lines
from tests.commands.conftest import Done, scrapy_process
from tests.support.places import PROJECT
from tests.support.process import clean_environment
from tests.support.serving import DEADLINE, Gate

QUICK = ["--delay", "0.01", "--stage-workers", "1", "-s", "FRONTIER_IDLE_SECONDS=0.5", "-s", "PII_PERSON=off"]


@pytest.fixture
def gristmill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Runs a command that needs no crawler, in this process and in `tmp_path`, which no Scrapy project is around."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["/usr/bin/gristmill", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    yield run
    os.environ.pop("SCRAPY_SETTINGS_MODULE", None)  # --settings sets it, and monkeypatch would bring it back


def begun(folder: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    environment = clean_environment(**more)
    environment.pop("SCRAPY_SETTINGS_MODULE", None)
    command = [sys.executable, "-m", "crawler.commands.gristmill", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    )


def ended(process: subprocess.Popen[str]) -> Done:
    out, err = process.communicate(timeout=DEADLINE)
    return Done(process.returncode, out, err)


def kept(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for file in sorted(folder.glob("shards/*.jsonl*")) for line in read_lines(file)]


# --- what there is ----------------------------------------------------------------------------------------------------


def test_the_help_begins_with_what_a_newcomer_needs_and_fits_a_terminal(gristmill) -> None:
    shown = gristmill("--help")
    assert (shown.code, shown.err, shown.out) == (0, "", gristmill().out)
    named = re.findall(r"^  (\w+) +[A-Z]", shown.out, re.MULTILINE)
    assert named[:3] == ["demo", "crawl", "explore"]
    assert max(map(len, overview().splitlines())) <= 80


def test_both_programs_have_the_same_commands_but_for_those_of_scrapy_itself(tmp_path) -> None:
    theirs = set(re.findall(r"^  ([a-z]+) ", scrapy_process(tmp_path, "-h").out, re.MULTILINE)) - {"scrapy"}
    assert theirs == {*LINES, *REFUSED, *KEPT}
    assert set(LINES) == set(re.findall(r"^  (\w+) +[A-Z]", overview(), re.MULTILINE))


@pytest.mark.parametrize("name", sorted(LINES))
def test_each_command_of_the_help_explains_itself_under_the_name_that_was_typed(gristmill, name) -> None:
    shown = gristmill(name, "-h")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"usage: gristmill {name}")
    assert LINES[name] in " ".join(shown.out.split())
    assert f"Example: gristmill {name}" in " ".join(shown.out.split())
    assert "scrapy" not in shown.out.lower()
    assert [line for line in shown.out.splitlines() if len(line) > 80] == []


OPERATIONS = [
    (name, operation)
    for name in LINES
    for operation in getattr(import_module(f"crawler.commands.{name}").Command, "operations", {})
]


@pytest.mark.parametrize(("name", "operation"), OPERATIONS)
def test_the_help_of_each_operation_fits_a_terminal(gristmill, name, operation) -> None:
    shown = gristmill(name, operation, "--help")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"usage: gristmill {name} {operation}")
    assert [line for line in shown.out.splitlines() if len(line) > 80] == []


def test_every_command_with_operations_is_among_those_whose_help_is_measured() -> None:
    assert {name for name, _ in OPERATIONS} >= {"dataset", "frontier", "plan", "classify", "llm", "botkey"}


def test_the_line_of_a_command_is_the_same_under_both_names(scrapy) -> None:
    assert LINES["report"] in " ".join(scrapy("report", "-h").out.split())


def test_the_version_is_that_of_the_distribution(gristmill) -> None:
    assert gristmill("--version") == Done(0, "gristmill 1.0.0\n", "")


def test_the_settings_that_are_options_are_those_of_the_readme() -> None:
    table = (PROJECT / "README.md").read_text("utf-8").partition("## Settings that matter")[2].partition("\n## ")[0]
    assert set(OPTIONS) == set(re.findall(r"^\| `([A-Z_]+)`", table, re.MULTILINE))
    assert len(set(OPTIONS.values())) == len(OPTIONS) == 15


def test_a_help_loads_neither_the_engine_nor_another_command() -> None:
    others = [f"crawler.commands.{name}" for name in LINES if name != "dataset"]
    code = (
        "import sys; from crawler.commands.gristmill import main\n"
        "try: main(['dataset', '-h'])\n"
        f"except SystemExit: print([m for m in {['scrapy.core.engine', *others]} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean_environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


# --- wrong calls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["crwal"], 2, "error: there is no command 'crwal'; did you mean crawl?\n"),
        (["parse"], 2, "error: there is no command 'parse'; gristmill --help lists them\n"),
        (["report", "--htlm", "corpus"], 2, "gristmill report: error: unknown option --htlm\n"),
        (["report", "-s", "NAME", "corpus"], 2, "gristmill report: error: Invalid -s value, use -s NAME=VALUE\n"),
        (["report", "corpus"], 1, "error: corpus: there is no such folder; expected the CORPUS_DIR of a crawl\n"),
        (["settings", "--get", "LANGUAGES", "-s", "DOWNLOAD_DELAY=x"], 1, "error: DOWNLOAD_DELAY='x': "),
        (
            ["report", "--settings", "no.such", "corpus"],
            1,
            "error: the settings module no.such cannot be imported: No mo",
        ),
        (
            ["seed", "https://example.org/", "-a", "url=x"],
            2,
            "gristmill seed: error: -a url=… repeats what is given ",
        ),
    ],
)
def test_a_wrong_call_is_a_sentence_with_the_code_of_the_table_and_leaves_nothing(
    gristmill, tmp_path, words, code, message
) -> None:
    done = gristmill(*words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["crawl"], 2, "error: give a URL, such as gristmill crawl https://example.org/, or name one spider: "),
        (["crawl", "corpus"], 1, "error: nothing to crawl: "),
        (["crawl", "ftp://127.0.0.1/"], 1, "error: url: "),
        (["crawl", "http://127.0.0.1:9/", "--limit", "0"], 2, "argument --limit: expected a whole number from 1 up"),
        (["crawl", "http://127.0.0.1:9/", "--delay", "soon"], 1, "error: DOWNLOAD_DELAY='soon': expected a number"),
        (
            ["crawl", "https://example.org/"],
            1,
            "error: CRAWLER_CONTACT is not set and example.org is not on this machine",
        ),
        (
            ["replay", "a.warc.gz", "b.warc.gz"],
            2,
            "expected one ARCHIVE: a path, a folder, a URL, or a pattern in quotes",
        ),
        (["replay", "none.warc.gz"], 1, "none.warc.gz"),
    ],
)
def test_a_crawl_that_cannot_begin_says_why_and_leaves_nothing(tmp_path, words, code, message) -> None:
    done = ended(begun(tmp_path, *words))
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


# --- settings ---------------------------------------------------------------------------------------------------------


def test_settings_come_from_the_option_before_the_environment_before_the_module(
    gristmill, tmp_path, monkeypatch
) -> None:
    (tmp_path / "mine_of_test.py").write_text("DOWNLOAD_DELAY = 7\nRETRY_TIMES = 9\nLANGUAGES = ['de']\n")
    asked = ["settings", "--settings", "mine_of_test", "--get"]
    monkeypatch.setenv("CRAWLER_RETRY_TIMES", "5")
    monkeypatch.setenv("CRAWLER_LANGUAGES", "fr")
    answers = [gristmill(*asked, name, "-s", "LANGUAGES=es").out for name in ("DOWNLOAD_DELAY", "RETRY_TIMES")]
    assert answers == ["7.0\n", "5\n"]
    assert "es" in gristmill(*asked, "LANGUAGES", "-s", "LANGUAGES=es").out


def test_a_module_of_settings_need_not_repeat_those_of_the_product(gristmill, tmp_path) -> None:
    (tmp_path / "few_of_test.py").write_text("DOWNLOAD_DELAY = 7\n")
    shown = gristmill("settings", "--settings", "few_of_test", "--get", "SCHEDULER")
    assert shown.out == "crawler.scheduler.scheduler.Scheduler\n"


def test_the_settings_of_a_scrapy_project_around_the_folder_count(tmp_path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = theirs_of_test\n")
    (tmp_path / "theirs_of_test.py").write_text("from crawler.settings import *\nDOWNLOAD_DELAY = 8\n")
    (tmp_path / "below").mkdir()
    done = ended(begun(tmp_path / "below", "settings", "--get", "DOWNLOAD_DELAY"))
    assert (done.code, done.out) == (0, "8.0\n"), done.err


@pytest.mark.parametrize(
    "words",
    [
        ["seed", "https://example.org/", "--redis-url", "nonsense"],
        ["frontier", "--redis-url", "nonsense", "status"],
        ["frontier", "status", "--redis-url", "nonsense"],
        ["quarantine", "--redis-url", "nonsense"],
    ],
)
def test_an_option_is_the_setting_that_it_names(gristmill, words) -> None:
    done = gristmill(*words)
    assert (done.code, done.err.partition("nonsense")[0]) == (1, "error: REDIS_URL='")


# --- where a crawl begins ---------------------------------------------------------------------------------------------


def opened(*hosts: str, **given: str) -> Settings:
    settings = Settings(given)
    begin.open_local(settings, hosts)
    return settings


def test_allow_local_opens_the_named_hosts_and_their_ports_and_no_more() -> None:
    policy = load(opened("127.0.0.1:8080", "10.1.2.3", "example.org:99", NETWORK_ALLOW="192.168.0.0/16")).policy
    assert set(policy.network_allow) == {"192.168.0.0/16", "127.0.0.1/32", "10.1.2.3/32"}
    assert set(policy.network_ports) == {80, 443, 8080, 99}


def test_allow_local_opens_what_is_named_also_where_another_setting_is_wrong() -> None:
    settings = opened("127.0.0.1:8080", EGRESS_PROXIES="nonsense")
    assert (settings["NETWORK_ALLOW"], settings["NETWORK_PORTS"]) == ("127.0.0.1/32", "80,443,8080")
    assert "NETWORK_PORTS" not in opened("127.0.0.1:8080", NETWORK_ALLOW="nonsense")


def test_allow_local_of_a_command_that_names_nothing_is_refused_with_the_way_to_say_it() -> None:
    """Else every seed that a frontier has of this machine would be refused for good, without a word."""
    parser = argparse.ArgumentParser()
    begin.declare(parser)
    begin.declare_allow_local(parser)
    opts = parser.parse_args(["--allow-local"])
    begin.read_pairs(opts)
    with pytest.raises(UsageError, match=r"it names none; seeds that are already in the frontier may be named again"):
        begin.spider_and_arguments(Settings({"SPIDER_MODULES": ["crawler.spiders"]}), ["corpus"], opts)


@pytest.mark.parametrize("hosts", [(), ("93.184.215.14",), ("169.254.169.254",), ("no-such-host.invalid:8000",)])
def test_allow_local_without_anything_to_open_is_a_wrong_call(hosts) -> None:
    with pytest.raises(UsageError, match="--allow-local: none of these hosts is on this machine"):
        opened(*hosts)


# --- a crawl ----------------------------------------------------------------------------------------------------------


def test_a_crawl_ends_at_its_limit_and_the_same_command_continues(make_site, tmp_path) -> None:
    site = make_site(pages=40)
    words = ["crawl", site.url(0), "--allow-local", "--limit", "4", *QUICK]
    first = ended(begun(tmp_path, *words))
    assert first.code == 0, first.err
    reached = len(kept(tmp_path / "corpus"))
    assert reached == 4, "what is under way counts: no page is kept beyond it"
    second = ended(begun(tmp_path, *words))
    assert second.code == 0, second.err
    assert len(kept(tmp_path / "corpus")) == 8
    pages = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    assert len(pages) == len(set(pages))
    again = ended(begun(tmp_path, "replay", "corpus/archive/*.warc.gz", "--out", "again", *QUICK[2:]))
    assert again.code == 0, again.err
    assert {r["url"]: r["text"] for r in kept(tmp_path / "again")} == {
        r["url"]: r["text"] for r in kept(tmp_path / "corpus")
    }


def test_ctrl_c_ends_a_crawl_in_good_order(make_site, tmp_path) -> None:
    site = make_site(pages=40)
    site.gate = Gate(6)
    process = begun(tmp_path, "crawl", site.url(0), "--allow-local", *QUICK)
    site.gate.wait()
    process.send_signal(signal.SIGINT)
    site.gate.open()
    done = ended(process)
    assert done.code == 0, done.err
    assert "the same crawl command continues" in done.out


def test_ctrl_c_ends_a_command_that_reads_with_one_line(tmp_path) -> None:
    (tmp_path / "corpus" / "manifest.d").mkdir(parents=True)
    process = begun(tmp_path, "report", "--settings", "tests.commands.slow_settings", "corpus")
    while not (tmp_path / "reading").exists():
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    assert ended(process) == Done(130, "", "error: interrupted by SIGINT\n")


def test_several_workers_are_the_same_program(make_site, tmp_path) -> None:
    site = make_site(pages=8)
    done = ended(begun(tmp_path, "work", site.url(0), "--workers", "2", "--allow-local", *QUICK))
    assert done.code == 0, done.err
    assert {str(record["url"]) for record in kept(tmp_path / "corpus")} == site.urls()
