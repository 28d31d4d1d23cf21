"""`gristmill dataset log | show | tag | lineage`: a withdrawal is followed through everything that was derived."""

from __future__ import annotations

import hashlib
import shutil

import orjson
import pytest

from crawler.commands import dataset
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.export import export
from crawler.dataset.rewrite import rewrite
from crawler.dataset.select import Selection, select
from crawler.dataset.versions import Cause
from crawler.storage.corpus.registry import Registry
from crawler.storage.files.place import Place
from tests.support.noted import noted

WISH = Wish("letter of 3 May", domains=frozenset({"alder.example"}), refused=frozenset({"alder.example"}))


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def text_in(holding):
    return sum(file["documents"] for file in holding["files"])


@pytest.fixture
def derived(three_domains, tmp_path, scrapy):
    """Five versions of a corpus, one of the other: a subset, its rewrite, a mixture, a union, and an export."""
    pytest.importorskip("duckdb", reason="duckdb is not installed (make test installs it)")
    subset = Place(str(tmp_path / "subset"))
    select(three_domains.place, subset, Selection(), max_bytes=10**6, now=1.8e9)
    rewrite(subset, lambda record: record | {"title": "another"}, Cause("dataset test", "because", 1.81e9))
    spec = {"tokens": 50, "tolerance": 0.5, "sources": {"ours": {"corpus": str(tmp_path / "subset")}}}
    (tmp_path / "spec.yaml").write_bytes(orjson.dumps(spec))  # JSON is YAML
    assert scrapy("dataset", "mix", "--out", "mixed", "spec.yaml").code == 0
    done = scrapy("dataset", "dedup", "--out", "merged", "mixed/data/part-000000.jsonl.zst", "subset")
    assert done.code == 0, done.err
    export(subset, tmp_path / "release", "webdataset", max_bytes=10**6, now=1.82e9)
    return tmp_path


def test_a_withdrawal_is_followed_through_five_derived_versions(derived, three_domains, scrapy):
    assert scrapy("dataset", "lineage", "corpus", "--withdrawn").code == 0
    withdraw(three_domains.place, WISH, now=1.83e9)
    done = scrapy("dataset", "lineage", "corpus", "--withdrawn", "--json")
    assert done.code == 1
    found = orjson.loads(done.out)
    held = {(h["folder"].rpartition("/")[2], h["operation"]) for h in found["holdings"] if text_in(h)}
    assert held == {
        ("subset", "dataset select"), ("subset", "dataset test"), ("mixed", "dataset mix"),
        ("merged", "dataset dedup"), ("release", "dataset export"),
    }  # fmt: skip
    assert all(text_in(h) == sum(f["withdrawn"] for f in h["files"]) for h in found["holdings"])
    assert "subset: still holds" in done.err and "gristmill dataset exclude" in done.err
    assert done.err.count("make it again in the same place, from its sources") == 2


def test_what_was_cleaned_is_found_no_more_and_what_cannot_be_read_is_not_passed_over(derived, three_domains, scrapy):
    withdraw(three_domains.place, WISH, now=1.83e9)
    withdraw(Place(str(derived / "subset")), WISH, now=1.84e9)
    for name in ("mixed", "release"):
        shutil.rmtree(derived / name)
    (derived / "merged").rename(derived / "elsewhere")
    done = scrapy("dataset", "lineage", "corpus", "--domain", "alder.example")
    assert done.code == 1 and "subset: still holds" not in done.err
    assert done.err.count("was written there and is missing") == 3
    done = scrapy("dataset", "lineage", "corpus", "--domain", "alder.example", "--also-in", "elsewhere")
    assert done.code == 1 and "elsewhere: still holds" in done.err
    assert done.err.count("was written there and is missing") == 2
    shutil.rmtree(derived / "elsewhere")
    for path in (derived / "subset" / "registry" / "derived").iterdir():
        path.unlink()  # removed for good, as the sentence says
    done = scrapy("dataset", "lineage", "corpus", "--domain", "alder.example")
    assert done.code == 0 and ": 0 documents, " in done.out  # the decisions are there, and no text


def test_a_page_is_followed_back_to_its_bytes_its_evidence_and_its_configuration(derived, three_domains, scrapy):
    record = three_domains.records()[0]
    for folder in ("corpus", "release"):
        done = scrapy("dataset", "lineage", folder, record["url"], "--json")
        assert done.code == 0, done.err
        origin = orjson.loads(done.out)["origin"]
        assert (origin["page"], origin["verdict"]) == (record["url"], "kept")
        assert origin["archive"]["folder"].endswith("corpus")
        assert (origin["archive"]["warc_file"], origin["archive"]["warc_offset"]) == (
            record["warc_file"], record["warc_offset"],
        )  # fmt: skip
        title = record["text"].split(" ", 1)[0]
        assert origin["archive"]["sha256"] == hashlib.sha256(f"<title>{title}</title>".encode()).hexdigest()
        assert origin["evidence"]["robots_status"] == record["robots_status"]
        assert origin["configuration"]["config_digest"] == record["config_digest"]
        shown = scrapy("dataset", "lineage", folder, record["url"]).out
        assert "configuration: {" in shown and "… (all of it: --json)" in shown
        assert max(len(line) for line in shown.splitlines() if ": {" in line) < 250
    operations = [step["operation"] for step in origin["versions"]]
    assert operations == ["dataset export", "dataset test", "dataset select", "crawl"]


