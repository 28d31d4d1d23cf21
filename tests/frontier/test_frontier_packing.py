"""The short spelling of URLs inside the server loses nothing."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import md5

from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.frontier.packing import link_facts, pack, pack_parts, pack_url, shard_of, unpack, url_hash
from crawler.urls.candidate import source_id
from crawler.urls.canonicalize import canonicalize, politeness_scope

hosts = st.sampled_from(
    ["example.org", "www.example.org", "a.b.example.co.uk", "127.0.0.1:8000", "localhost", "[::1]:81", "x.github.io"]
)
paths = st.text(st.characters(codec="utf-8", exclude_characters="\\"), max_size=40)
urls = st.builds(lambda s, h, p: canonicalize(f"{s}://{h}/{p}"), st.sampled_from(["http", "https"]), hosts, paths)


@settings(deadline=None, derandomize=True)
@given(
    urls.filter(bool), st.lists(urls.filter(bool), max_size=3), st.sampled_from(["page", "sitemap"]), st.integers(0, 99)
)
@example("http://notexample.org/", ["https://example.org/"], "page", 0)
def test_packed_urls_come_back_as_they_were(url, redirects, kind, depth):
    scope = politeness_scope(url)
    member = pack(url, scope, kind=kind, depth=depth, redirects=tuple(redirects))
    found = unpack(member, scope)
    assert (found.url, found.redirects, found.kind, found.depth) == (url, tuple(redirects), kind, depth)
    assert "\t" not in member
    assert "\n" not in member
    assert unpack(f"2.1~{member}", scope).attempts == 2
    assert unpack(f"2.1~{member}", scope).holds == 1


@settings(deadline=None, derandomize=True)
@given(
    urls.filter(bool),
    st.lists(urls.filter(bool), max_size=2),
    st.lists(st.sampled_from(["sid", "@x", "a b"]).map(lambda name: name.replace(" ", "")), max_size=2),
    st.one_of(st.just(""), st.text(min_size=1).map(source_id)),
    st.booleans(),
)
def test_a_link_keeps_the_page_it_was_found_on_beside_everything_else(url, redirects, learned, source, is_link):
    scope = politeness_scope(url)
    packed, facts = pack_url(url, scope), link_facts("abc", "x-_", 3, 2) if is_link else ""
    more = {"redirects": tuple(redirects), "learned": tuple(learned), "source": source}
    found = unpack(f"1.0~{pack_parts(packed, scope, kind='page', depth=7, facts=facts, **more)}", scope)
    assert (found.url, found.depth, found.attempts) == (url, 7, 1)
    assert {name: getattr(found, name) for name in more} == more
    assert (found.shape, found.parent, found.mark, found.run) == (
        ("abc", "x-_", 3, 2) if is_link else ("", "", None, 0)
    )


def test_the_letters_of_a_page_are_those_of_its_md5_and_never_change():
    assert source_id("https://example.org/") == urlsafe_b64encode(md5(b"https://example.org/").digest()[:3]).decode()
    assert source_id("https://example.org/") == "71f2"  # stored in servers and archives
    assert len(source_id("https://example.org/ä")) == 4


def test_hashes_fit_the_integer_sets_and_shards_are_stable():
    assert 0 <= url_hash("https://example.org/") < 2**63
    assert url_hash("https://example.org/") == 2973143880709554365  # stored in servers: it must never change
    assert shard_of("example.org", 1) == 0
    assert {shard_of(f"{i}.example", 8) for i in range(200)} == set(range(8))
