"""Of the copies of one text the best is kept, in a corpus of real crawls and in made ones."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from crawler.config import from_mapping
from crawler.dataset.best import exchange, find
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.rewrite import rewrite
from crawler.dataset.verify import verify
from crawler.dataset.versions import Cause
from crawler.document import RECORD_FIELDS, Drop, DropReason
from crawler.operations.best import WORK
from crawler.operations.declared import WrongCall
from crawler.stages.fingerprint import FingerprintStage
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of, spans_in
from tests.support.corpus_folder import Folder, document
from tests.support.noted import manifest_hash, noted
from tests.support.operations import answer_of, problems_of
from tests.support.serving import Handler, LoopbackServer, article, prose

NOW = 1_800_000_000.0
CONFIG = from_mapping({})
PLAIN, BETTER, OTHER = "127.0.7.2", "127.0.7.3", "127.0.7.4"


class Mirrors(LoopbackServer):
    """The same two pages on every address; each names somebody to write to."""

    def __init__(self) -> None:
        super().__init__(MirrorHandler)


class MirrorHandler(Handler):
    def respond(self) -> None:
        if self.path in {"/a", "/b"}:
            name = self.path[1:]
            note = f"<p>Questions about this page go to jane.doe.{name}@meadow-mail.net at any time of the year.</p>"
            self.send(200, article(f"mirror {self.path}", note=note))
        else:
            self.send(404)


@pytest.fixture
def mirrored(crawl, tmp_path):
    """Crawled in this order: a site without a licence, one of tier A, one of tier B."""
    with Mirrors() as web:
        base = [f"http://{host}:{web.port}" for host in (PLAIN, BETTER, OTHER)]
        for number, (host, tier) in enumerate(((BETTER, "A"), (OTHER, "B"))):
            entry = f'- {{domain: "{host}:{web.port}", tier: {tier}, licence: CC0-1.0, discovery: links}}\n'
            (tmp_path / f"{number}.yaml").write_text(entry)
        for number, site in enumerate(base):
            arguments = {"url": f"{site}/a,{site}/b"}
            arguments |= {"allowlist": str(tmp_path / f"{number - 1}.yaml")} if number else {}
            done = crawl.run(arguments, NETWORK_PORTS=web.port)
            assert done.returncode == 0, done.stderr
    assert {r["domain"] for r in crawl.records()} == {f"{PLAIN}:{web.port}"}
    return Place(str(crawl.folder)), web.port


def by_url(crawl, folder: str = "shards") -> dict[str, dict[str, Any]]:
    return {str(r["url"]): r for r in crawl.records(folder)}


def digests(folder: Path) -> dict[str, str]:
    names = (p for sub in ("shards", "rejected") for p in sorted((folder / sub).iterdir()) if ".lock" not in p.name)
    return {f"{p.parent.name}/{p.name}": hashlib.sha256(p.read_bytes()).hexdigest() for p in names}


def test_the_copy_with_the_better_licence_is_kept_with_its_own_provenance(crawl, mirrored, tmp_path):
    place, port = mirrored
    before, twin = by_url(crawl, "rejected"), tmp_path / "twin"
    shutil.copytree(crawl.folder, twin)
    version = manifest_hash(crawl.folder)
    found, done = exchange(place, CONFIG, now=NOW)
    assert noted(crawl.folder, version)["operation"] == "dataset best"
    assert (found.clusters, found.copies, found.without_text, len(found.exchanges)) == (2, 4, 0, 2)
    kept = by_url(crawl)
    assert set(kept) == {f"http://{BETTER}:{port}/{name}" for name in "ab"}
    for url, record in kept.items():
        assert list(record) == list(RECORD_FIELDS)
        assert record["license_tier"] == "A"
        assert record["dup_of"] is record["dup_similarity"] is None
        assert [record["text"][start:end] for start, end, _ in spans_in(record, "pii_spans")]
        assert len(spans_in(record, "pii_spans")) == record["pii_span_count"] > 0
        for name in ("warc_file", "warc_offset", "crawled_at", "quality_score", "doc_id"):
            assert record[name] == before[url][name]
    rejected = by_url(crawl, "rejected")
    for name in "ab":
        for host in (PLAIN, OTHER):
            assert rejected[f"http://{host}:{port}/{name}"]["dup_of"] == f"http://{BETTER}:{port}/{name}"
    checked = verify(place)
    assert (checked.damage, checked.surplus) == ([], [])
    assert place.manifest()["lineage"][-1]["operation"] == "dataset best"
    exchange(Place(str(twin)), CONFIG, now=NOW)
    assert digests(twin) == digests(crawl.folder)
    again, same = exchange(place, CONFIG, now=NOW + 1)
    assert again.exchanges == []
    assert same.version == done.version


def test_a_withdrawn_copy_does_not_come_back(crawl, mirrored):
    place, port = mirrored
    withdraw(place, Wish("asked", domains=frozenset({f"{BETTER}:{port}"})), now=NOW)
    found, _ = exchange(place, CONFIG, now=NOW)
    assert set(by_url(crawl)) == {f"http://{OTHER}:{port}/{name}" for name in "ab"}
    assert (found.copies, found.without_text) == (2, 2)
    gone = {u: r for u, r in by_url(crawl, "rejected").items() if BETTER in u}
    assert gone
    assert all("text" not in r and "pii_spans" not in r for r in gone.values())


# --- made corpora -----------------------------------------------------------------------------------------------------

TEXT = " ".join(prose("what two sites show", 300))


def made(number: int, text: str = TEXT, **values: Any):
    doc = document(number, text=text, **values)
    FingerprintStage(CONFIG.dedup)(doc)
    return doc


def corpus(folder: Folder, kept: dict[str, Any], *copies: dict[str, Any], reason=DropReason.EXACT_DUPLICATE) -> Place:
    opened = folder.opened()
    opened.keep(record_of(made(0, **kept)))
    for number, values in enumerate(copies, start=1):
        doc = made(number, **{"dup_of": "https://example.org/0", "dup_similarity": 1.0, **values})
        opened.reject(rejection_of(doc, Drop("exact", reason, "of https://example.org/0")))
    opened.close()
    return Place(str(folder.path))


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(tmp_path / "corpus")


@pytest.mark.parametrize(
    ("kept", "copy", "better"),
    [
        ({"license_tier": "B"}, {"license_tier": "A", "quality_score": 0.3}, True),
        ({"license_tier": "A"}, {"license_tier": "B", "quality_score": 0.99}, False),
        ({}, {"license_tier": "B"}, True),
        ({"quality_score": 0.5}, {"quality_score": 0.6}, True),
        ({"quality_score": 0.501}, {"quality_score": 0.502}, False),
        ({"pub_date": "2024-05-01"}, {"pub_date": "2020-01-01"}, True),
        ({}, {"pub_date": "2020-01-01"}, True),
        ({"pub_date": "2020-01-01"}, {}, False),
        ({}, {}, False),
    ],
)
def test_tier_comes_before_quality_before_the_date_and_what_is_kept_stays_among_equals(folder, kept, copy, better):
    found = find(corpus(folder, kept, copy), CONFIG, now=NOW)
    assert [e.better["url"] for e in found.exchanges] == (["https://example.org/1"] if better else [])


def test_of_several_better_copies_the_best_is_kept(folder):
    place = corpus(
        folder, {}, {"license_tier": "B"}, {"license_tier": "A"}, {"license_tier": "A", "quality_score": 0.9}
    )
    assert [e.better["url"] for e in find(place, CONFIG, now=NOW).exchanges] == ["https://example.org/3"]


@pytest.mark.parametrize(
    "copy",
    [
        {"text": "Quite another text. " * 60},
        {"text_allowed": False},
        {"dup_of": "https://example.org/none"},
        {"canonical_url": "https://example.org/0"},
    ],
    ids=["its owner has changed since", "no text was stored", "its owner is not kept", "the page itself is kept"],
)
def test_what_cannot_stand_in_does_not(folder, copy):
    place = corpus(folder, {}, {"license_tier": "A", **copy})
    assert find(place, CONFIG, now=NOW).exchanges == []


def test_a_near_duplicate_stands_in_with_its_similarity(folder):
    near = TEXT + " Printed with the leave of the other site."
    place = corpus(folder, {}, {"license_tier": "A", "text": near}, reason=DropReason.NEAR_DUPLICATE)
    found, _ = exchange(place, CONFIG, now=NOW)
    assert CONFIG.dedup.threshold <= found.exchanges[0].similarity < 1
    (rejected,) = folder.records("rejected")
    assert (rejected["reason"], rejected["dup_of"]) == ("near_duplicate", "https://example.org/1")
    assert folder.records()[0]["text"] == near
    assert find(place, CONFIG, now=NOW).exchanges == []


def test_a_copy_that_is_older_than_documents_may_become_is_not_kept_anew(folder):
    place = corpus(folder, {}, {"license_tier": "A", "license_tag": "CC-BY-NC-4.0"})
    old = from_mapping({"DOCUMENT_TTL_DAYS": "CC-BY-NC-4.0:1"})
    assert find(place, old, now=NOW).exchanges == []
    assert len(find(place, CONFIG, now=NOW).exchanges) == 1


def test_a_duplicate_of_an_older_version_without_its_placeholders_is_counted(folder):
    opened = folder.opened()
    opened.keep(record_of(made(0)))
    doc = made(1, license_tier="A", dup_of="https://example.org/0", pii_span_count=1)
    record = rejection_of(doc, Drop("exact", DropReason.EXACT_DUPLICATE))
    del record["pii_spans"]
    opened.reject(record)
    opened.close()
    found = find(Place(str(folder.path)), CONFIG, now=NOW)
    assert (found.copies, found.without_text, found.exchanges) == (0, 1, [])


@pytest.mark.parametrize("operation", ["dataset substrings --remove", "dataset contaminated --remove"])
def test_after_passages_or_pages_were_taken_out_a_copy_would_bring_them_back(folder, operation):
    place = corpus(folder, {}, {"license_tier": "A"})
    rewrite(place, lambda r: r | {"text": r["text"][9:]}, Cause(operation, "test", NOW))
    with pytest.raises(StorageError, match="Choose the best copies first"):
        find(place, CONFIG, now=NOW)


def test_the_command_lists_then_exchanges_then_has_nothing_to_do(folder, monkeypatch, tmp_path, capsys):
    corpus(folder, {}, {"license_tier": "A"}, {"text_allowed": False})
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> str:
        assert problems_of(WORK, *words, "corpus") == []
        return capsys.readouterr().out

    said = call()
    assert "1 of 1 kept documents with duplicates have a better copy\n  https://example.org/1\n" in said
    assert "1 duplicates cannot replace it" in said
    assert folder.records()[0]["url"] == "https://example.org/0"
    assert answer_of(WORK, "corpus").facts["exchanges"] == [
        {"kept": "https://example.org/0", "better": "https://example.org/1", "similarity": 1.0}
    ]
    assert "version 2 keeps the better copies" in call("--exchange")
    assert folder.records()[0]["url"] == "https://example.org/1"
    assert call("--exchange", "--drop-old").startswith("0 of 1 kept documents")
    with pytest.raises(WrongCall, match="--drop-old goes with --exchange"):
        call("--drop-old")