def test_the_folder_in_which_a_corpus_was_judged_again_is_not_missed(three_domains, scrapy):
    child = {"sha256": "ab" * 32, "place": ".rejudge/corpus", "operation": "replay"}
    Registry(three_domains.place).add_child(child)
    assert scrapy("dataset", "lineage", "corpus", "--withdrawn").code == 0
    Registry(three_domains.place).add_child(child | {"sha256": "cd" * 32, "place": "copy"})
    done = scrapy("dataset", "lineage", "corpus", "--withdrawn")
    assert done.code == 1 and done.err.count("was written there and is missing") == 1


def test_the_log_has_the_newest_version_first_with_its_tags_and_show_finds_it_by_tag_or_hash(derived, scrapy):
    first = sha(derived / "subset" / "manifest.0001.json")
    assert scrapy("dataset", "tag", "subset", "raw", first[:8]).code == 0
    assert scrapy("dataset", "tag", "subset", "release-1").code == 0
    lines = scrapy("dataset", "log", "subset").out.splitlines()
    assert len(lines) == 2 and " [release-1] " in lines[0] and "dataset test of " in lines[0]
    assert " [raw] " in lines[1] and lines[1].startswith(first[:12]) and " in ../corpus: " in lines[1]
    assert orjson.loads(scrapy("dataset", "show", "subset", "raw", "--json").out)["sha256"] == first
    assert first in scrapy("dataset", "show", "subset", first[:6]).out
    done = scrapy("dataset", "tag", "subset", "raw")
    assert done.code == 1 and "--move" in done.err
    assert scrapy("dataset", "tag", "subset", "raw", "--move").code == 0
    done = scrapy("dataset", "show", "subset", "nothing")
    assert done.code == 1 and "expected a tag (raw, release-1)" in done.err


@pytest.mark.parametrize("words", [[], ["--domain", "a.example", "--withdrawn"]])
def test_a_lineage_of_nothing_or_of_two_things_is_a_wrong_call(three_domains, scrapy, words):
    done = scrapy("dataset", "lineage", "corpus", *words)
    assert done.code == 2 and "expected one of URL" in done.err


NOTES = {
    "annotate", "annotations", "best", "chunks", "contaminated", "dedup", "exclude", "expire", "export", "held",
    "images", "merge", "mix", "rejudge", "repair", "select", "semantic", "substrings", "supersede", "transcribe",
    "verify",
}  # fmt: skip
READS = {
    "captures", "diff", "duplicates", "index", "lineage", "log", "mediawiki", "page", "query", "show", "tag", "trial",
}  # fmt: skip
"""`captures` and `mediawiki` write an archive, `index` into the duplicate index, `tag` a name: none makes documents."""
CALLS = {
    "exclude": ["--domain", "alder.example", "--reason", "x", "--yes", "corpus"],
    "expire": ["--older-than", "1", "corpus"],
    "substrings": ["--min-tokens", "4", "--remove", "corpus"],
}


def test_no_operation_is_forgotten_here():
    assert set(dataset.Command.operations) == NOTES | READS


@pytest.mark.parametrize("name", sorted(CALLS))
def test_an_operation_that_changes_a_corpus_notes_the_version_it_made(three_domains, tmp_path, scrapy, name):
    before = sha(tmp_path / "corpus" / "manifest.json")
    done = scrapy("dataset", name, *CALLS[name])
    assert done.code == 0, done.err
    assert noted(tmp_path / "corpus", before)["operation"].startswith(f"dataset {name}")


@pytest.mark.parametrize("to", ["jsonl.gz", "dolma", "webdataset", "mds"])
def test_what_was_withdrawn_is_found_in_an_export_of_any_format(three_domains, tmp_path, scrapy, to):
    export(three_domains.place, tmp_path / "release", to, max_bytes=10**6, now=1.8e9)
    withdraw(three_domains.place, WISH, now=1.83e9)
    done = scrapy("dataset", "lineage", "corpus", "--withdrawn", "--json")
    assert done.code == 1 and "release: still holds" in done.err
    assert sum(text_in(h) for h in orjson.loads(done.out)["holdings"]) == 4  # each kept page of the domain


@pytest.mark.parametrize("to", ["jsonl.gz", "webdataset", "mds"])
def test_a_damaged_export_is_named_by_what_looks_into_it(three_domains, tmp_path, scrapy, to):
    export(three_domains.place, tmp_path / "release", to, max_bytes=10**6, now=1.8e9)
    [shard] = (tmp_path / "release" / "data").glob("part-*")
    shard.write_bytes(shard.read_bytes()[:200])
    done = scrapy("dataset", "lineage", "corpus", "--domain", "alder.example")
    assert done.code == 1 and f"release/data/{shard.name}: " in done.err


def test_the_log_of_a_crawl_that_was_made_of_no_other_version_names_none(corpus, scrapy):
    done = scrapy("dataset", "log", "corpus")
    assert done.code == 0 and " crawl: 6 archived, " in done.out
