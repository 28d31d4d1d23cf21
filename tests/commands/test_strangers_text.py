"""What strangers wrote steers no terminal, whichever command prints it; names and secrets are looked at once."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.commands.work import Command as Work
from crawler.config import ConfigError, from_mapping
from crawler.observe.console import answers_on
from crawler.observe.plain import beneath, plain, visible
from crawler.stages.extraction.metadata.read import _short
from crawler.stages.parse.stage import _clean
from crawler.stages.text.normal import normalise
from crawler.storage.archive.places import expand
from crawler.storage.archive.remote import open_archive
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.supervise.worker import State, Worker
from tests.support import warm
from tests.support.places import PROJECT
from tests.support.serving import Handler, LoopbackServer, article

EVIL = "a\x1b]0;owned\x07b\x9b31mc\u202ed\u2066e\rf\x7f"
STEERS = [c for c in EVIL if not c.isprintable() and c not in "\n\t"]


@given(st.text())
def test_no_character_that_steers_is_left(text):
    seen = visible(text)
    assert not set(seen) & {chr(n) for n in [*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F)]}
    assert visible(seen) == seen


@given(st.text())
def test_a_json_text_says_the_same_when_it_is_made_visible(text):
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text


def test_a_rich_console_keeps_its_own_colours_and_none_of_the_text():
    out = io.StringIO()
    console = answers_on(plain(out), highlight=False)
    console._force_terminal, console._color_system = True, 1
    console.print(EVIL, style="bold red", markup=False)
    said = out.getvalue()
    assert "\\u001b]0;owned" in said
    assert not [c for c in STEERS if c != "\x1b" and c in said]
    assert beneath(plain(out)) is out


def test_log_lines_and_direct_writes_pass_the_same_stream():
    out = io.StringIO()
    handler = logging.StreamHandler(plain(out))
    handler.emit(logging.LogRecord("x", logging.ERROR, "f", 1, EVIL, None, None))
    print(EVIL, file=plain(out))
    plain(out).writelines([EVIL])
    assert not [c for c in STEERS if c in out.getvalue()]


@pytest.mark.parametrize("clean", [normalise, _short, _clean])
def test_titles_and_texts_hold_no_character_that_steers(clean):
    assert not [c for c in (*STEERS, *map(chr, range(0x80, 0xA0))) if c in (clean(EVIL + "\x85x" + "\x80\x9f") or "")]


class Evil(LoopbackServer):
    """A site whose title, type and header hold escape sequences."""

    def __init__(self) -> None:
        class Answers(Handler):
            def respond(self) -> None:
                if self.path == "/robots.txt":
                    self.send(404)
                    return
                kind = "text/html; x=\x1b[31m" if self.path == "/kept" else "image/\x1b[2Jpng\x9b"
                self.send(200, article("evil", title=f"Note{EVIL}"), kind)

        super().__init__(Answers)


@pytest.fixture(scope="module")
def evil_corpus(tmp_path_factory):
    from tests.support.crawl import Crawl

    crawl = Crawl(tmp_path_factory.mktemp("evil") / "corpus")
    with Evil() as web:
        seeds = crawl.folder.parent / "seeds.txt"
        seeds.write_text(f"http://127.0.0.1:{web.port}/kept\nhttp://127.0.0.1:{web.port}/odd\n")
        done = crawl.run({"seeds": str(seeds)}, NETWORK_PORTS=web.port, LOG_LEVEL="DEBUG", PROGRESS="on")
    assert done.returncode == 0, done.stderr
    assert len(crawl.records() + crawl.records("rejected")) == 2
    return crawl.folder, done.stdout + done.stderr


COMMANDS = [
    ["dataset", "query", "{}", "SELECT * FROM documents"],
    ["dataset", "query", "{}", "SELECT * FROM documents", "--format", "jsonl"],
    ["dataset", "query", "{}", "SELECT * FROM documents", "--json"],
    ["report", "{}"],
    ["dataset", "verify", "{}"],
]


def test_a_crawl_with_its_log_and_progress_hands_nothing_on(evil_corpus):
    said = evil_corpus[1]
    assert "]0;owned" not in said.replace("\\u001b]0;owned", "").replace("\\x1b]0;owned", "")
    assert not [c for c in STEERS if c not in "\x1b\r" and c in said]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
def test_no_command_hands_them_on_to_its_terminal(evil_corpus, words, terminal):
    command = [sys.executable, "-m", "crawler.commands.gristmill", *(w.format(evil_corpus[0]) for w in words)]
    if terminal:
        mine, theirs = pty.openpty()
        process = warm.Popen(command, cwd=PROJECT, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
        os.close(theirs)
        said = b""
        while True:
            try:
                said += os.read(mine, 65_536)
            except OSError:  # the other end is closed
                break
        os.close(mine)
        assert process.wait(60) == 0, said
        text = said.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        assert "\x1b]0" not in text
        assert "\x1b[2J" not in text
        assert not [c for c in STEERS if c not in "\x1b\r" and c in text]
        return
    done = warm.run(command, cwd=PROJECT, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    text = (done.stdout + done.stderr).decode()
    assert not [c for c in STEERS if c in text]


@pytest.mark.parametrize("name", ["CRAWL_ID", "WORKER_ID", "CRAWLER_PRODUCT_TOKEN"])
@pytest.mark.parametrize(
    "value", [".hidden", "..", ".", "a/b", "-rf", "a\x1bb", "ä", "a b", "a\n", "x" * 65, "\u202ea"]
)
def test_a_name_that_becomes_part_of_files_is_refused_with_a_sentence(name, value):
    with pytest.raises(ConfigError, match="expected 1 to 64 letters"):
        from_mapping({name: value})


@pytest.mark.parametrize("value", ["crawl", "a.b-c_d", "2024-10", "A" * 64])
def test_usual_names_are_taken(value):
    assert from_mapping({"CRAWL_ID": value}).crawl.crawl_id == value


SECRET = "s3://AKIAEXAMPLE:very%2Fsecret@bucket/corpus"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: from_mapping({"CORPUS_DIR": SECRET}),
        lambda: Place(SECRET),
        lambda: expand(SECRET + "/*.warc.gz"),
        lambda: open_archive(SECRET + "/a.warc.gz"),
    ],
    ids=["setting", "corpus", "archives", "archive"],
)
def test_a_url_with_credentials_is_refused_without_showing_them(ask):
    with pytest.raises((ConfigError, StorageError), match="credentials may not be part of a URL") as caught:
        ask()
    assert "secret" not in str(caught.value)
    assert "AKIAEXAMPLE" not in str(caught.value)


def test_an_account_without_a_secret_is_no_credential():
    assert from_mapping({"CORPUS_DIR": "abfs://container@account.example/c", "CORPUS_SPOOL_DIR": "x"})


def test_a_password_stands_in_no_command_line_of_a_child_and_reaches_it(tmp_path):
    class Settings(dict):
        def getint(self, name):
            return int(self.get(name, 0))

        def getpriority(self, name):
            return 40

    work = Work()
    work.settings = Settings(
        REDIS_URL="redis://w:secret@127.0.0.1:1/0", DEDUP_REDIS_URL="redis://:other@h/0", CRAWL_ID="c"
    )
    line = work._command("corpus", {"url": "x"}, type("Share", (), {"stage_workers": 1}), "w-1", 3)
    assert "CRAWL_ID=c" in line
    assert not [word for word in line if "secret" in word or "other" in word]
    assert work._typed(secret=True).keys() == {"REDIS_URL", "DEDUP_REDIS_URL"}
    script = f"import os; open({str(tmp_path / 'seen')!r}, 'w').write(os.environ['CRAWLER_REDIS_URL'])"
    worker = Worker(
        "w", lambda _fd: [sys.executable, "-c", script], lambda *_: None, {"CRAWLER_REDIS_URL": "redis://x"}
    )
    assert asyncio.run(worker.run()) is State.DONE
    assert Path(tmp_path / "seen").read_text() == "redis://x"
    assert "redis://x" not in repr(worker)
