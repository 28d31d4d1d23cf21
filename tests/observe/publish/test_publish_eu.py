"""`gristmill report --eu`: the template's sections, numbers that come from the corpus, and bytes that do not move."""

from __future__ import annotations

import importlib.util
import itertools
import json
import subprocess
import sys
import uuid
from collections import Counter
from pathlib import Path

import pytest
import yaml

from crawler.config import from_mapping
from crawler.dataset.exclude import PUBLISHED, Wish, withdraw
from crawler.dataset.rewrite import read_files
from crawler.dataset.select import Selection, select
from crawler.document import RECORD_FIELDS, Document, Drop, DropReason, Signal
from crawler.observe.publish import croissant, dataset_card, eu_summary
from crawler.observe.publish.eu_summary import TO_COMPLETE
from crawler.observe.publish.provenance import gather
from crawler.observe.write import write_provenance
from crawler.policy.facts import Signed, checked_facts
from crawler.policy.signals.registry import refusals, versions
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from crawler.storage.files.shards import read_records
from tests.support.process import scrapy

SECTIONS = [
    *(
        "1",
        "1.1",
        "1.2",
        "1.3",
        "2",
        "2.1",
        "2.2",
        "2.2.1",
        "2.2.2",
        "2.3",
        "2.4",
        "2.5",
        "2.6",
        "3",
        "3.1",
        "3.2",
        "3.3",
    )
]
WRITTEN = PUBLISHED


AGENT = "https://bot.example.org/.well-known/http-message-signatures-directory"


def fill(path: Path, signed: Signed | None = None, **settings: object) -> None:
    """25 domains; domain number n has n pages; the first five pages of each are English."""
    ticks, ids = itertools.count(1_767_225_600), itertools.count(1)
    values = {"CORPUS_DIR": str(path), "WORKER_ID": "w1", "CRAWLER_CONTACT": "https://example.org/bot"}
    config = from_mapping(values | settings)
    corpus = Corpus(
        config,
        clock=lambda: float(next(ticks)),
        new_id=lambda: str(uuid.UUID(int=next(ids))),
        signed=lambda: signed,
    )
    corpus.open()
    for domain in range(1, 26):
        for number in range(domain):
            doc = page(domain, number)
            corpus.keep(record_of(doc))
    for number, reason in enumerate([DropReason.ROBOTS_DISALLOWED, DropReason.OPTOUT, DropReason.OPTOUT]):
        doc = Document(url=f"https://no.example/{number}", domain="no.example")
        corpus.reject(rejection_of(doc, Drop("robots", reason, "said no")))
    corpus.close()


