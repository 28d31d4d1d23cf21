"""A repository is harvested by the rules of every crawl, list by list, and the next run asks for what is new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.oai import IDENTIFY, answer, error, record, records
from tests.support.process import scrapy

XML = "text/xml; charset=utf-8"
BY = "https://creativecommons.org/licenses/by/4.0/"
SOON = {"RECRAWL": 1, "RECRAWL_MIN_SECONDS": 0, "RECRAWL_INTERVAL_SECONDS": 0}


def prose(topic: str) -> str:
    return " ".join(f"On day {n} the {topic} guild met and wrote down what the {topic} had cost." for n in range(14))


def page(topic: str) -> Answer:
    return Answer(body=f"<!doctype html><html><body><main><p>{prose(topic)}</p></main><a href=/out>x</a>".encode())


class Repository(dict[str, Answer]):
    """The routes of a site; what is asked of /oai is answered by a function of the arguments."""

    def __init__(self, answers: Callable[[dict[str, str]], bytes | Answer], **pages: Answer) -> None:
        super().__init__({f"/{name}": page for name, page in pages.items()})
        self.asked: list[dict[str, str]] = []
        self._answers = answers

    def get(self, path: str, default: Any = None) -> Any:
        if not path.startswith("/oai?"):
            return super().get(path, default)
        arguments = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        self.asked.append(arguments)
        if arguments == {"verb": "Identify"}:
            return Answer(body=answer(IDENTIFY), content_type=XML, headers=(("ETag", '"same"'),))
        found = self._answers(arguments)
        return found if isinstance(found, Answer) else Answer(body=found, content_type=XML)


def run(folder: Path, web: PolicyWeb, *given: str, **more: object) -> CorpusCrawl:
    settings = SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": web.port} | more
    arguments = [part for argument in given for part in ("-a", argument)]
    found = scrapy("crawl", "corpus", *arguments, settings=settings, timeout=300)
    return CorpusCrawl(folder, found.stderr, found.returncode)


def test_a_harvest_follows_tokens_waits_where_it_is_told_and_reads_pages_wherever_they_lie(tmp_path: Path) -> None:
    waits = [Answer(503, headers=(("Retry-After", "1"),))]
    with PolicyWeb() as web:
        here, there = web.base("127.0.0.2"), web.base("127.0.0.3")

        def answers(asked: dict[str, str]) -> bytes | Answer:
            if asked.get("resumptionToken") == "two":
                return waits.pop() if waits else records(record(3, f"{there}/doi"), record(4, "x"))
            if "from" in asked:
                return error("noRecordsMatch")
            return records(record(1, f"{here}/1", rights=(BY,)), record(2, f"{there}/2"), token="two")

        site = Repository(answers, **{"1": page("cooper")})
        web.site("127.0.0.2", site)
        moved = Answer(302, headers=(("Location", f"{web.base('127.0.0.4')}/3"),))
        web.site("127.0.0.3", {"/2": page("glover"), "/doi": moved, "/out": page("nobody")})
        web.site("127.0.0.4", {"/3": page("tanner")})
        done = run(tmp_path / "corpus", web, f"oai={here}/oai?set=a")
        assert done.returncode == 0, done.log[-3000:]
        assert sorted(done.kept) == [f"{here}/1", f"{there}/2", f"{web.base('127.0.0.4')}/3"]
        assert (done.kept[f"{here}/1"]["license_tag"], done.kept[f"{there}/2"]["license_tag"]) == (BY, None)
        assert [asked.get("resumptionToken", asked.get("set")) for asked in site.asked] == [None, "a", "two", "two"]
        assert "/out" not in web.asked["127.0.0.3"]
        assert "no_address" in done.log or "gives no address of a page" in done.log
        before = len(site.asked)
        again = run(tmp_path / "corpus", web, f"oai={here}/oai?set=a", **SOON)
        assert again.returncode == 0, again.log[-3000:]
        assert [asked.get("from") for asked in site.asked[before:]] == [None, "2026-11-20"]
    replayed = scrapy("crawl", "replay", "-a", f"archive={tmp_path}/corpus/archive/*.warc.gz",
                      settings=SETTINGS | {"CORPUS_DIR": tmp_path / "again"}, timeout=300)  # fmt: skip
    assert replayed.returncode == 0
    tags = {record["url"]: record["license_tag"] for record in CorpusCrawl(tmp_path / "again", "", 0).kept.values()}
    assert tags[f"{here}/1"] == BY


def test_a_harvest_that_ends_early_is_an_error_and_the_next_one_asks_for_all_again(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here, state = web.base("127.0.0.2"), {"down": True}

        def answers(asked: dict[str, str]) -> bytes | Answer:
            if (token := asked.get("resumptionToken")) is None:
                return records(record(1, f"{here}/1"), token="two")
            if token == "three" or not state["down"]:
                return records(record(3, f"{here}/3", status=' status="deleted"'))
            return error("badResumptionToken")

        site = Repository(answers, **{"1": page("cooper")})
        web.site("127.0.0.2", site)
        done = run(tmp_path / "corpus", web, f"oai={here}/oai")
        assert done.returncode == 1 and "badResumptionToken" in done.log
        assert sorted(done.kept) == [f"{here}/1"]
        assert sum("resumptionToken" in asked for asked in site.asked) == 4
        state["down"], before = False, len(site.asked)
        again = run(tmp_path / "corpus", web, f"oai={here}/oai", **SOON)
        assert again.returncode == 0, again.log[-3000:]
        assert "from" not in site.asked[before + 1] and site.asked[-1]["resumptionToken"] == "two"
        last = len(site.asked)
        run(tmp_path / "corpus", web, f"oai={here}/oai", **SOON)
        assert site.asked[last + 1]["from"] == "2026-11-20"


def test_the_page_of_a_deleted_record_is_asked_and_its_own_answer_decides(tmp_path: Path) -> None:
    with PolicyWeb() as web:
        here, gone = web.base("127.0.0.2"), set[str]()

        def answers(asked: dict[str, str]) -> bytes | Answer:
            headers = "".join(
                f"<header{' status=' + repr('deleted') if name in gone else ''}>"
                f"<identifier>oai:repo.example:{name}</identifier><datestamp>2026-11-02</datestamp></header>"
                for name in ("1", "2")
            )
            return answer(f"<{asked['verb']}>{headers}</{asked['verb']}>")

        site = Repository(answers, **{"1": page("cooper"), "2": page("glover")})
        web.site("127.0.0.2", site)
        given = (f"oai={here}/oai", f"oai_page={here}/{{id}}")
        first = run(tmp_path / "corpus", web, *given)
        assert sorted(first.kept) == [f"{here}/1", f"{here}/2"]
        assert site.asked[1]["verb"] == "ListIdentifiers"
        gone |= {"1", "2"}
        del site["/1"]
        later = {**SOON, "RECRAWL_INTERVAL_SECONDS": 10**6, "RECRAWL_MIN_SECONDS": 0}
        again = run(tmp_path / "corpus", web, *given, **later)
        assert again.returncode == 0, again.log[-3000:]
        assert again.rejected[f"{here}/1"]["reason"] == "gone"
        assert f"{here}/2" in CorpusCrawl(tmp_path / "corpus", "", 0).kept
