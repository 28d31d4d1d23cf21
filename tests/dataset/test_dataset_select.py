"""A subset of a corpus: which conditions there are, and what its manifest says."""

from __future__ import annotations

import hashlib

import orjson
import pytest

from crawler.dataset.exclude import Wish
from crawler.dataset.lifetimes import Lifetimes
from crawler.dataset.query import QueryError
from crawler.dataset.rewrite import read_files
from crawler.dataset.select import Selection, chosen_by, condition_of, select
from crawler.dataset.verify import verify
from crawler.seeds.scope import Scope
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_records
from tests.support.process import scrapy

RECORD = {
    "word_count": 500,
    "language": "de",
    "pii_flag": False,
    "license_tag": None,
    "crawled_at": "2026-05-03T00:00Z",
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("word_count>=500", True),
        ("word_count > 500", False),
        ("word_count!=500", False),
        ("word_count=500.0", True),
        ("language=de", True),
        ("language!=de", False),
        ("pii_flag=false", True),
        ("license_tag=CC0-1.0", False),
        ("license_tag!=CC0-1.0", True),
        ("crawled_at<2026-06", True),
    ],
)
def test_a_condition_compares_numbers_as_numbers_and_text_as_text(text, holds):
    assert condition_of(text).holds(RECORD) is holds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wordcount>3", "not a field of the record"),
        ("word_count", "expected FIELD=VALUE"),
        ("word_count>=many", "holds numbers"),
    ],
)
def test_a_condition_that_cannot_be_read_says_what_was_expected(text, words):
    with pytest.raises(ValueError, match=words):
        condition_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "word_count>500 or language in ('de')",
        "language IN ('de', 'fr')",
        "quality_signals->>'$.profile' = 'prose'",
        "license_tag is not null",
    ],
)
def test_sql_given_to_where_is_told_where_it_belongs(text):
    with pytest.raises(ValueError, match="--sql takes an SQL expression"):
        condition_of(text)


def test_a_value_with_the_words_of_sql_in_it_is_a_value():
    assert condition_of("title=war and peace or not in love").value == "war and peace or not in love"


@pytest.mark.parametrize("tag", ["CC-BY-SA-3.0-DE", "LicenseRef-CC-BY-SA-3.0-NL", "CC-BY-SA-4.0", None])
def test_a_licence_covers_no_port_of_it_and_no_other_version(tag):
    record = RECORD | {"url": "https://example.org/", "license_tag": tag}
    for named in ("CC-BY-SA-3.0", tag):
        of_licence = frozenset({named})
        assert Selection(licences=of_licence).wants(record) is (named == tag)
        assert Wish("revoked", licences=of_licence).concerns(record) is (named == tag)
        assert Lifetimes({str(named): 30}, Scope()).days_of(record) == (30 if named == tag and tag else None)


def test_a_subset_has_the_records_as_they_are_and_says_where_they_come_from(corpus, tmp_path):
    wanted = Selection(languages=frozenset({"en"}), licences=frozenset({"CC-BY-4.0"}), min_quality=0.3)
    target = Place(str(tmp_path / "subset"))
    before = {path: path.read_bytes() for path in corpus.path.rglob("*") if path.is_file()}
    run = select(corpus.place, target, wanted, max_bytes=1_000_000, now=1.8e9)
    records = [r for entry in read_files(target) for r in read_records(target, entry["path"])]
    expected = [
        r
        for r in corpus.records()
        if r["language"] == "en" and r["license_tag"] == "CC-BY-4.0" and r["quality_score"] >= 0.3
    ]
    assert records == expected and len(records) == 2
    after = {path: path.read_bytes() for path in corpus.path.rglob("*") if path.is_file()}
    assert not verify(target).damage and {path: after[path] for path in before} == before
    assert {path.parent.name for path in after.keys() - before.keys()} == {"derived"}  # where the subset is
    source = hashlib.sha256((corpus.path / "manifest.json").read_bytes()).hexdigest()
    listed = orjson.loads((tmp_path / "subset" / "manifest.json").read_bytes())["runs"][-1]
    assert listed == run and run["selected_from"]["manifest_sha256"] == source
    assert (run["selected_from"]["read"], run["selected_from"]["selected"]) == (12, 2)


def test_a_list_has_a_value_where_one_of_its_items_is_that_value():
    record = {"code_languages": ["python", "sql"], "pii_entity_types": []}
    assert condition_of("code_languages=sql").holds(record)
    assert not condition_of("code_languages!=sql").holds(record)
    assert not condition_of("pii_entity_types=IBAN_CODE").holds(record)
    assert condition_of("pii_entity_types!=IBAN_CODE").holds(record)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quality_signals=prose", "quality_signals holds objects; compare a part of it, or ask in SQL"),
        ("optout_signals=tdmrep", "optout_signals holds objects; compare a part of it, or ask in SQL"),
        ("redirects>=2", "redirects is a list; compare it by = or !="),
    ],
)
def test_a_condition_that_could_never_hold_says_so(text, said):
    with pytest.raises(ValueError, match=said):
        condition_of(text)


