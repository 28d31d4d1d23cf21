"""docs/bot-signature.md says what is really sent, for how long it is good, and which commands do it."""

from __future__ import annotations

import re
import shlex
import time

import pytest
from scrapy.cmdline import execute

from crawler.botauth.directory import CACHE_SECONDS, MEDIA_TYPE, TAG
from crawler.botauth.key import make_key
from crawler.botauth.request import NONCE_BYTES, RequestSigner
from crawler.config import from_mapping
from crawler.config.signature import WELL_KNOWN
from crawler.operations.botkey import NAME
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "bot-signature.md").read_text("utf-8")
AGENT = f"https://bot.example.org{WELL_KNOWN}"


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def signer(tmp_path):
    return RequestSigner(make_key(str(tmp_path / "signer.pem")), AGENT, 300, lambda: 1_795_715_064)


def test_the_example_is_a_request_as_it_is_sent(signer):
    sent = signer.headers("https://example.org/page")
    hidden = {name: re.sub(r'(keyid|nonce)="[^"]+"', r'\1="…"', value) for name, value in sent.items()}
    hidden["Signature"] = re.sub(r":.+:", ":…:", hidden["Signature"])
    shown = dict(line.split(": ", 1) for line in block("http").replace("\n    ;", ";").splitlines()[1:])
    assert {name: shown[name] for name in hidden} == hidden


def test_its_numbers_are_those_of_the_code(signer):
    size = sum(len(f"{name}: {value}\r\n") for name, value in signer.headers("https://example.org/page").items())
    assert f"some {round(size, -2)} bytes" in PAGE
    assert f"{from_mapping({}).signature.seconds} s." in PAGE
    assert f"a nonce of {NONCE_BYTES} random bytes" in PAGE
    assert CACHE_SECONDS == 24 * 3600
    assert "says a day" in PAGE
    assert f"tag `{TAG}`" in PAGE
    assert f"application/{NAME}+json" == MEDIA_TYPE


def test_its_commands_make_a_key_and_the_files_of_its_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")
    commands = [line for line in block("sh").replace("\\\n", "").splitlines() if line.startswith("gristmill ")]
    assert [shlex.split(line)[1:3] for line in commands][:3] == [
        ["botkey", word] for word in ("new", "directory", "check")
    ]
    for line in commands[:2]:
        with pytest.raises(SystemExit) as ended:
            execute(shlex.split(line))
        assert ended.value.code == 0
    listed = re.findall(rf"^\| `({NAME}[.\w]*)` \|", PAGE, re.MULTILINE)
    assert sorted(path.name for path in (tmp_path / "public").iterdir()) == sorted(listed)
    until = re.search(r"signed until (\d{4}-\d\d-\d\d)", capsys.readouterr().out)
    assert until is not None
    wanted = {time.strftime("%Y-%m-%d", time.gmtime(time.time() + 90 * 86_400 - late)) for late in (0, 60)}
    assert until[1] in wanted
    assert "good for 90 days (`--days`)" in PAGE


def test_the_setting_that_it_shows_is_the_agent_of_every_example():
    assert set(re.findall(r"BOT_SIGNATURE_AGENT=(\S+)", PAGE)) == {AGENT}
    assert from_mapping({"BOT_SIGNATURE_AGENT": AGENT}).signature.agent == AGENT
