"""Exports and mixtures say of themselves what corpora do; every figure is counted a second time from their records."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import math
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import PUBLISHED, Wish
from crawler.dataset.exclude import _log as write_log
from crawler.document import Document, Drop, DropReason
from crawler.observe.diagnose.diagnosis import diagnose
from crawler.observe.diagnose.sources import Choice, from_corpus
from crawler.observe.publish import eu_summary
from crawler.observe.publish.provenance import gather
from crawler.observe.report.summary import summarise
from crawler.observe.write import write_provenance
from crawler.storage.files.place import Place
from crawler.storage.files.records import rejection_of
from tests.support.corpus_folder import Folder
from tests.support.process import scrapy
from tests.support.three_domains import fill

CONTACT = "https://example.org/bot"


def refused(number: int, reason: DropReason, day: int) -> dict[str, Any]:
    doc = Document(url=f"https://no.example/{number}", domain="no.example", crawled_at=f"2026-01-{day:02d}T00:00:00Z")
    return rejection_of(doc, Drop("robots", reason, "said no"))


def visit(folder: Path, day: int, pages: dict[int, DropReason]) -> None:
    """A run that finds these pages refused."""
    here = Folder(folder)
    here.ticks = itertools.count(1_767_225_600 + 86_400 * day)
    corpus = here.opened(WORKER_ID=f"w{day}", CRAWLER_CONTACT=CONTACT)
    for number, reason in pages.items():
        corpus.reject(refused(number, reason, day))
    corpus.close()


def stopped(folder: Path) -> str:
    (said,) = [
        f.value for s in eu_summary.sections(gather(str(folder))) for f in s.fields if f.label.startswith("What")
    ]
    return said


def test_a_page_that_says_no_at_three_visits_is_one_page_everywhere(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    for day in (1, 2, 3):
        visit(folder, day, {1: DropReason.OPTOUT, 2: DropReason.OPTOUT, 3: DropReason.ROBOTS_DISALLOWED})
    assert stopped(folder).startswith("1 page by robots.txt, 2 pages by an opt-out, ")
    summary = summarise(str(folder))
    assert (summary.rejected, summary.rejected_domains) == (3, {"no.example": 3})
    assert {verdict.reason: verdict.count for verdict in summary.rejections} == {"robots_disallowed": 1, "optout": 2}
    assert "0 kept   3 rejected" in scrapy("report", folder).stdout
    write_provenance(str(folder))
    assert "| robots/optout | 2 |" in (folder / "README.md").read_text()
    diagnosed = diagnose(from_corpus(str(folder), Choice(0)).records, from_mapping(), source=str(folder))
    assert diagnosed.total == 3


def test_of_a_page_whose_answer_changed_the_latest_final_one_counts(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    visit(folder, 1, {1: DropReason.OPTOUT, 2: DropReason.HTTP_ERROR, 3: DropReason.ROBOTS_DISALLOWED})
    visit(folder, 2, {1: DropReason.ROBOTS_DISALLOWED, 2: DropReason.OPTOUT, 3: DropReason.DOWNLOAD_FAILED})
    assert stopped(folder).startswith("2 pages by robots.txt, 1 page by an opt-out, 0 pages by a denial")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, an export of it, and a mixture of it with a file of others, each document twice."""
    folder = tmp_path_factory.mktemp("derived")
    fill(folder / "corpus", CRAWLER_CONTACT=CONTACT)
    visit(folder / "corpus", 9, {1: DropReason.OPTOUT, 2: DropReason.OPTOUT})
    visit(folder / "corpus", 10, {1: DropReason.OPTOUT})
    write_log(Place(str(folder / "corpus")), Wish("asked", refused=frozenset({"cedar.example"})), [], now=1.0e9)
    lines = [{"text": f"theirs {n} " * 40, "language": "en", "url": f"https://theirs.example/{n}"} for n in range(5)]
    others = folder / "vault-7" / "others.jsonl.gz"
    others.parent.mkdir()
    others.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    done = scrapy("dataset", "export", folder / "corpus", "--to", "jsonl.gz", "--out", folder / "export")
    assert done.returncode == 0, done.stderr
    (folder / "mix.yaml").write_text(
        f"tokens: 260\nseed: 1\ntolerance: 0.5\nsources:\n"
        f"  ours: {{corpus: {folder / 'corpus'}, epochs: 4}}\n  theirs: {{files: {others}, epochs: 4}}\n"
    )
    done = scrapy("dataset", "mix", folder / "mix.yaml", "--to", "jsonl.gz", "--out", folder / "mixture")
    assert done.returncode == 0, done.stderr
    return folder


