"""Every command of `scrapy -h`, wherever a person may leave it: it ends, in a sentence, with the code it promises.

0 done, 1 not done, 2 a wrong call, 130 and 143 after SIGINT and SIGTERM. The tables name every command and operation;
the first test compares them with what `scrapy -h` lists, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawler.commands import botkey, classify, dataset, frontier, llm, plan
from crawler.server.embedded import EmbeddedServer
from tests.commands.conftest import Done, process_environment, scrapy_process
from tests.support import warm

LIMIT = 60  # seconds: beyond it a command counts as hanging, on the slowest machine
EXCLUDE = ["dataset", "exclude", "--domain", "example.org", "--reason", "x", "--yes", "corpus"]
PAGE = ["dataset", "page", "corpus", "https://example.org/1"]

# What is typed in an empty folder, and the exit code.
ALONE: dict[str, tuple[list[str], int]] = {
    "bench": ([], 2),
    "botkey check": ([], 1),
    "botkey directory": (["none.pem", "--to", "public"], 1),
    "botkey new": (["none/bot-key.pem"], 1),
    "check": ([], 0),
    "classify card": (["none.npz"], 1),
    "classify eval": (["none.npz", "--labels", "none.jsonl"], 1),
    "classify explain": (["none.npz", "page.txt"], 1),
    "classify import": (["none.bin", "--name", "a", "--label", "b", "--language", "en", "--out", "models"], 1),
    "classify perplexity": (["none.arpa", "corpus", "--language", "en", "--out", "rows.jsonl"], 1),
    "llm caption": (["pairs", "--model", "openai:gpt-5-mini", "--budget", "5USD"], 1),
    "llm clean": (["corpus", "--model", "openai:gpt-5-mini", "--budget", "5USD"], 1),
    "llm extract": (["corpus", "--schema", "none.json", "--model", "openai:gpt-5-mini", "--budget", "5USD"], 1),
    "llm judge": (["corpus", "--model", "openai:gpt-5-mini", "--budget", "5USD"], 1),
    "llm questions": (["corpus", "--out", "pairs", "--model", "openai:gpt-5-mini", "--budget", "5USD"], 1),
    "llm synthesize": (["corpus", "--out", "texts", "--model", "openai:gpt-5-mini", "--budget", "5USD"], 1),
    "classify train": (["worth", "--labels", "none.jsonl", "--out", "models"], 1),
    "crawl": (["corpus"], 1),
    "dataset annotate": (["corpus", "--name", "topic", "--file", "none.jsonl"], 1),
    "dataset annotations": (["corpus"], 1),
    "dataset best": (["corpus"], 1),
    "dataset captures": (["--index", "none.cdxj", "--out", "x.warc.gz", "example.org"], 1),
    "dataset chunks": (["--out", "chunks", "corpus"], 1),
    "dataset contaminated": (["--eval", "none.jsonl", "corpus"], 1),
    "dataset dedup": (["corpus", "other"], 1),
    "dataset diff": (["corpus", "other"], 1),
    "dataset duplicates": (["eval", "pairs.jsonl"], 1),
    "dataset exclude": (EXCLUDE[2:], 1),
    "dataset expire": (["--older-than", "1", "corpus"], 1),
    "dataset export": (["--to", "jsonl.gz", "--out", "release", "corpus"], 1),
    "dataset index": (["texts.jsonl"], 1),
    "dataset lineage": (["--domain", "example.org", "corpus"], 1),
    "dataset log": (["corpus"], 1),
    "dataset merge": (["--out", "all", "corpus", "other"], 1),
    "dataset mediawiki": (["wiki-20260101.xml", "--out", "wiki.warc.gz"], 1),
    "dataset mix": (["--out", "mixed", "spec.yaml"], 1),
    "dataset held": (["list", "corpus"], 1),
    "dataset page": (PAGE[2:], 1),
    "dataset query": (["corpus", "SELECT 1"], 1),
    "dataset repair": (["corpus"], 1),
    "dataset select": (["--out", "subset", "corpus"], 1),
    "dataset images": (["corpus", "--dry-run"], 1),
    "dataset semantic": (["corpus"], 1),
    "dataset show": (["corpus"], 1),
    "dataset substrings": (["corpus"], 1),
    "dataset transcribe": (["corpus", "--name", "ocr", "--command", "cat {file}"], 1),
    "dataset trial": (["--held-out", "texts", "corpus", "other"], 1),
    "dataset rejudge": (["corpus"], 1),
    "dataset supersede": (["corpus"], 1),
    "dataset tag": (["corpus", "release-1"], 1),
    "dataset verify": (["corpus"], 1),
    "demo": (["nonsense"], 2),
    "diagnose": (["corpus"], 1),
    "edit": (["nosuch"], 2),
    "explore": (["--no-open", "corpus"], 1),
    "stream": (["--to", "redis://127.0.0.1:1/pages", "corpus"], 1),
    "fetch": (["http://127.0.0.1:1/"], 1),
    "frontier drain": ([], 1),
    "frontier export": (["--port", "0"], 1),
    "frontier pause": ([], 1),
    "frontier purge": (["example.org", "--yes"], 1),
    "frontier requeue": (["dead"], 1),
    "frontier resume": ([], 1),
    "frontier status": ([], 1),
    "genspider": (["a", "example.org"], 2),
    "list": ([], 0),
    "optout": (["http://127.0.0.1:1/"], 1),
    "parse": (["http://127.0.0.1:1/"], 2),
    "plan check": (["none.yaml"], 1),
    "plan diff": (["none.yaml"], 1),
    "plan run": (["none.yaml"], 1),
    "plan status": (["none.yaml"], 1),
    "plan steps": (["none.yaml"], 1),
    "quarantine": ([], 1),
    "replay": (["none.warc.gz"], 1),
    "report": (["corpus"], 1),
    "runspider": (["spider.py"], 2),
    "seed": ([], 1),
    "settings": (["--get", "CORPUS_DIR"], 0),
    "shell": (["-c", "1 + 1"], 0),
    "startproject": (["mine"], 2),
    "text": (["http://127.0.0.1:1/"], 1),
    "version": ([], 0),
    "view": (["http://127.0.0.1:1/"], 1),
    "work": (["corpus"], 1),
}
OPERATIONS = {
    f"{name} {operation}"
    for name, c in (
        ("botkey", botkey),
        ("classify", classify),
        ("dataset", dataset),
        ("frontier", frontier),
        ("llm", llm),
        ("plan", plan),
    )
    for operation in c.Command.operations
}
REFUSED = {"bench", "genspider", "parse", "runspider", "startproject"}  # whatever is given
NEED_PROCESS = {
    "bench",
    "check",
    "crawl",
    "diagnose",
    "fetch",
    "optout",
    "parse",
    "replay",
    "runspider",
    "shell",
    "text",
    "view",
}
"""Commands for which Scrapy makes a reactor, of which a process has one; the others run here, twenty times as fast."""

ASK_SERVER = sorted({name for name in ALONE if name.startswith("frontier ")} | {"quarantine", "seed", "crawl", "work"})
READ_CORPUS = sorted(name for name, (words, _) in ALONE.items() if "corpus" in words and name not in {"crawl", "work"})


def typed(name: str, *more: str) -> list[str]:
    return [*name.split(), *ALONE[name][0], *more]


def is_told_well(done: Done, code: int) -> None:
    """The code that was promised, no traceback, and where it is not 0 a last line that begins as errors do."""
    assert done.code == code, done.err
    assert "Traceback" not in done.out + done.err
    assert "Errno" not in done.err
    if code and not done.out:  # the answer of `optout` is no error
        assert re.search(r"^(scrapy [a-z ]+: )?error: \S", done.err, re.MULTILINE), done.err


@pytest.fixture
def call(scrapy, tmp_path):
    """Runs a command where it is cheapest, in `tmp_path`, and lets none run for longer than the limit."""

    def run(name: str, *more: str) -> Done:
        words = typed(name, *more)
        if name.partition(" ")[0] in NEED_PROCESS:
            return scrapy_process(tmp_path, *words, timeout=LIMIT)
        old = signal.signal(signal.SIGALRM, _hangs)
        signal.alarm(LIMIT)
        try:
            return scrapy(*words)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, old)

    return run


def _hangs(*_: object) -> None:
    raise TimeoutError(f"still at work after {LIMIT} seconds")


def test_no_command_and_no_operation_is_missing_here(tmp_path):
    listed = set(re.findall(r"^  ([a-z]+) ", scrapy_process(tmp_path, "-h").out, re.MULTILINE)) - {"scrapy"}
    assert {name.split()[0] for name in ALONE} == listed
    assert {name for name in ALONE if " " in name} == OPERATIONS


@pytest.mark.parametrize("name", sorted(ALONE))
def test_in_an_empty_folder_it_ends_as_it_says_and_leaves_nothing_behind(call, tmp_path, name):
    is_told_well(call(name), ALONE[name][1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(ALONE))
def test_an_option_it_does_not_have_is_a_wrong_call(call, tmp_path, name):
    done = call(name, "--nonsense")
    is_told_well(done, 2)
    assert "--nonsense" in done.err or name in REFUSED
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(set(ALONE) - REFUSED))
def test_a_setting_that_means_nothing_is_told_or_not_needed(call, tmp_path, name):
    done = call(name, "-s", "DOWNLOAD_DELAY=soon")
    assert done.code in {0, 1, 2}
    if done.code and "DOWNLOAD_DELAY" in done.err:
        assert "DOWNLOAD_DELAY='soon': expected a number" in done.err
    is_told_well(done, done.code)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*ASK_SERVER, "dataset index"])
def test_a_server_that_is_gone_is_told(call, tmp_path, name):
    (tmp_path / "texts.jsonl").write_text('{"text": "mine"}\n')
    more = ["-a", "url=http://127.0.0.1:1/"] if name in {"seed", "crawl"} else []
    done = call(name, *more, "-s", "REDIS_URL=redis://127.0.0.1:1/0", "-s", "CORPUS_DIR=corpus")
    is_told_well(done, 1)
    assert "127.0.0.1:1" in done.err
    assert {path.name for path in tmp_path.iterdir()} <= {"texts.jsonl", "corpus"}


def write_what_is_named(folder: Path) -> None:
    """What calls of `ALONE` name beside the corpus: an evaluation set, a schema, held-out texts."""
    (folder / "none.jsonl").write_text('{"question": "a b c d e f g h i j k l m n o"}\n')
    (folder / "none.json").write_text('{"type": "object", "properties": {"maker": {"type": "string"}}}')
    (folder / "texts").mkdir()
    (folder / "texts" / "one.txt").write_text("A text that no corpus has. " * 9)


@pytest.mark.parametrize("name", READ_CORPUS)
def test_a_corpus_of_another_version_is_left_alone(call, tmp_path, name):
    for folder in ("corpus", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "manifest.json").write_text('{"format": "crawler-corpus/99", "files": []}')
    write_what_is_named(tmp_path)
    done = call(name)
    is_told_well(done, 1)
    if name != "dataset repair":  # it is there for manifests that cannot be read, and finds no corpus around this one
        assert "corpus/manifest.json: format 'crawler-corpus/99' instead of 'crawler-corpus/1'" in done.err
    assert [path.name for path in (tmp_path / "corpus").iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("name", READ_CORPUS)
@pytest.mark.parametrize("content", ["{", "null", '{"format": "crawler-corpus/1"}'])
def test_a_manifest_that_is_none_is_told(call, tmp_path, name, content):
    for folder in ("corpus", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "manifest.json").write_text(content)
    write_what_is_named(tmp_path)
    is_told_well(call(name), 1)


# --- interrupted ------------------------------------------------------------------------------------------------------


def interrupted(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=LIMIT)
    assert "Traceback" not in out + err
    return process.returncode, err


@pytest.fixture
def begun(tmp_path) -> Iterator[object]:
    """Starts a command in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str, **more: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "scrapy", *words]
        environment = process_environment(**more)
        started.append(
            warm.Popen(
                command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def until(condition, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("name", READ_CORPUS)
def test_a_signal_ends_it_while_it_reads(begun, tmp_path: Path, name):
    """Half of them by Ctrl-C, half as a supervisor ends a process: what answers is the same for all."""
    number = (signal.SIGINT, signal.SIGTERM)[READ_CORPUS.index(name) % 2]
    write_what_is_named(tmp_path)
    (tmp_path / "corpus" / "manifest.d").mkdir(parents=True)
    process = begun(*typed(name), SCRAPY_SETTINGS_MODULE="tests.commands.slow_settings")
    until((tmp_path / "reading").exists, process)
    assert interrupted(process, number) == (128 + number, f"error: interrupted by {number.name}\n")


@pytest.fixture
def silent_server() -> Iterator[tuple[int, threading.Event]]:
    """A server that takes connections and says nothing; whether somebody has come."""
    come, held = threading.Event(), []
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)

        def accept() -> None:
            try:
                while True:
                    held.append(server.accept()[0])
                    come.set()
            except OSError:
                return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], come
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    for connection in held:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ["frontier drain", "seed", "crawl"])
def test_a_signal_ends_it_while_it_waits_for_the_server(begun, silent_server, name, number):
    port, come = silent_server
    more = ["-a", "url=http://127.0.0.1:1/"] if name in {"seed", "crawl"} else []
    more += ["-s", "NETWORK_ALLOW=127.0.0.0/8", "-s", "NETWORK_PORTS=1"] if name == "crawl" else []
    process = begun(*typed(name, *more), "-s", f"REDIS_URL=redis://127.0.0.1:{port}/0", "-s", "PII_PERSON=off")
    assert come.wait(LIMIT)
    code, err = interrupted(process, number)
    assert code == 128 + number
    assert f"interrupted by {number.name}" in err


