"""Documents past the lifetime of their licence or domain leave the corpus: records, texts and raw pages."""

from __future__ import annotations

from datetime import datetime

import pytest

from crawler.config import ConfigError, from_mapping
from crawler.dataset.exclude import refused_domains, refused_licences
from crawler.dataset.lifetimes import Lifetimes, lapsed
from crawler.dataset.verify import verify
from crawler.document import Drop, DropReason
from crawler.operations import expire
from crawler.storage.archive.reader import read_archive
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from tests.support.corpus_folder import document, exchange
from tests.support.operations import problems_of
from tests.support.three_domains import secret

FETCHED = datetime.fromisoformat("2026-01-01T00:00:00Z").timestamp()
DAY = 86_400.0


def called(monkeypatch, folder, *arguments: str, days: float = 40.0, **settings: object) -> list[str]:
    """`gristmill dataset expire`, so many days after the pages were fetched."""
    monkeypatch.setattr("time.time", lambda: FETCHED + days * DAY)
    return problems_of(expire.WORK, *arguments, folder.path, **settings)


def domains(corpus) -> set[str]:
    return {record["domain"] for record in corpus.records()}


@pytest.mark.parametrize(
    ("lifetimes", "left"),
    [
        ("birch.example:30", {"alder.example", "cedar.example"}),
        ("birch.example:50", {"alder.example", "birch.example", "cedar.example"}),
        ("CC-BY-4.0:30", {"cedar.example"}),
        ("*:30", set()),
        ("*:30,CC-BY-4.0:300", {"alder.example", "birch.example"}),
        ("CC-BY-4.0:300,alder.example:30", {"birch.example", "cedar.example"}),  # the shortest holds
        ("www.birch.example:30", {"alder.example", "birch.example", "cedar.example"}),  # its odd pages only
    ],
)
def test_a_lifetime_holds_for_a_licence_a_domain_or_everything_else(corpus, monkeypatch, lifetimes, left):
    assert called(monkeypatch, corpus, DOCUMENT_TTL_DAYS=lifetimes) == []
    assert domains(corpus) == left
    assert not verify(corpus.place).damage


def test_no_byte_of_what_lapsed_is_left_and_nothing_is_refused_to_later_crawls(corpus, monkeypatch):
    texts = {number: secret("birch.example", number).encode() for number in range(6)}
    before = corpus.everything()
    assert all(text in before for text in texts.values())
    assert called(monkeypatch, corpus, DOCUMENT_TTL_DAYS="birch.example:30") == []
    after = corpus.everything()
    assert not any(text in after for text in texts.values())
    assert secret("alder.example", 0).encode() in after
    assert refused_domains(corpus.place) == refused_licences(corpus.place) == frozenset()
    lineage = corpus.manifest()["lineage"]
    assert [(v["operation"], v["reason"]) for v in lineage] == [
        ("dataset expire documents", "older than documents may become here: birch.example 30 days")
    ]


def test_the_allowlist_gives_ages_too_and_the_longest_entry_decides(corpus, monkeypatch, tmp_path):
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(
        "defaults: {tier: A, licence: x, ttl_days: 30}\n"
        "domains:\n- domain: alder.example\n- {domain: birch.example, ttl_days: 300}\n"
    )
    assert called(monkeypatch, corpus, "--allowlist", str(allowlist)) == []
    assert domains(corpus) == {"birch.example", "cedar.example"}


def test_a_dry_run_says_what_would_go_and_changes_nothing(corpus, monkeypatch, capsys):
    before = corpus.everything()
    assert called(monkeypatch, corpus, "--dry-run", DOCUMENT_TTL_DAYS="birch.example:30") == []
    assert "4 kept documents" in capsys.readouterr().out
    assert corpus.everything() == before


def test_a_second_call_finds_nothing_and_makes_no_version(corpus, monkeypatch, capsys):
    for _ in range(2):
        assert called(monkeypatch, corpus, DOCUMENT_TTL_DAYS="birch.example:30") == []
    assert corpus.manifest()["version"] == 2
    assert "no document is older than its limit (birch.example 30 days)" in capsys.readouterr().out