def records(folder: Path) -> list[dict[str, Any]]:
    texts = (gzip.decompress(path.read_bytes()).decode() for path in sorted((folder / "data").iterdir()))
    return [json.loads(line) for text in texts for line in text.splitlines()]


@pytest.mark.parametrize("name", ["export", "mixture"])
def test_every_figure_of_a_derived_folder_is_that_of_its_records(made: Path, name: str) -> None:
    folder = made / name
    assert {path.name for path in folder.iterdir()} >= set(PUBLISHED)
    uses = records(folder)
    once = list({record["url"]: record for record in uses}.values())
    summary = json.loads((folder / "eu_summary.json").read_bytes())
    said = {field["label"]: field["value"] for section in summary["sections"] for field in section["fields"]}
    unsaid = [r["text"] for r in once if r["token_estimate"] is None]  # of others
    words = sum(r["word_count"] or 0 for r in once) + sum(len(text.split()) for text in unsaid)
    tokens = sum(r["token_estimate"] or 0 for r in once) + sum(math.ceil(len(text) / 4) for text in unsaid)
    size = said[f"Training data size: text of this {name}"]
    repeats = f"; {len(uses)} records, since some are there several times" if len(uses) > len(once) else ""
    assert size == (
        f"less than 1 billion tokens: {tokens:,} tokens (estimated), {words:,} words in {len(once)} documents{repeats}"
    )
    domains = {record["domain"] for record in once}
    assert said["Types of content"] == f"main text of {len(once)} web pages of {len(domains)} domains"
    licences = Counter(r["license_tag"] for r in once if r["license_tag"])
    assert all(f"{tag} {count}" in said["Other relevant characteristics"] for tag, count in licences.items())
    assert said["What they stopped"].startswith("0 pages by robots.txt, 2 pages by an opt-out, ")
    assert "4 withdrawn documents left out of this" in said["Withdrawals after the crawl"]
    assert said["Crawler name(s)/identifier(s)"].endswith(f"(+{CONTACT})")
    card = (folder / "README.md").read_text()
    assert f"Main text of {len(once)} web pages of {len(domains)} domains" in card and "| robots/optout | 2 |" in card
    page = (folder / "eu_summary.html").read_text()
    assert "@media print" in page and all(value in page for value in (size, said["What they stopped"]))
    described = json.loads((folder / "croissant.json").read_bytes())
    files = {(f["contentUrl"], f["sha256"]) for f in described["distribution"] if "contentUrl" in f}
    manifest = json.loads((folder / ("export.json" if name == "export" else "mix.json")).read_bytes())
    assert files == {(f["path"], f["sha256"]) for f in manifest["files"]}


def test_files_of_others_in_a_mixture_are_called_that_and_named_without_their_folder(made: Path) -> None:
    text = (made / "mixture" / "eu_summary.md").read_text()
    assert re.search(r"is part of: theirs\. Files: others\.jsonl\.gz\. Kept: \d documents from 1 domain", text)
    everything = b"".join((made / "mixture" / name).read_bytes() for name in PUBLISHED)
    assert str(made).encode() not in everything and b"vault-7" not in everything
    assert "## Mixture" in (made / "mixture" / "README.md").read_text()


