"""The main job on a known site: it ends, it resumes, and every URL is in exactly one place."""

import json

from crawler.storage.archive.reader import read_archive


def arguments(site):
    return {"url": site.url(0)}


def ports(*sites):
    return ",".join(str(site.port) for site in sites)


def test_a_crawl_ends_when_the_site_is_drained_and_keeps_every_page_once(crawl, make_site):
    site = make_site(pages=25)
    done = crawl.run(arguments(site), NETWORK_PORTS=ports(site))
    assert done.returncode == 0, done.stderr
    assert crawl.urls() == sorted(site.urls())
    assert crawl.urls("rejected") == []
    manifest = json.loads((crawl.folder / "manifest.json").read_text())
    assert (manifest["counts"]["kept"], manifest["counts"]["rejected"]) == (25, 0)
    (run,) = manifest["runs"]
    assert run["counters"]["kept"] == 25


def test_the_same_command_again_resumes_and_fetches_nothing_twice(crawl, make_site):
    site = make_site(pages=12)
    assert crawl.run(arguments(site), NETWORK_PORTS=ports(site)).returncode == 0
    pages = [hit.path for hit in site.hits if hit.path.startswith("/p/")]
    again = crawl.run(arguments(site), NETWORK_PORTS=ports(site))
    assert again.returncode == 0, again.stderr
    assert [hit.path for hit in site.hits if hit.path.startswith("/p/")] == pages
    assert crawl.urls() == sorted(site.urls())


def test_the_summary_of_a_crawl_names_what_was_kept_and_where_it_is(crawl, make_site):
    site = make_site(pages=5)
    done = crawl.run(arguments(site), NETWORK_PORTS=ports(site), PROGRESS="auto")
    assert "5 kept" in done.stdout
    assert crawl.folder.name in done.stdout


def test_every_record_says_where_from_when_and_under_which_permission(crawl, make_site):
    site = make_site(pages=1)
    crawl.run(arguments(site), NETWORK_PORTS=ports(site))
    (record,) = crawl.records()
    assert record["url"] == record["canonical_url"] == site.url(0)
    assert record["doc_id"].startswith("sha256:")
    assert record["noai_checked"] is True
    assert record["robots_status"]
    assert record["crawled_at"].endswith("Z")
    assert record["config_digest"].startswith("sha256:")
    archived = {r.record_id: r for r in read_archive(str(crawl.folder / str(record["warc_file"])))}
    assert archived[str(record["warc_record_id"])].url == site.url(0)


def test_replaying_the_archive_gives_the_same_texts_without_a_request(crawl, make_site, tmp_path):
    site = make_site(pages=8)
    crawl.run(arguments(site), NETWORK_PORTS=ports(site))
    before = len(site.hits)
    first = {r["url"]: r["text"] for r in crawl.records()}
    source = f"{crawl.folder}/archive/*.warc.gz"
    crawl.folder = tmp_path / "replayed"
    done = crawl.run({"archive": source}, spider="replay")
    assert done.returncode == 0, done.stderr
    assert {r["url"]: r["text"] for r in crawl.records()} == first
    assert len(site.hits) == before


def test_a_crawl_into_a_corpus_that_lacks_a_listed_file_says_so_at_its_start(crawl, make_site):
    site = make_site(pages=5)
    assert crawl.run(arguments(site), NETWORK_PORTS=ports(site)).returncode == 0
    whole = crawl.run(arguments(site), NETWORK_PORTS=ports(site))
    assert "missing or incomplete" not in whole.stderr
    (shard,) = (crawl.folder / "shards").glob("*.jsonl.zst")
    shard.unlink()
    (archive,) = (crawl.folder / "archive").glob("*.warc.gz")
    archive.write_bytes(archive.read_bytes()[:-1])
    again = crawl.run(arguments(site), NETWORK_PORTS=ports(site))
    assert again.returncode == 0, again.stderr
    assert "2 files that the manifest lists: missing or incomplete (such as archive/" in again.stderr
    assert f"`gristmill dataset verify {crawl.folder}` names each" in again.stderr