def test_a_domain_brings_its_subdomains_and_a_subdomain_is_one_of_them():
    record = {"url": "http://docs.cedar.example/1", "domain": "cedar.example"}
    wanted = [Selection(domains=frozenset({name})).wants(record) for name in ("cedar.example", "docs.cedar.example")]
    assert wanted == [True, True]
    assert not Selection(domains=frozenset({"www.cedar.example"})).wants(record)


def test_what_a_withdrawal_names_is_in_no_subset_although_it_was_cut_off(corpus, tmp_path):
    going = {"kind": "withdrawal", "number": 1, "time": "2027-01-01T00:00:00Z", "refused": ["cedar.example"]}
    (corpus.path / "withdrawals.jsonl").write_bytes(orjson.dumps(going) + b"\n")
    target = Place(str(tmp_path / "subset"))
    select(corpus.place, target, Selection(), max_bytes=1_000_000, now=1.8e9)
    records = [r for entry in read_files(target) for r in read_records(target, entry["path"])]
    assert records == [r for r in corpus.records() if r["domain"] != "cedar.example"]
    assert 0 < len(records) < len(corpus.records())


@pytest.mark.parametrize("exists", [True, False])
def test_a_selection_that_fails_leaves_no_folder_that_looks_like_a_corpus(corpus, tmp_path, exists):
    shard = max((corpus.path / "shards").glob("*.zst"))
    shard.write_bytes(shard.read_bytes()[:-9])
    if exists:
        (tmp_path / "subset").mkdir()
    with pytest.raises(StorageError, match=f"{shard}: cannot be read to its end"):
        select(corpus.place, Place(str(tmp_path / "subset")), Selection(), max_bytes=2_000, now=1.8e9)
    assert (tmp_path / "subset").exists() == exists and not list(tmp_path.glob("subset/*"))


def test_the_same_selection_gives_the_same_bytes(corpus, tmp_path):
    hashes = set()
    for name in ("one", "two"):
        target = Place(str(tmp_path / name))
        select(corpus.place, target, Selection(domains=frozenset({"cedar.example"})), max_bytes=2_000, now=1.8e9)
        hashes.add(tuple(entry["sha256"] for entry in target.manifest()["files"]))
    assert len(hashes) == 1 and len(next(iter(hashes))) > 1


def test_an_sql_condition_chooses_the_records_for_which_it_holds(corpus, tmp_path):
    sql = "language = 'en' AND (license_tag IS NULL OR quality_score < 0.3) -- a comment"
    wanted = Selection(sql=sql, chosen=chosen_by(corpus.place, sql))
    target = Place(str(tmp_path / "subset"))
    run = select(corpus.place, target, wanted, max_bytes=1_000_000, now=1.8e9)
    expected = [
        r for r in corpus.records() if r["language"] == "en" and (r["license_tag"] is None or r["quality_score"] < 0.3)
    ]
    assert [r for entry in read_files(target) for r in read_records(target, entry["path"])] == expected != []
    assert run["selected_from"]["sql"] == sql


@pytest.mark.parametrize(
    "sql",
    [
        "wordcount > 3",
        "1 = 1) UNION SELECT 'a', 'b', 'c' FROM documents WHERE (1 = 1",
        "TRUE); DROP VIEW documents; --",
    ],
)
def test_an_sql_condition_that_is_none_is_an_error(corpus, sql):
    with pytest.raises(QueryError):
        chosen_by(corpus.place, sql)


def test_an_sql_condition_goes_without_older_versions_which_the_index_has_not(corpus, tmp_path):
    command = ("dataset", "select", "--sql", "TRUE", "--all-versions", "--out", str(tmp_path / "out"))
    done = scrapy(*command, str(corpus.path))
    assert done.returncode == 2 and "leave out --all-versions" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_subset_says_every_condition_in_its_manifest_and_has_what_meets_them(corpus, tmp_path):
    texts = ("language = en or language = de", "not (license_tag = CC-BY-4.0 and quality_score < 0.3)")
    wanted = Selection(conditions=tuple(map(condition_of, texts)))
    target = Place(str(tmp_path / "subset"))
    run = select(corpus.place, target, wanted, max_bytes=1_000_000, now=1.8e9)
    records = [r for entry in read_files(target) for r in read_records(target, entry["path"])]
    assert records == [
        r for r in corpus.records()
        if r["language"] in ("en", "de") and not (r["license_tag"] == "CC-BY-4.0" and r["quality_score"] < 0.3)
    ] != []  # fmt: skip
    assert run["selected_from"]["where"] == [
        "language=en or language=de", "not (license_tag=CC-BY-4.0 and quality_score<0.3)",
    ]  # fmt: skip