def test_equal_mixtures_have_equal_documents(made: Path, tmp_path: Path) -> None:
    done = scrapy("dataset", "mix", made / "mix.yaml", "--to", "jsonl.gz", "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    for name in PUBLISHED:
        assert (tmp_path / "again" / name).read_bytes() == (made / "mixture" / name).read_bytes(), name


def test_each_paragraph_and_heading_stands_once(made: Path) -> None:
    visit(made / "corpus", 11, {})
    for text in (
        (made / "mixture" / "eu_summary.md").read_text(),
        eu_summary.as_markdown(gather(str(made / "corpus"))),
    ):
        lines = [line for line in text.splitlines() if len(line) > 40 and "to be completed" not in line]
        assert [line for line, count in Counter(lines).items() if count > 1] == []
        assert not text.startswith("# Template")


@pytest.mark.parametrize("name", ["export", "mixture"])
@pytest.mark.parametrize("fault", ["none", "flip", "shorten", "remove", "beside", "card", "manifest"])
def test_verify_finds_what_is_wrong_with_a_derived_folder(made: Path, tmp_path: Path, name: str, fault: str) -> None:
    folder = tmp_path / name
    shutil.copytree(made / name, folder)
    (path, *_) = sorted((folder / "data").iterdir())
    content = bytearray(path.read_bytes())
    if fault == "flip":
        content[30] ^= 1
    if fault in ("flip", "shorten"):
        path.write_bytes(content[:-1] if fault == "shorten" else content)
    elif fault == "remove":
        path.unlink()
    elif fault == "beside":
        (folder / "data" / "left.jsonl.gz").write_bytes(b"")
    elif fault == "card":
        (folder / "README.md").unlink()
    elif fault == "manifest":
        manifest = folder / ("export.json" if name == "export" else "mix.json")
        manifest.write_bytes(manifest.read_bytes() + b"\n")
    done = scrapy("dataset", "verify", folder)
    if fault == "none":
        assert done.returncode == 0, done.stderr
        assert "records" in done.stdout and "lineage --withdrawn" in done.stdout
    else:
        assert done.returncode != 0
        named = {"beside": "data/left.jsonl.gz", "card": "README.md", "manifest": ".json"}.get(fault, path.name)
        assert named in done.stdout + done.stderr


def test_verify_cannot_repair_a_derived_folder_and_says_so(made: Path) -> None:
    done = scrapy("dataset", "verify", "--fix", made / "export")
    assert done.returncode == 2 and "made again from its sources" in done.stderr


def test_a_subset_says_neither_a_pace_nor_what_requests_brought_and_names_who_knows_what_was_left_out(
    tmp_path: Path,
) -> None:
    fill(tmp_path / "all")
    assert " pages/s over " in scrapy("report", tmp_path / "all").stdout
    done = scrapy("dataset", "select", tmp_path / "all", "--out", tmp_path / "some", "--where", "word_count>0")
    assert done.returncode == 0, done.stderr
    shown = scrapy("report", "--eu", tmp_path / "some").stdout
    assert "12 kept   0 rejected" in shown
    assert "pages/s" not in shown and "Requests by" not in shown
    digest = hashlib.sha256((tmp_path / "all" / "manifest.json").read_bytes()).hexdigest()
    card = " ".join((tmp_path / "some" / "README.md").read_text().split())
    who = f"not recorded in a subset; the corpus whose manifest has SHA-256 {digest}"
    assert f"What was left out, and why {who}" in card


def test_a_merged_corpus_says_no_pace_of_machines_that_worked_at_different_times(tmp_path: Path) -> None:
    for name, pages in (("one", 4), ("two", 3)):
        fill(tmp_path / name, pages)
    done = scrapy("dataset", "merge", "--out", tmp_path / "all", tmp_path / "one", tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert "pages/s" not in scrapy("report", tmp_path / "all").stdout
