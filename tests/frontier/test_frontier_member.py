"""A link in the queue: what Python packs, Python and the scripts read alike, and no other version reads at all."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import redis
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crawler.frontier.member import FORMAT, PRIORITY, lease_of, lua_front, lua_members, pack, split, unpack
from crawler.frontier.packing import pack_url
from crawler.frontier.script_source import SCRIPTS
from crawler.server.errors import FrontierError
from crawler.urls.canonicalize import address, canonicalize, politeness_scope
from crawler.urls.link import Link, source_id
from crawler.urls.shape import shape_id_of

hosts = st.sampled_from(
    ["example.org", "www.example.org", "a.b.example.co.uk", "127.0.0.1:8000", "localhost", "[::1]:81", "x.github.io"]
)
paths = st.text(st.characters(codec="utf-8", exclude_characters="\\"), max_size=40)
urls = st.builds(lambda s, h, p: canonicalize(f"{s}://{h}/{p}"), st.sampled_from(["http", "https"]), hosts, paths)
urls = urls.filter(bool)
spellings = st.one_of(st.just(""), paths.map(lambda path: f"?a={path}"))
chains = st.lists(urls, max_size=3).map(tuple)
sources = st.one_of(st.just(""), st.text(min_size=1).map(source_id))
listed = st.builds(
    Link, urls, depth=st.integers(0, 99), kind=st.sampled_from(["page", "sitemap"]), redirects=chains, source=sources
)
found = st.builds(
    Link,
    urls,
    depth=st.integers(0, 99),
    redirects=chains,
    mark=st.integers(0, 9),
    parent=st.one_of(st.just(""), urls.map(shape_id_of)),
    run=st.integers(0, 9),
    source=sources,
)
links = st.builds(lambda link, more: replace(link, found=as_found(link.url, more)), st.one_of(listed, found), spellings)
AGAIN = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


def as_found(url: str, more: str) -> str:
    """Another spelling of a URL: WHATWG's, of which the URL is the canonical one, or empty."""
    to = address(url + more) if more else None
    return to.found if to is not None else ""


READ = """
local member = ARGV[5]
local depth, shape, parent, mark, run = facts_of(member)
local attempts, holds, rest = split(member)
local again = depth and with_new_run(rest) or ''
local sitemap = byte(rest, KIND_AT) == SITEMAP and 1 or 0
return {depth or false, shape or false, parent or false, mark or false, run or false, shape_in(member) or false,
        depth and url_in(rest) or false, attempts, holds, rest, join(attempts, holds, rest), again, sitemap}
"""
"""What the scripts' own functions find in a member."""


@pytest.fixture(scope="module")
def in_lua(valkey_url):
    head, tally, shapes, common, value = (
        (SCRIPTS / f"{part}.lua").read_text() for part in ("head", "tally", "shapes", "common", "value")
    )
    text = "".join((lua_front(), head, tally, shapes, lua_members(), common, value, READ))
    with redis.Redis.from_url(valkey_url, decode_responses=True) as server:
        yield lambda member: server.eval(text, 1, "{member.0}:", 0, 0, 1, 1, member)


def spelled(link: Link) -> tuple[str, str]:
    scope = politeness_scope(link.url)
    return scope, pack(link, scope, shape=shape_id_of(link.url) if link.mark is not None else "")


@settings(**AGAIN)
@given(links, st.integers(0, 120), st.integers(0, 40))
@example(Link("http://notexample.org/", redirects=("https://example.org/",)), 0, 0)
@example(Link("https://example.org/5", kind="sitemap", depth=5), 5, 5)
@example(Link("https://example.org/5", found="https://example.org/5?", redirects=("http://a.org/?",)), 1, 0)
def test_a_member_comes_back_as_it_was_and_the_scripts_read_the_same_fields(in_lua, link, attempts, holds):
    scope, member = spelled(link)
    shape = shape_id_of(link.url) if link.mark is not None else ""
    assert not set("\t\n") & set(member)
    assert unpack(member, scope) == (link, 0, 0, shape)
    fresh = in_lua(member)
    assert fresh[7:11] == [0, 0, member, member]
    tried = f"{member[0]}{attempts}.{holds}~{member[1:]}"
    assert unpack(tried, scope) == (link, attempts, holds, shape)
    assert split(tried) == (attempts, holds, member)
    depth, shape, parent, mark, run, same_shape, url, tries, parked, rest, joined, again, sitemap = in_lua(tried)
    assert (tries, parked, rest, joined) == (attempts, holds, member, tried if attempts or holds else member)
    assert sitemap == (link.kind == "sitemap")
    if link.mark is None:
        assert (depth, shape, parent, mark, run, same_shape, url) == (None,) * 7
    else:
        known = (link.depth, shape_id_of(link.url), link.parent or "...", link.mark, link.run)
        assert (depth, shape, parent, mark, run) == known
        assert (same_shape, url) == (shape, pack_url(link.url, scope))
        assert unpack(again, scope).link == replace(link, run=0)


@settings(deadline=None, derandomize=True)
@given(links, st.integers(-4096, 4095), st.integers(0, 2**39), st.integers(0, 10**13 - 1))
def test_a_lease_knows_its_link_and_the_priority_that_its_score_says(link, priority, sequence, slot):
    scope, member = spelled(link)
    kept = f"o{slot:013}{scope}\t{member}\t{sequence - priority * PRIORITY}".encode()
    lease = lease_of(b"0.1.x", kept, b"", granted_at=1.0, expires_at=2.0)
    assert (lease.link, lease.scope, lease.slot) == (replace(link, priority=priority), scope, slot)
    assert (lease.attempt, lease.exhausted, lease.reasons) == (1, False, ())


def test_a_long_way_without_new_text_counts_as_nine_pages():
    link = Link("https://example.org/a", mark=3, run=40)
    assert unpack(*spelled(link)[::-1]).link.run == 9


@pytest.mark.parametrize(
    "member",
    ["lSSSPPPma2 swww./a", "p0 s/a", "2.1~p0 s/a", "m0 s/sitemap.xml", "", f"{chr(ord('0') + FORMAT + 1)}p....0 s/"],
)
def test_a_member_of_another_version_is_never_misread(member):
    with pytest.raises(FrontierError, match="another version"):
        unpack(member, "example.org")


@pytest.mark.parametrize(
    "member",
    ["7", "7x", "7p...", "7l....abc", "7x....0 s/a", "7p....0 x/a", "7p....0 ", "7p....x s/a", "7p....0 s/a /b /c"],
)
def test_what_is_no_member_is_refused(member):
    with pytest.raises(FrontierError, match="cannot be read"):
        unpack(member, "example.org")


def test_no_script_counts_the_bytes_of_a_member_itself():
    for script in SCRIPTS.glob("*.lua"):
        text = script.read_text()
        assert not re.search(r"(byte|sub)\((member|rest), ([2-9]|\d\d)", text), script.name
        assert "1099511627776" not in text, script.name