def page(domain: int, number: int) -> Document:
    url = f"https://d{domain}.example/{number}"
    return Document(
        url=url,
        canonical_url=url,
        domain=f"d{domain}.example",
        text="word " * 10 * domain,
        char_count=50 * domain,
        word_count=10 * domain,
        token_estimate=13 * domain,
        language="en" if number < 5 else "de",
        license_tag="CC-BY-4.0" if domain % 2 else None,
        license_tier="A" if domain % 2 else None,
        pii_flag=number == 0,
        method_used={1: "js", 2: "captured"}.get(number, "fast"),
        render_signals={"browser": {"requests": 1}} if number in (1, 2, 3) else {},
        pii_entity_types=["EMAIL_ADDRESS"] if number == 0 else [],
        crawled_at=f"2026-0{1 + number % 3}-15T00:00:00Z",
        optout_signals=[Signal("tdmrep", "header", "0", "allow")] if number == 0 else [],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("eu") / "corpus"
    fill(path)
    write_provenance(str(path))
    return path


@pytest.fixture(scope="module")
def found(folder):
    return gather(str(folder))


@pytest.fixture(scope="module")
def summary(folder):
    return json.loads((folder / "eu_summary.json").read_bytes())


def value(summary, number, label):
    (section,) = [section for section in summary["sections"] if section["number"] == number]
    return next(field["value"] for field in section["fields"] if field["label"].startswith(label))


def test_every_section_of_the_template_is_there_in_its_order(summary, folder):
    assert [section["number"] for section in summary["sections"]] == SECTIONS
    text = (folder / "eu_summary.md").read_text()
    places = [text.index(f"# {section['number']}. {section['title']}") for section in summary["sections"]]
    assert places == sorted(places)


def test_what_only_the_provider_knows_is_marked_and_nothing_else(summary):
    fields = [(s["number"], f) for s in summary["sections"] for f in s["fields"]]
    assert all((field["value"] == TO_COMPLETE) == (not field["from_the_crawl"]) for _, field in fields)
    marked = {number for number, field in fields if not field["from_the_crawl"]}
    assert {"1.1", "1.2", "2.1", "2.2.1", "2.2.2", "2.4", "2.5", "2.6", "3.1", "3.2"} <= marked
    assert {field["label"] for number, field in fields if number == "2.3" and not field["from_the_crawl"]} == {
        "Purposes of the crawler(s)"
    }


def test_the_numbers_are_those_of_the_shards(folder, summary):
    records = [r for e in read_files(Place(str(folder))) for r in read_records(Place(str(folder)), e["path"])]
    words, tokens = sum(r["word_count"] for r in records), sum(r["token_estimate"] for r in records)
    size = value(summary, "1.3", "Training data size: text of this corpus")
    assert size == (
        f"less than 1 billion tokens: {tokens:,} tokens (estimated), {words:,} words in {len(records):,} documents"
    )
    assert value(summary, "2.3", "Period") == "01/2026 to 03/2026"
    languages = Counter(r["language"] for r in records)
    assert value(summary, "1.3", "Linguistic") == f"de {languages['de']}, en {languages['en']} documents"


def test_pages_whose_scripts_ran_are_counted_whichever_text_won(folder, summary):
    records = [r for e in read_files(Place(str(folder))) for r in read_records(Place(str(folder)), e["path"])]
    ran = [r["method_used"] for r in records if "browser" in (r["render_signals"] or {})]
    assert {"js", "captured", "fast"} == set(ran)
    said = value(summary, "2.3", "Pages whose scripts were run")
    assert said.startswith(f"{len(ran)} of {len(records)} kept documents")
    assert f"drew in {ran.count('js')} and JSON that scripts fetched in {ran.count('captured')}" in said


def test_the_largest_tenth_of_the_domains_is_listed_by_size(folder, summary):
    listed = summary["domains_crawled"]
    assert listed["all"] == 25 and listed["sme_top_5_percent_or_1000"] == 2
    assert [row["domain"] for row in listed["top_10_percent"]] == ["d25.example", "d24.example", "d23.example"]
    assert listed["top_10_percent"][0] == {
        "domain": "d25.example",
        "documents": 25,
        "words": 25 * 250,
        "characters": 25 * 1250,
    }
    assert "| d25.example | 25 | 31,250 |" in (folder / "eu_summary.md").read_text()


def test_crawler_profile_and_every_detector_with_its_version_come_from_the_manifest(found, summary):
    assert value(summary, "2.3", "Crawler name").startswith("CorpusBot/")
    assert "https://example.org/bot" in value(summary, "2.3", "Crawler name")
    measures = value(summary, "3.1", "Measures")
    assert "profile strict" in measures
    obeyed = {name: version for name, version in versions().items() if name in refusals()}
    assert all(f"{name} version {version}" in measures for name, version in obeyed.items())
    assert not any(name in measures for name in versions().keys() - refusals().keys())
    assert value(summary, "3.1", "What they stopped").startswith("1 page by robots.txt, 2 pages by an opt-out")
    (policy,) = found.sources.rules
    assert policy["optout_profile"] == "strict" and policy["detectors"] == versions()


def test_a_narrower_profile_is_said(tmp_path):
    fill(tmp_path / "corpus", OPTOUT_PROFILE="minimal")
    assert "profile minimal" in eu_summary.as_markdown(gather(str(tmp_path / "corpus")))
    assert "Opt-out profile: minimal" in dataset_card.card(gather(str(tmp_path / "corpus")))


def test_by_whom_requests_were_signed_is_said_and_nothing_where_they_were_not(tmp_path, found):
    fill(tmp_path / "corpus", Signed(AGENT, "thumbprint"))
    said = f"every request signed (Web Bot Auth, RFC 9421) in the name of {AGENT} with the key thumbprint; "
    assert said in eu_summary.as_markdown(gather(str(tmp_path / "corpus")))
    fill(tmp_path / "corpus", WORKER_ID="w2")  # a second run, without a key
    told = eu_summary.as_markdown(gather(str(tmp_path / "corpus")))
    assert f"the requests of some runs, not of all, signed (Web Bot Auth, RFC 9421) in the name of {AGENT}" in told
    assert "signed" not in eu_summary.as_markdown(found)


def test_who_signed_is_read_back_from_an_archive_as_a_claim_of_text():
    facts = {"signature_agent": "a" * 400, "signature_keyid": ["no text"]}
    assert checked_facts(facts) == {"signature_agent": "a" * 300}


def test_equal_corpora_give_equal_bytes(folder, tmp_path):
    fill(tmp_path / "corpus")
    write_provenance(str(tmp_path / "corpus"))
    for name in WRITTEN:
        assert (tmp_path / "corpus" / name).read_bytes() == (folder / name).read_bytes(), name


def test_a_withdrawal_is_counted_and_the_documents_are_gone_until_they_are_made_again(tmp_path):
    fill(tmp_path / "corpus")
    place = Place(str(tmp_path / "corpus"))
    write_provenance(place.url)
    wish = Wish("a letter", frozenset({"d25.example"}))
    withdraw(place, wish, now=1.8e9)
    assert not any((tmp_path / "corpus" / name).exists() for name in WRITTEN)
    again = gather(place.url)
    words = eu_summary.as_markdown(again)
    assert "1 request, 25 documents removed" in words and "d25.example" not in words
    assert again.version == 2 and again.updated.startswith("2027-01-15")


def test_the_croissant_file_names_every_file_with_its_hash_and_every_field(folder, found):
    data = json.loads((folder / "croissant.json").read_bytes())
    manifest = json.loads((folder / "manifest.json").read_bytes())
    shards = [entry for entry in manifest["files"] if entry["kind"] == "shards"]
    *files, together = data["distribution"]
    assert [(f["contentUrl"], f["sha256"]) for f in files] == [(e["path"], e["sha256"]) for e in shards]
    assert together["includes"] == [e["path"] for e in shards]
    assert [field["name"] for field in data["recordSet"][0]["field"]] == list(RECORD_FIELDS)
    kinds = {field["name"]: field["dataType"] for field in data["recordSet"][0]["field"]}
    assert (kinds["text"], kinds["word_count"], kinds["quality_score"]) == ("sc:Text", "sc:Integer", "sc:Float")
    assert kinds["noai_checked"] == "sc:Boolean"


@pytest.mark.skipif(importlib.util.find_spec("mlcroissant") is None, reason="mlcroissant is not installed")
def test_mlcroissant_validates_the_croissant_file(folder, tmp_path):
    code = (
        "import sys, mlcroissant; issues = mlcroissant.Dataset(sys.argv[1]).metadata.ctx.issues; print(issues.report())"
    )
    good = validated(code, folder / "croissant.json")
    assert good.returncode == 0, good.stderr
    assert good.stdout.strip() == ""
    broken = croissant.metadata(gather(str(folder))) | {"recordSet": [{"@type": "cr:RecordSet", "field": [{}]}]}
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    assert validated(code, tmp_path / "broken.json").returncode != 0


@pytest.mark.skipif(importlib.util.find_spec("mlcroissant") is None, reason="mlcroissant is not installed")
def test_whoever_reads_by_the_croissant_file_gets_the_documents_of_all_shards_and_of_nothing_else(tmp_path):
    """mlcroissant reads uncompressed lines of JSON, and of their fields those that are neither null nor lists."""
    fill(tmp_path, SHARD_FORMAT="jsonl", SHARD_MAX_DOCUMENTS=130)
    write_provenance(str(tmp_path))
    assert len(list((tmp_path / "shards").glob("*.jsonl"))) == 3
    (tmp_path / "shards" / "left-behind.jsonl").write_text('{"url": "https://nobody.example/"}\n')
    described = json.loads((tmp_path / "croissant.json").read_bytes())
    fields = described["recordSet"][0]["field"]
    described["recordSet"][0]["field"] = [field for field in fields if field["name"] in {"url", "text"}]
    (tmp_path / "croissant.json").write_text(json.dumps(described))
    code = """import sys, json, mlcroissant
        records = mlcroissant.Dataset(sys.argv[1]).records("documents")
        print(json.dumps([record["documents/url"].decode() for record in records]))"""
    read = validated("\n".join(line.strip() for line in code.splitlines()), tmp_path / "croissant.json")
    assert read.returncode == 0, read.stderr
    pages = [f"https://d{domain}.example/{number}" for domain in range(1, 26) for number in range(domain)]
    assert sorted(json.loads(read.stdout)) == sorted(pages)


def validated(code, path):
    return subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)


