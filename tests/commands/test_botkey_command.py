"""`gristmill botkey`: a person makes a key, publishes its directory, checks it, and changes it for another one."""

from __future__ import annotations

import http.server
import json
import re
import ssl
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.botauth.key import read_key
from tests.botauth.test_botauth_directory import certificate
from tests.support.verifier import Message, Reply, verify

WELL_KNOWN = "/.well-known/http-message-signatures-directory"
NAME = "http-message-signatures-directory"
AGENT = f"https://bot.example.org{WELL_KNOWN}"


def setting(**values: object) -> list[str]:
    return [word for name, value in values.items() for word in ("-s", f"BOT_SIGNATURE_{name}={value}")]


def headers_in(folder: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in (folder / f"{NAME}.headers").read_text().splitlines())


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A web server with TLS that serves `public/` as its headers file says, whenever it is asked; its agent."""

    class Serves(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            public = tmp_path / "public"
            found = self.path == WELL_KNOWN and (public / NAME).exists()
            self.send_response(200 if found else 404)
            for name, value in headers_in(public).items() if found else ():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write((public / NAME).read_bytes() if found else b"")

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    (tmp_path / "tls").mkdir()
    crt, key = certificate(tmp_path / "tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(crt, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Serves)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(crt))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}{WELL_KNOWN}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_new_key_is_private_and_what_comes_next_is_a_command_that_works(scrapy, tmp_path):
    done = scrapy("botkey", "new", "bot-key.pem")
    assert (done.code, done.err) == (0, "")
    assert stat.S_IMODE((tmp_path / "bot-key.pem").stat().st_mode) == 0o600
    key = read_key(str(tmp_path / "bot-key.pem"))
    assert f"keyid {key.keyid}\n" in done.out
    assert not set((tmp_path / "bot-key.pem").read_text().splitlines()) & set(done.out.splitlines())
    (following,) = re.findall(r"^Next: gristmill (.+)$", done.out, re.MULTILINE)
    done = scrapy(*following.split())
    assert (done.code, done.err) == (0, "")
    assert json.loads((tmp_path / "public" / NAME).read_text()) == {"keys": [key.jwk()]}


def test_a_key_that_is_there_is_left_alone(scrapy, tmp_path):
    scrapy("botkey", "new", "bot-key.pem")
    before = (tmp_path / "bot-key.pem").read_bytes()
    done = scrapy("botkey", "new", "bot-key.pem")
    assert done.code == 1
    assert done.err == "error: bot-key.pem exists already, and a key is never overwritten: name another file\n"
    assert (tmp_path / "bot-key.pem").read_bytes() == before


def test_the_directory_is_signed_for_its_host_and_for_as_many_days_as_are_asked_for(scrapy, tmp_path):
    scrapy("botkey", "new", "bot-key.pem")
    done = scrapy("botkey", "directory", "bot-key.pem", "--to", "public", "--days", "30", *setting(AGENT=AGENT))
    assert done.code == 0
    assert f"Publish them at {AGENT}, then: gristmill botkey check" in done.out
    key = read_key(str(tmp_path / "bot-key.pem"))
    reply = Reply(Message(AGENT, {}), headers_in(tmp_path / "public"))
    body = (tmp_path / "public" / NAME).read_bytes()
    (found,) = verify(reply, key, tag=NAME, body=body)
    assert found.parameters["expires"] - found.parameters["created"] == 30 * 86_400
    assert (tmp_path / "public" / f"{NAME}.nginx").read_text().startswith(f"location = {WELL_KNOWN} {{\n")


def test_nothing_of_a_private_key_is_in_what_is_published(scrapy, tmp_path):
    scrapy("botkey", "new", "bot-key.pem")
    scrapy("botkey", "directory", "bot-key.pem", "--to", "public", *setting(AGENT=AGENT))
    secret = "".join((tmp_path / "bot-key.pem").read_text().splitlines()[1:-1])
    for path in (tmp_path / "public").iterdir():
        assert secret not in path.read_text()
        assert '"d"' not in path.read_text()


def test_every_key_file_that_is_wrong_is_told_at_once_and_nothing_is_written(scrapy, tmp_path):
    (tmp_path / "empty.pem").touch(0o600)
    done = scrapy("botkey", "directory", "empty.pem", "none.pem", "--to", "public", *setting(AGENT=AGENT))
    assert done.code == 1
    assert done.err.splitlines() == [
        "error: empty.pem is empty",
        "error: none.pem cannot be read: No such file or directory",
    ]
    assert not (tmp_path / "public").exists()


def test_a_directory_needs_to_know_where_it_will_be(scrapy):
    scrapy("botkey", "new", "bot-key.pem")
    done = scrapy("botkey", "directory", "bot-key.pem", "--to", "public")
    assert done.code == 1
    assert done.err.startswith("error: BOT_SIGNATURE_AGENT is not set: give the URL of the published key")


def test_a_folder_that_cannot_be_written_is_told(scrapy, tmp_path):
    scrapy("botkey", "new", "bot-key.pem")
    (tmp_path / "public").write_text("a file")
    done = scrapy("botkey", "directory", "bot-key.pem", "--to", "public", *setting(AGENT=AGENT))
    assert (done.code, done.err) == (1, "error: public cannot be written: File exists\n")


def test_the_published_directory_is_asked_and_told_to_be_right(scrapy, publish):
    scrapy("botkey", "new", "bot-key.pem")
    scrapy("botkey", "directory", "bot-key.pem", "--to", "public", *setting(AGENT=publish))
    done = scrapy("botkey", "check", *setting(KEY_FILE="bot-key.pem", AGENT=publish))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].startswith(f"{publish} holds the key in use (")
    assert done.out.splitlines()[1].startswith("its answer is signed until 20")


def test_a_directory_that_is_not_published_is_told(scrapy, publish):
    scrapy("botkey", "new", "bot-key.pem")
    done = scrapy("botkey", "check", *setting(KEY_FILE="bot-key.pem", AGENT=publish))
    assert (done.code, done.err) == (
        1,
        f"error: {publish} answers 404: verifiers accept only 200 and follow no redirect\n",
    )


def test_a_server_that_does_not_answer_is_told(scrapy):
    scrapy("botkey", "new", "bot-key.pem")
    done = scrapy("botkey", "check", *setting(KEY_FILE="bot-key.pem", AGENT="https://127.0.0.1:1"))
    assert done.code == 1
    assert done.err == f"error: https://127.0.0.1:1{WELL_KNOWN} cannot be read: Connection refused\n"


def test_a_key_is_changed_in_the_order_of_the_page_without_a_moment_in_which_the_key_in_use_is_not_published(
    scrapy, publish
):
    """Both in the directory; then the new one is used; then the old one goes."""

    def checked(key: str) -> int:
        return scrapy("botkey", "check", *setting(KEY_FILE=key, AGENT=publish)).code

    for name in ("old.pem", "new.pem"):
        scrapy("botkey", "new", name)
    scrapy("botkey", "directory", "old.pem", "--to", "public", *setting(AGENT=publish))
    assert (checked("old.pem"), checked("new.pem")) == (0, 1)
    scrapy("botkey", "directory", "new.pem", "old.pem", "--to", "public", *setting(AGENT=publish))
    assert (checked("old.pem"), checked("new.pem")) == (0, 0)
    scrapy("botkey", "directory", "new.pem", "--to", "public", *setting(AGENT=publish))
    assert (checked("old.pem"), checked("new.pem")) == (1, 0)
