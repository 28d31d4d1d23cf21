"""A harvest that is killed in the middle goes on by the same command: nothing is lost, doubled, or asked for ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support import warm
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl, finished
from tests.support.loopback_web import PolicyWeb
from tests.support.oai import IDENTIFY, answer, error, record, records
from tests.support.places import PROJECT
from tests.support.process import clean_environment, options

LISTS, OF_A_LIST = 4, 3


class Source(dict[str, Any]):
    """Lists and records; it kills who asks for a list of `deadly`, each once. life: how often it has killed, from 1."""

    def __init__(self, deadly: list[int], said: Callable[[Source, str], tuple[int | None, bytes, str]]) -> None:
        super().__init__()
        self.deadly, self.said, self.life = deadly, said, 1
        self.lists, self.victim = list[int](), 0

    def get(self, path: str, default: Any = None) -> Any:
        return default if path.endswith(".txt") or "/.well-known/" in path else self._send

    def _send(self, handler: Any) -> None:
        number, body, kind = self.said(self, handler.path)
        if number is not None:
            self.lists.append(number)
            if number in self.deadly:
                self.deadly.remove(number)
                self.life += 1
                os.killpg(self.victim, signal.SIGKILL)
        handler.send(200, body, kind)


def run_until_it_ends(folder: Path, web: PolicyWeb, argument: str, source: Source) -> CorpusCrawl:
    """The same command after each death. FRONTIER_LEASE_SECONDS: what was under way comes back soon."""
    settings = SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": web.port, "FRONTIER_LEASE_SECONDS": 2}
    command = [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", argument, *options(settings)]
    for _ in range(5):
        process = warm.Popen(command, cwd=PROJECT, env=clean_environment(), stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
        source.victim = process.pid
        done = finished(folder, process)
        if done.returncode != -signal.SIGKILL:
            return done
    raise AssertionError("it still dies")


def prose(topic: str) -> bytes:
    said = " ".join(f"On day {n} the {topic} guild met and wrote what {topic} cost." for n in range(14))
    return f"<!doctype html><main><p>{said}</p></main>".encode()


def kept_once(done: CorpusCrawl, urls: set[str]) -> None:
    assert done.returncode == 0, done.log[-3000:]
    assert Counter(one["url"] for one in done._records("shards")) == Counter(urls)
    assert not done.rejected


def test_a_harvest_killed_twice_loses_and_doubles_nothing_and_an_expired_token_begins_it_anew(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here = web.base("127.0.0.2")

        def said(source: Source, path: str) -> tuple[int | None, bytes, str]:
            asked = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
            if not path.startswith("/oai?"):
                return None, prose(path[1:]), "text/html"
            if asked["verb"] == "Identify":
                return None, answer(IDENTIFY), "text/xml"
            made, _, number = asked.get("resumptionToken", "0-0").partition("-")
            if "resumptionToken" in asked and int(made) != (
                source.life == 3
            ):  # the second death takes the tokens along
                return None, error("badResumptionToken"), "text/xml"
            at = int(number)
            items = (record(at * OF_A_LIST + n, f"{here}/p{at * OF_A_LIST + n}") for n in range(OF_A_LIST))
            token = f"{int(source.life == 3)}-{at + 1}" if at + 1 < LISTS else None
            return at, records(*items, token=token), "text/xml"

        source = Source([1, 2], said)
        web.site("127.0.0.2", source)
        done = run_until_it_ends(tmp_path / "corpus", web, f"oai={here}/oai", source)
        kept_once(done, {f"{here}/p{n}" for n in range(LISTS * OF_A_LIST)})
    assert source.life == 3
    assert source.lists == [0, 1, 1, 2, 0, 1, 2, 3]
    assert "the token of the list has expired: the harvest begins anew" in done.log


def test_lists_of_json_killed_twice_go_on_where_they_were(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here = web.base("127.0.0.2")

        def said(_: Source, path: str) -> tuple[int | None, bytes, str]:
            if not path.startswith("/lists"):
                return None, json.dumps({"body": prose(path[1:]).decode()}).encode(), "application/json"
            at = int(path.partition("cursor=")[2] or 0)
            rows = [{"id": at * OF_A_LIST + n} for n in range(OF_A_LIST)]
            onward = str(at + 1) if at + 1 < LISTS else None
            return at, json.dumps({"rows": rows, "next": onward}).encode(), "application/json"

        file = tmp_path / "api.yaml"
        file.write_text(f"list: {here}/lists?cursor={{cursor}}\nitems: rows\npages: {{by: cursor, at: next}}\n"
                        f"record: {here}/r/{{id}}\nfields: {{html: body}}\n")  # fmt: skip
        source = Source([1, 3], said)
        web.site("127.0.0.2", source)
        done = run_until_it_ends(tmp_path / "corpus", web, f"api={file}", source)
        kept_once(done, {f"{here}/r/{n}" for n in range(LISTS * OF_A_LIST)})
    assert source.lists == [0, 1, 1, 2, 3, 3]
