"""After every crawl and every replay `report.html` and `stats.json` lie in the corpus, from bounded reading."""

import json

import pytest

from crawler.config import from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe import write as report
from crawler.observe.live import written
from crawler.observe.report import samples
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of, rejection_of
from tests.support.crawl import Crawl


def described(folder):
    numbers = json.loads((folder / "stats.json").read_bytes())
    manifest = json.loads((folder / "manifest.json").read_bytes())
    page = (folder / "report.html").read_text()
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert numbers["kept"] == manifest["counts"]["kept"] and f"<b>{numbers['kept']}</b>" in page
    assert (numbers["runs"], numbers["running"]) == (len(manifest["runs"]), 0)
    return numbers


def test_a_crawl_and_its_replay_leave_both_and_a_second_run_renews_them(crawl, make_site, tmp_path):
    site = make_site(pages=3)
    assert crawl.run({"url": ",".join(site.urls())}, NETWORK_PORTS=site.port).returncode == 0
    first = described(crawl.folder)
    assert first["kept"] > 0 and first["fetched"] > 0
    page = (crawl.folder / "report.html").read_text()
    assert ">Samples<" in page and site.url(0) in page
    again = Crawl(tmp_path / "again")
    assert again.run({"archive": str(crawl.folder / "archive")}, spider="replay").returncode == 0
    assert described(again.folder)["kept"] == first["kept"]
    assert crawl.run({"url": ",".join(site.urls())}, NETWORK_PORTS=site.port).returncode == 0
    assert described(crawl.folder)["runs"] == 2
    assert not [path.name for path in crawl.folder.iterdir() if path.name.endswith(".tmp")]


def test_a_crawl_whose_summary_nobody_reads_to_its_end_ends_all_the_same(crawl, make_site):
    site = make_site(pages=3)
    wanted = {"url": ",".join(site.urls())}
    with crawl.start(wanted, NETWORK_PORTS=site.port, PROGRESS="on", LOG_LEVEL="ERROR") as process:
        process.stdout.close()  # as `| head -1` does
        try:
            assert process.wait(timeout=90) == 0
        finally:
            process.kill()
    assert described(crawl.folder)["running"] == 0


@pytest.fixture
def large(tmp_path, monkeypatch):
    """More records than may be read, in one file of each kind."""
    monkeypatch.setattr(written, "MOST_RECORDS", 5)
    config = from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"})
    corpus = Corpus(config)
    corpus.open()
    for number in range(30):
        url = f"https://a.test/{number}"
        doc = Document(url=url, canonical_url=url, domain="a.test", text=f"text {number}", dup_of="https://a.test/0")
        corpus.keep(record_of(doc))
        corpus.reject(rejection_of(doc, Drop("near", DropReason.NEAR_DUPLICATE, "x")))
    corpus.close()
    return config, tmp_path


def test_of_a_large_corpus_a_bounded_part_is_read_and_the_page_says_what_was_left(large, monkeypatch):
    config, folder = large
    read = []
    monkeypatch.setattr(samples, "rank", lambda record, rank=samples.rank: read.append(record["url"]) or rank(record))
    written.write_report(config)
    assert len(read) == 2 * 5  # of the shard and of the rejected file
    page, numbers = (folder / "report.html").read_text(), json.loads((folder / "stats.json").read_bytes())
    assert numbers["kept"] == 30 and numbers["duplicates"]["clusters"] == []
    assert numbers["duplicates"]["clusters_uncounted"] == 30
    assert "clusters among 30 rejected records" in page and "Largest clusters<" not in page
    whole = report.read(str(folder))
    assert [(c.owner, c.copies) for c in whole.duplicates.clusters] == [("https://a.test/0", 30)]


def test_a_report_that_cannot_be_written_does_not_fail_the_crawl(crawl, make_site):
    site = make_site(pages=1)
    (crawl.folder / "report.html").mkdir(parents=True)
    done = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port)
    assert done.returncode == 0 and "no report.html" in done.stderr