def test_without_any_age_the_command_says_where_one_is_given(corpus, monkeypatch):
    (problem,) = called(monkeypatch, corpus)
    assert "ARCHIVE_TTL_DAYS or DOCUMENT_TTL_DAYS" in problem and "--allowlist" in problem


def test_archives_and_documents_expire_in_one_call(corpus, monkeypatch, capsys):
    settings = {"DOCUMENT_TTL_DAYS": "birch.example:30", "ARCHIVE_TTL_DAYS": 20}
    assert called(monkeypatch, corpus, **settings) == []
    assert "removed 1 archive," in capsys.readouterr().out
    assert domains(corpus) == {"alder.example", "cedar.example"}


def refetched(folder, number: int, moment: str, worker: str = "") -> None:
    """The page once more, with another text, at a later time."""
    corpus: Corpus = folder.opened(worker=worker or f"w{moment[5:7]}")
    place = corpus.archive(exchange(number, body=moment.encode()))
    corpus.keep(
        record_of(
            document(
                number, crawled_at=moment, text=f"As of {moment}. " * 20, warc_file=place.file,
                warc_record_id=place.record_id, warc_offset=place.offset,
            )
        )
    )  # fmt: skip
    corpus.close()


@pytest.mark.parametrize("later_worker", ["a", "z"])  # its file is read before the other, or after it
def test_a_page_that_was_fetched_again_stays_with_all_its_records_until_the_latest_is_too_old(
    folder, monkeypatch, later_worker
):
    refetched(folder, 1, "2026-01-01T00:00:00Z")
    refetched(folder, 1, "2026-02-05T00:00:00Z", later_worker)
    refetched(folder, 2, "2026-01-01T00:00:00Z")
    place = Place(str(folder.path))
    lifetimes = Lifetimes.of(["example.org:30"])
    assert lapsed(place, lifetimes, now=FETCHED + 40 * DAY) == {"https://example.org/2"}
    assert lapsed(place, lifetimes, now=FETCHED + 66 * DAY) == {"https://example.org/1", "https://example.org/2"}
    assert called(monkeypatch, folder, DOCUMENT_TTL_DAYS="example.org:30") == []
    assert {record["crawled_at"][5:7] for record in folder.records()} == {"01", "02"}
    assert not verify(place).damage


def test_a_page_that_comes_back_after_it_lapsed_keeps_its_raw_page_when_others_lapse(folder, monkeypatch):
    refetched(folder, 1, "2026-01-01T00:00:00Z")
    assert called(monkeypatch, folder, days=40, DOCUMENT_TTL_DAYS="*:30") == []
    assert folder.records() == []
    refetched(folder, 2, "2026-02-15T00:00:00Z")
    refetched(folder, 1, "2026-03-15T00:00:00Z")
    assert called(monkeypatch, folder, days=80, DOCUMENT_TTL_DAYS="*:30") == []
    (record,) = folder.records()
    assert record["url"] == "https://example.org/1"
    assert [page.url for page in read_archive(str(folder.path / record["warc_file"]))] == ["https://example.org/1"]


def test_a_visit_that_found_the_page_unchanged_renews_nothing(folder, monkeypatch):
    refetched(folder, 1, "2026-01-01T00:00:00Z")
    corpus: Corpus = folder.opened(worker="later")
    visit = document(1, crawled_at="2026-02-05T00:00:00Z", text="", warc_file="archive/x.warc.gz", warc_offset=0)
    corpus.reject(rejection_of(visit, Drop("fetch", DropReason.UNCHANGED, "same content hash")))
    corpus.close()
    lifetimes = Lifetimes.of(["example.org:30"])
    assert lapsed(Place(str(folder.path)), lifetimes, now=FETCHED + 40 * DAY) == {"https://example.org/1"}


@pytest.mark.parametrize("value", ["example.org", "example.org:0", "example.org:-3", ":30", "a:30,b:soon"])
def test_a_lifetime_that_cannot_be_read_is_a_problem_of_the_start(value):
    with pytest.raises(ConfigError, match="expected a licence tag, a domain or \\*, and days above 0"):
        from_mapping({"DOCUMENT_TTL_DAYS": value})
