"""The judge is judged: a faithful crawl passes, and every single kind of misbehaviour is noticed."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import pytest
import zstandard

from demo import verdicts
from demo.expectations import Fate, expected_outcomes
from demo.outputs import Access, CorpusRecords, Record, read_access_log, read_corpus
from demo.pages import load_web
from demo.render import Web

SITES = load_web()
WEB = Web(SITES, {name: f"http://127.0.0.{site.number}:8080" for name, site in SITES.items()})
OUTCOMES = expected_outcomes(WEB)
DELAY, TOLERANCE = 0.2, 0.01


def kept(url: str) -> Record:
    text = " ".join(OUTCOMES[url].contains)
    return {"url": url, "canonical_url": url, "text": text, "language": OUTCOMES[url].language}


def rejected(url: str, reason: str) -> Record:
    return {"url": url, "canonical_url": url, "reason": reason, "detail": "", "title": None}


def faithful() -> tuple[CorpusRecords, list[Access]]:
    corpus, owners = CorpusRecords([], []), dict[str, str]()
    for url, outcome in sorted(OUTCOMES.items()):
        if outcome.fate is Fate.KEPT or (outcome.group and outcome.group not in owners):
            owners[outcome.group] = url
            corpus.kept.append(kept(url))
        elif outcome.fate is not Fate.UNSEEN:
            duplicate = {"dup_of": owners[outcome.group]} if outcome.group else {}
            corpus.rejected.append(rejected(url, min(outcome.reasons)) | duplicate)
    return corpus, polite_log()


def polite_log() -> list[Access]:
    log = []
    for site, base in WEB.bases.items():
        paths = [u.removeprefix(base) for u, o in OUTCOMES.items() if u.startswith(base) for _ in range(o.requests[0])]
        if site != "stranger":
            address = base.removeprefix("http://")
            log += [Access(i * DELAY, address, "GET", p, 200, "Bot") for i, p in enumerate(["/robots.txt", *paths])]
    return log


def problems(corpus: CorpusRecords, log: list[Access]) -> list[str]:
    return verdicts.all_problems(WEB, corpus, log, DELAY, TOLERANCE)


def url_of(fate: Fate, index: int = 0) -> str:
    return [u for u, o in OUTCOMES.items() if o.fate is fate][index]


def index_of(records: list[Record], url: str) -> int:
    return next(i for i, r in enumerate(records) if r["url"] == url)


def test_a_faithful_crawl_has_no_problems() -> None:
    assert problems(*faithful()) == []


def test_a_lost_page_is_noticed() -> None:
    corpus, log = faithful()
    lost = corpus.kept.pop(5)["url"]
    assert any(lost in p and "but is nothing" in p for p in problems(corpus, log))


def test_a_page_that_was_kept_twice_is_noticed() -> None:
    corpus, log = faithful()
    corpus.kept.append(corpus.kept[0])
    assert "kept, kept" in problems(corpus, log)[0]


def test_a_page_in_both_places_is_noticed() -> None:
    corpus, log = faithful()
    corpus.rejected.append(rejected(url_of(Fate.KEPT), "too_short"))
    assert "but is kept, rejected too_short" in problems(corpus, log)[0]


def test_a_wrong_reason_is_noticed() -> None:
    corpus, log = faithful()
    corpus.rejected[0]["reason"] = "stage_error"
    assert "rejected stage_error" in problems(corpus, log)[0]


def test_a_page_that_should_be_unseen_is_noticed() -> None:
    corpus, log = faithful()
    corpus.rejected.append(rejected(url_of(Fate.UNSEEN), "too_short"))
    assert "must stay unseen" in problems(corpus, log)[0]


def test_a_twin_that_was_kept_as_well_is_noticed() -> None:
    corpus, log = faithful()
    twin = next(
        r for r in corpus.rejected if r["reason"] in verdicts.expected_outcomes(WEB)[r["url"]].reasons and "dup_of" in r
    )
    corpus.rejected.remove(twin)
    corpus.kept.append(kept(twin["url"]))
    assert any("exactly one must be kept, but 2 are" in p for p in problems(corpus, log))


def test_a_duplicate_of_something_else_is_noticed() -> None:
    corpus, log = faithful()
    next(r for r in corpus.rejected if "dup_of" in r)["dup_of"] = "http://elsewhere/"
    assert any("dup_of is 'http://elsewhere/'" in p for p in problems(corpus, log))


def test_an_address_that_was_not_redacted_is_noticed() -> None:
    corpus, log = faithful()
    url = WEB.url("@registry/people/helpers", "registry")
    corpus.kept[index_of(corpus.kept, url)]["text"] += " jonna.veldt@hof.example"
    assert problems(corpus, log) == [f"{url}: the text holds 'jonna.veldt@hof.example'"]


def test_a_cookie_banner_in_a_text_is_noticed() -> None:
    corpus, log = faithful()
    url = WEB.url("@workshop/repair/zip", "workshop")
    corpus.kept[index_of(corpus.kept, url)]["text"] += "\nWe value your privacy."
    assert problems(corpus, log) == [f"{url}: the text holds 'We value your privacy'"]


def test_a_wrong_language_is_noticed() -> None:
    corpus, log = faithful()
    corpus.kept[0]["language"] = "eo"
    assert "language is eo" in problems(corpus, log)[0]


def test_text_of_an_opted_out_page_in_a_rejected_record_is_noticed() -> None:
    corpus, log = faithful()
    next(r for r in corpus.rejected if r["reason"] == "optout")["text"] = "The letters are ordinary."
    assert "its record holds text" in problems(corpus, log)[0]


def test_a_request_to_a_disallowed_page_is_noticed() -> None:
    corpus, log = faithful()
    address = WEB.bases["registry"].removeprefix("http://")
    log.append(Access(1e6, address, "GET", "/private/ledger", 200, "Bot"))
    assert any("requested 1 times, expected 0" in p for p in problems(corpus, log))


def test_a_second_request_under_a_tracking_parameter_is_noticed() -> None:
    corpus, log = faithful()
    address = WEB.bases["workshop"].removeprefix("http://")
    log.append(Access(1e6, address, "GET", "/repair/zip?utm_source=x", 200, "Bot"))
    assert any("/repair/zip: requested 2 times, expected 1" in p for p in problems(corpus, log))


def test_a_request_to_a_stranger_is_noticed() -> None:
    corpus, log = faithful()
    address = WEB.bases["stranger"].removeprefix("http://")
    log.append(Access(1e6, address, "GET", "/robots.txt", 200, "Bot"))
    log.append(Access(2e6, address, "GET", "/", 200, "Bot"))
    assert any(p.startswith(WEB.bases["stranger"] + "/: requested 1 times") for p in problems(corpus, log))


def test_a_page_before_robots_txt_is_noticed() -> None:
    corpus, log = faithful()
    log.sort(key=lambda a: (a.page == "/robots.txt", a.time))
    assert any("was requested before robots.txt" in p for p in problems(corpus, log))


def test_requests_that_follow_too_closely_are_noticed() -> None:
    corpus, log = faithful()
    log[2] = dataclasses.replace(log[2], time=log[1].time + DELAY / 2)
    assert any("after 0.100 s, expected 0.2 s" in p for p in problems(corpus, log))


def test_a_steady_rate_that_is_too_high_is_noticed_over_a_longer_span() -> None:
    log = [Access(i * 0.9 * DELAY, "a:1", "GET", f"/{i}", 200, "Bot") for i in range(8)]
    assert verdicts.impolite_gaps(log, DELAY, tolerance=0.05) == []
    assert len(verdicts.impolite_gaps(log, DELAY, tolerance=0.05, gaps=5)) == 3


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_records_are_read_from_every_shard_format(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "shards").mkdir()
    lines = [json.dumps({"url": f"http://a/{i}", "text": "é"}).encode() + b"\n" for i in range(3)]
    pack = {".jsonl": bytes, ".jsonl.gz": gzip.compress, ".jsonl.zst": zstandard.compress}[suffix]
    (tmp_path / "shards" / f"crawl-w-000000{suffix}").write_bytes(b"".join(pack(line) for line in lines))
    assert [r["url"] for r in read_corpus(tmp_path).kept] == ["http://a/0", "http://a/1", "http://a/2"]


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no crawl wrote here"):
        read_corpus(tmp_path)


def test_a_missing_access_log_means_no_requests(tmp_path: Path) -> None:
    assert read_access_log(tmp_path / "access.jsonl") == []