def test_the_dataset_card_has_the_front_matter_that_hubs_read(folder, found):
    text = (folder / "README.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["language"] == ["de", "en"] and front["size_categories"] == ["n<1K"]
    assert front["configs"][0]["data_files"] == [{"split": "train", "path": ["shards/*.jsonl.zst"]}]
    assert front["license"] == "other"
    assert "tdmrep 25" in text and "https://example.org/bot" in text
    assert dataset_card.card(found) == text


def test_an_allowlist_is_said_to_lengthen_the_delay_and_not_to_replace_it(summary):
    told = value(summary, "2.3", "General description")
    assert "s between requests to one domain over all workers, longer where the allowlist asks for it, longer" in told


def test_a_licence_of_some_documents_is_not_said_to_be_that_of_all(found, folder, summary, tmp_path):
    tagged, kept = sum(range(1, 26, 2)), sum(range(1, 26))
    front = yaml.safe_load(dataset_card.card(found).split("---\n")[1])
    assert front["license_name"] == "per-record"
    said = f"{tagged} documents with the tag of the allowlist, 0 whose only tag is the page's, "
    said += f"{kept - tagged} with none."
    assert said in dataset_card.card(found)
    named, rest = croissant.metadata(found)["license"]
    assert named == "CC-BY-4.0" and rest.startswith(f"none recorded for {kept - tagged} of {kept} documents")
    assert value(summary, "1.3", "Other") == (
        f"licence of each document: CC-BY-4.0 {tagged} documents; {kept - tagged} without a recorded licence"
    )
    of_one = select_licensed(str(folder), tmp_path / "tagged")
    assert yaml.safe_load(dataset_card.card(of_one).split("---\n")[1])["license_name"] == "CC-BY-4.0"
    assert croissant.metadata(of_one)["license"] == ["CC-BY-4.0"]


def select_licensed(corpus, out):
    select(Place(corpus), Place(str(out)), Selection(licences=frozenset({"CC-BY-4.0"})), max_bytes=10**6, now=1.8e9)
    return gather(str(out))


def test_the_command_writes_all_of_them(folder, tmp_path):
    fill(tmp_path / "corpus")
    done = scrapy("report", "--eu", tmp_path / "corpus")
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / "corpus" / name).exists() for name in WRITTEN)


def test_an_empty_corpus_has_a_summary_too(tmp_path):
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "corpus"), "WORKER_ID": "w1"})
    corpus = Corpus(config, clock=lambda: 1_767_225_600.0)
    corpus.open()
    corpus.close()
    write_provenance(str(tmp_path / "corpus"))
    assert "nothing collected" in (tmp_path / "corpus" / "eu_summary.md").read_text()
