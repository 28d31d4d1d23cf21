"""The short spelling of URLs inside the server loses nothing."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import md5

from crawler.frontier.packing import shard_of, url_hash
from crawler.urls.link import source_id


def test_the_letters_of_a_page_are_those_of_its_md5_and_never_change():
    assert source_id("https://example.org/") == urlsafe_b64encode(md5(b"https://example.org/").digest()[:3]).decode()
    assert source_id("https://example.org/") == "71f2"  # stored in servers and archives
    assert len(source_id("https://example.org/ä")) == 4


def test_hashes_fit_the_integer_sets_and_shards_are_stable():
    assert 0 <= url_hash("https://example.org/") < 2**63
    assert url_hash("https://example.org/") == 2973143880709554365  # stored in servers: it must never change
    assert shard_of("example.org", 1) == 0
    assert {shard_of(f"{i}.example", 8) for i in range(200)} == set(range(8))