@pytest.fixture
def server_that_falls_silent(tmp_path) -> Iterator[tuple[str, threading.Event]]:
    """A real server behind a relay that takes a second round of connections and passes nothing on.

    Its address, and whether somebody has come a second time.
    """
    again, held, left = threading.Event(), [], threading.Event()

    def copy(one: socket.socket, two: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                two.sendall(data)
        left.set()
        with contextlib.suppress(OSError):
            two.shutdown(socket.SHUT_RDWR)

    with EmbeddedServer(tmp_path / "valkey") as url, socket.socket() as relay:
        relay.bind(("127.0.0.1", 0))
        relay.listen(8)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    came = relay.accept()[0]
                    held.append(came)
                    if left.is_set():
                        again.set()
                        continue
                    there = socket.socket(socket.AF_UNIX)
                    there.connect(urlsplit(url).path)
                    held.append(there)
                    for ends in ((came, there), (there, came)):
                        threading.Thread(target=copy, args=ends, daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"redis://127.0.0.1:{relay.getsockname()[1]}/0", again
        relay.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for connection in held:
            connection.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_crawl_whose_scheduler_waits_for_the_server(begun, server_that_falls_silent, number):
    url, again = server_that_falls_silent
    settings = (f"REDIS_URL={url}", "PII_PERSON=off", "NETWORK_ALLOW=127.0.0.0/8", "NETWORK_PORTS=1")
    more = [word for setting in settings for word in ("-s", setting)]
    process = begun("crawl", "corpus", "-a", "url=http://127.0.0.1:1/", *more)
    assert again.wait(LIMIT)
    code, err = interrupted(process, number)
    assert code == 128 + number, err
    assert f"error: interrupted by {number.name}: the crawl had not begun" in err
