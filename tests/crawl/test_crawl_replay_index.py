"""A replay into the folder of a crawl compares with what the crawl kept; a crawl, with what a replay kept."""

from __future__ import annotations

from dataclasses import replace

import pytest


@pytest.fixture
def twins(crawl, make_site, tmp_path):
    """Two sites with the same pages: the first crawled into a corpus, the second into another one."""
    one, two = make_site(pages=6), make_site(pages=6)
    other = replace(crawl, folder=tmp_path / "other", processes=crawl.processes)
    for made, site in ((crawl, one), (other, two)):
        done = made.run({"url": site.url(0)}, NETWORK_PORTS=f"{one.port},{two.port}")
        assert done.returncode == 0, done.stderr
    return crawl, other, one, two


def replayed(crawl, archive, **settings):
    process = crawl.start({"archive": str(archive)}, spider="replay", **settings)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return err


def test_a_replay_into_the_folder_of_a_crawl_keeps_no_text_that_the_crawl_has(twins):
    crawl, other, one, _ = twins
    kept = crawl.urls()
    assert other.urls()
    replayed(crawl, other.folder / "archive" / "*.warc.gz")
    assert crawl.urls() == kept
    doubles = {r["url"]: r["dup_of"] for r in crawl.records("rejected") if r["url"] in other.urls()}
    assert doubles.keys() == set(other.urls())
    assert all(str(owner).startswith(one.url(0).removesuffix("/p/0")) for owner in doubles.values())


def test_a_replay_of_the_crawls_own_archive_takes_no_page_for_its_own_double(twins):
    crawl, _, _, _ = twins
    kept = crawl.urls()
    replayed(crawl, crawl.folder / "archive" / "*.warc.gz")
    assert set(crawl.urls()) == set(kept)
    assert not [r for r in crawl.records("rejected") if r["url"] in kept and r["stage"] in {"exact", "near"}]


def test_a_replay_into_a_new_folder_needs_no_server(twins, tmp_path):
    _, other, _, _ = twins
    alone = replace(other, folder=tmp_path / "alone", processes=other.processes)
    replayed(alone, other.folder / "archive" / "*.warc.gz")
    assert alone.urls() == other.urls()
    assert not (alone.folder / "frontier").exists()


def test_a_crawl_into_the_folder_of_a_replay_fetches_and_keeps_nothing_again(twins, tmp_path):
    _, other, one, two = twins
    again = replace(other, folder=tmp_path / "again", processes=other.processes)
    replayed(again, other.folder / "archive" / "*.warc.gz")
    kept, asked = again.urls(), len([hit for hit in two.hits if hit.path.startswith("/p/")])
    done = again.run({"url": two.url(0)}, NETWORK_PORTS=f"{one.port},{two.port}")
    assert done.returncode == 0, done.stderr
    assert again.urls() == kept
    assert len([hit for hit in two.hits if hit.path.startswith("/p/")]) == asked
