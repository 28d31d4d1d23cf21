"""What the crawl may fetch: hosts, listed pages, allowlist entries, and a scope that survives its way through Redis."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.problems import InputError
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.arguments import judged
from crawler.seeds.plan import plan_seeds
from crawler.seeds.scope import Admission, AdmissionReason, Scope, ScopeError, Via
from crawler.seeds.sitemaps import parse_sitemap
from crawler.urls.link import Link

VIAS = [via for via in get_args(Via) if via != "record"]  # which lets in on any host (test_seeds_oai.py)


def entry(domain: str, **values: object) -> AllowlistEntry:
    return AllowlistEntry(**{"domain": domain, "tier": "A", "licence": "CC0-1.0", **values})  # type: ignore[arg-type]


def reasons(scope: Scope, url: str) -> dict[str, str]:
    return {via: str(scope.admits(url, via=via).reason) for via in VIAS}


def test_links_are_followed_inside_a_seeded_host_and_nowhere_else() -> None:
    scope = Scope(link_hosts=frozenset({"docs.example.org"}))
    assert set(reasons(scope, "https://docs.example.org/a").values()) == {"seeded"}
    for outside in ("https://example.org/", "https://blog.example.org/", "https://docs.example.org.evil.com/"):
        assert set(reasons(scope, outside).values()) == {"off_scope"}
        assert not scope.admits(outside, via="link").ok
    assert scope.follows_links("https://docs.example.org/a")
    assert not scope.follows_links("https://example.org/a")


def test_a_port_that_is_not_the_default_is_another_host() -> None:
    scope = Scope(link_hosts=frozenset({"127.0.0.1:8001"}))
    assert scope.admits("http://127.0.0.1:8001/a", via="link").ok
    assert not scope.admits("http://127.0.0.1:8002/a", via="link").ok
    assert not scope.admits("http://127.0.0.1/a", via="link").ok


def test_a_host_and_its_www_twin_are_one_site() -> None:
    scope = Scope(link_hosts=frozenset({"www.example.org", "example.net"}))
    assert scope.admits("https://example.org/", via="redirect").ok
    assert scope.admits("http://www.example.net/", via="redirect").ok


def test_a_sitemap_crawl_takes_listed_pages_only() -> None:
    scope = Scope(listed_hosts=frozenset({"example.org"}))
    assert reasons(scope, "https://example.org/a") == {
        "seed": "seeded",
        "sitemap": "seeded",
        "redirect": "seeded",
        "feed": "seeded",
        "link": "links_not_followed",
    }
    assert not scope.admits("https://example.org/a", via="link").ok
    assert not scope.follows_links("https://example.org/a")
    assert not scope.uses_robots_sitemaps("example.org")
    assert reasons(scope, "https://other.org/a")["sitemap"] == "off_scope"


def test_the_longest_allowlist_entry_decides_for_its_subdomains() -> None:
    scope = Scope(entries=(entry("example.org", discovery="links"), entry("law.example.org", licence="PD", tier="B")))
    assert scope.grant("https://a.b.example.org/")[1:3] == ("CC0-1.0", "A")
    assert scope.grant("https://x.law.example.org/")[1:3] == ("PD", "B")
    assert scope.grant("https://notexample.org/")[1:3] == (None, None)
    assert scope.follows_links("https://www.example.org/")
    assert not scope.follows_links("https://law.example.org/")
    assert scope.entry_of("https://law.example.org:8443/") == entry("law.example.org", licence="PD", tier="B")


def test_an_entry_for_www_covers_its_twin_and_no_other_neighbour() -> None:
    scope = Scope(entries=(entry("www.a.org"), entry("www.b.org"), entry("b.org", tier="B")))
    covered = ("https://www.a.org/", "https://a.org/", "https://x.www.a.org/")
    assert [scope.admits(url, via="seed").ok for url in covered] == [True, True, True]
    assert not scope.admits("https://docs.a.org/", via="seed").ok
    assert (scope.grant("https://b.org/").tier, scope.grant("https://www.b.org/").tier) == ("B", "A")


def test_an_entry_with_a_port_covers_that_port_only() -> None:
    scope = Scope(entries=(entry("127.0.0.1:8001"), entry("[::1]:81")))
    assert scope.admits("http://127.0.0.1:8001/", via="seed").ok
    assert not scope.admits("http://127.0.0.1:8002/", via="seed").ok
    assert scope.admits("http://[::1]:81/", via="seed").ok
    assert not scope.admits("http://[::1]/", via="seed").ok


def test_paths_of_an_entry_are_held_for_every_way_in() -> None:
    only_docs = entry("example.org", include=("/docs/",), exclude=("/docs/old/",), discovery="links")
    scope = Scope(entries=(only_docs,))
    assert set(reasons(scope, "https://example.org/docs/a").values()) == {"allowlisted"}
    assert set(reasons(scope, "https://example.org/docs/old/a").values()) == {"path_excluded"}
    assert set(reasons(scope, "https://example.org/blog").values()) == {"path_not_included"}
    assert scope.admits("https://example.org/blog", via="link") == Admission(
        False, AdmissionReason.PATH_NOT_INCLUDED, only_docs
    )


def test_an_entry_outranks_a_seeded_host() -> None:
    scope = Scope(link_hosts=frozenset({"example.org"}), entries=(entry("example.org", exclude=("/private",)),))
    assert not scope.admits("https://example.org/private", via="seed").ok
    assert not scope.admits("https://example.org/a", via="link").ok
    assert not scope.follows_links("https://example.org/a")


def test_an_expired_licence_admits_nothing_but_still_names_itself() -> None:
    now = [1_798_761_599.0]
    scope = Scope(entries=(entry("example.org", expires="2026-12-31"),), clock=lambda: now[0])
    assert scope.admits("https://example.org/", via="sitemap").ok
    now[0] += 1
    assert set(reasons(scope, "https://example.org/").values()) == {"licence_expired"}
    assert str(scope.admits_sitemap("https://example.org/s.xml").reason) == "licence_expired"
    assert scope.grant("https://example.org/")[1:3] == ("CC0-1.0", "A")


def test_robots_sitemaps_are_used_where_no_sitemap_is_given() -> None:
    scope = Scope(
        entries=(entry("a.org"), entry("b.org", sitemaps=("https://b.org/s.xml",)), entry("c.org", discovery="links")),
        robots_sitemap_hosts=frozenset({"d.org"}),
    )
    assert [scope.uses_robots_sitemaps(host) for host in ("www.a.org", "b.org", "c.org", "d.org", "e.org")] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_a_sitemap_file_is_judged_by_its_host_and_not_by_its_path() -> None:
    scope = Scope(entries=(entry("a.org", include=("/docs/",), sitemaps=("https://cdn.example/a.xml",)),))
    assert scope.admits_sitemap("https://a.org/sitemap-2.xml").ok
    assert scope.admits_sitemap("https://cdn.example/a.xml").ok
    assert scope.admits_sitemap("https://cdn.example/b.xml").reason == "named"  # by robots.txt, an index, a redirect
    assert not scope.admits_sitemap("https://cdn.example/b.xml", via="feed").ok
    assert not scope.admits_sitemap("ftp://a.org/sitemap.xml").ok
    assert not scope.admits("https://cdn.example/a.html", via="sitemap").ok


@pytest.mark.parametrize("url", ["", "mailto:a@b.org", "https://a@b.org/", "https://"])
def test_something_that_is_no_url_is_refused_with_that_reason(url: str) -> None:
    scope = Scope(link_hosts=frozenset({"b.org"}))
    assert scope.admits(url, via="link").reason is AdmissionReason.NOT_A_URL
    assert not scope.follows_links(url)
    assert scope.grant(url)[1:3] == (None, None)


def test_merging_adds_hosts_and_lets_the_newer_entry_hold() -> None:
    first = Scope(link_hosts=frozenset({"a.org"}), entries=(entry("x.org"), entry("y.org")))
    second = Scope(listed_hosts=frozenset({"b.org"}), entries=(entry("x.org", tier="B"),))
    merged = first.merge(second)
    assert (merged.link_hosts, merged.listed_hosts) == ({"a.org"}, {"b.org"})
    assert [(e.domain, e.tier) for e in merged.entries] == [("x.org", "B"), ("y.org", "A")]
    assert merged.merge(first.merge(second)) == merged


_domains = st.sampled_from(["a.org", "www.a.org", "x.a.org", "b.net:81", "127.0.0.1:80", "[::1]:81"])
_hosts = st.frozensets(_domains, max_size=3)
_entries = st.builds(
    AllowlistEntry,
    domain=_domains,
    tier=st.sampled_from("AB"),
    licence=st.text(min_size=1, max_size=5),
    expires=st.sampled_from([None, "2026-12-31"]),
    sitemaps=st.sampled_from([(), ("https://a.org/s.xml",)]),
    include=st.sampled_from([(), ("/a", "/b/*")]),
    delay=st.sampled_from([None, 0.5]),
    max_pages=st.sampled_from([None, 7]),
    discovery=st.sampled_from(["sitemap", "links"]),
)
_scopes = st.builds(Scope, _hosts, _hosts, _hosts, st.lists(_entries, max_size=3).map(tuple))


@given(_scopes, _scopes)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_a_scope_is_the_same_after_its_way_through_redis(one: Scope, two: Scope) -> None:
    assert Scope.from_json(one.to_json()) == one
    assert Scope.from_json(one.to_json().encode()).to_json() == one.to_json()
    assert (one == two) == (one.to_json() == two.to_json())
    assert one.merge(one) == one
    assert one.merge(two).merge(two) == one.merge(two)


@given(_scopes, _scopes, st.sampled_from(VIAS))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_merging_host_rules_never_takes_a_page_away(one: Scope, two: Scope, via: Via) -> None:
    hosts_only = Scope(two.link_hosts, two.listed_hosts, two.robots_sitemap_hosts)
    for url in ("https://a.org/a", "https://x.a.org/b/1", "http://b.net:81/c"):
        if one.admits(url, via=via).ok:
            assert one.merge(hosts_only).admits(url, via=via).ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        "[" * 10_000,
        '{"format":1,"link_hosts":"a.org","listed_hosts":[],"robots_sitemap_hosts":[],"entries":[]}',
        '{"format":1,"link_hosts":[1],"listed_hosts":[],"robots_sitemap_hosts":[],"entries":[]}',
        '{"format":1,"link_hosts":[],"listed_hosts":[],"robots_sitemap_hosts":[],"entries":[{"domain":"a.org"}]}',
        '{"format":1,"link_hosts":[],"listed_hosts":[],"robots_sitemap_hosts":[],"entries":[{"domain":"a.org",'
        '"tier":"A","licence":"x","expires":"never"}]}',
        '{"format":1,"link_hosts":[],"listed_hosts":[],"robots_sitemap_hosts":[],"entries":[{"domain":"a.org",'
        '"tier":"A","licence":"x","delay":"1"}]}',
        '{"format":1,"link_hosts":[],"listed_hosts":[],"robots_sitemap_hosts":[],"entries":[{"domain":"a.org",'
        '"tier":null,"licence":"x"}]}',
    ],
)
def test_a_stored_scope_that_cannot_be_read_says_what_to_do(text: str) -> None:
    with pytest.raises(ScopeError, match="seed the crawl again"):
        Scope.from_json(text)


def test_a_scope_of_another_version_is_not_guessed_at() -> None:
    text = Scope().to_json().replace('"format":2', '"format":3')
    with pytest.raises(ScopeError, match="has format 3, expected 2"):
        Scope.from_json(text)


def test_of_a_host_with_folders_only_what_is_below_them_is_taken_whoever_names_it() -> None:
    scope = plan_seeds(url="https://www.example.org/docs/en/index.html?a=/b,https://other.org/", below="yes").scope
    for inside in ("https://example.org/docs/en/", "https://www.example.org/docs/en/x?y", "https://other.org/any"):
        assert set(reasons(scope, inside).values()) == {"seeded"}
    for outside in ("https://example.org/", "https://example.org/docs/eng", "https://example.org/docs/en"):
        assert set(reasons(scope, outside).values()) == {"path_not_included"}
    assert Scope.from_json(scope.to_json()) == scope


def test_a_later_run_adds_its_folder_or_opens_the_whole_host() -> None:
    first = plan_seeds(url="https://a.org/x/", below="yes").scope
    both = first.merge(plan_seeds(url="https://a.org/y/", below="yes").scope)
    assert [both.admits(f"https://a.org/{path}/1", via="link").ok for path in "xyz"] == [True, True, False]
    assert first.merge(Scope()) == first  # a worker that joins
    assert both.merge(plan_seeds(url="https://a.org/").scope).admits("https://a.org/z", via="link").ok


@pytest.mark.parametrize(
    "arguments", [{"url": "https://a.org/", "below": "maybe"}, {"sitemap": "https://a.org/s", "below": "yes"}]
)
def test_below_needs_a_url_and_is_yes_or_no(arguments: dict[str, str]) -> None:
    with pytest.raises(InputError, match="below"):
        plan_seeds(**arguments)


@pytest.mark.parametrize("found_by", ["link", "sitemap", "seed"])
def test_a_route_behind_a_hash_names_a_page_only_where_the_allowlist_says_so(found_by):
    routed = AllowlistEntry("app.example", "A", "CC0-1.0", discovery="links", js_routes="hash")
    scope = Scope(entries=(routed, AllowlistEntry("docs.example", "A", "CC0-1.0", discovery="links")))
    for host, kept in (("app.example", "#/a"), ("docs.example", "")):
        body = f"<urlset><url><loc>https://{host}/x#/a</loc></url><url><loc>https://{host}/x#top</loc></url></urlset>"
        first, second = parse_sitemap(body.encode(), f"https://{host}/sitemap.xml").entries
        link, admission = judged(scope, Link(first.url, found=first.found), found_by)
        assert (link.url, admission.ok) == (f"https://{host}/x{kept}", True)
        assert link.asked == f"https://{host}/x{kept}"
        assert second.url == f"https://{host}/x"
