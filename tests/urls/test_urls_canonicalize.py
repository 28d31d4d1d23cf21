"""One spelling for one page: rules, properties, and the public vectors with every deliberate difference listed."""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, unquote, unquote_to_bytes, urlsplit

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.config import ConfigError, load
from crawler.urls.canonicalize import (
    MAX_URL_LENGTH,
    authority,
    canonicalize,
    host_of,
    path_and_query,
    politeness_scope,
    registrable_domain,
)
from crawler.urls.tracking import (
    BY_DOMAIN,
    DEFAULT_POLICY,
    NAMES,
    PREFIXES,
    SESSION_NAMES,
    SIGNATURES,
    extended_policy,
)
from tests.support.places import PROJECT

# --- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        ("HTTP://ExAmple.ORG:80/A/b", "http://example.org/A/b"),
        ("https://example.org:443", "https://example.org/"),
        ("https://example.org.:8443/", "https://example.org:8443/"),
        ("  https://example.org/a#b \n", "https://example.org/a"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://example.org/%7Euser/%2f/%2A", "https://example.org/~user/%2F/%2A"),
        ("https://example.org/100%/a", "https://example.org/100%25/a"),
        ("https://example.org/a//b/./c/../d", "https://example.org/a//b/d"),
        ("https://example.org/a;jsessionid=1A2B?x=1", "https://example.org/a?x=1"),
        ("https://example.org/?", "https://example.org/"),
        ("http://0x7f.1:8080/", "http://127.0.0.1:8080/"),
        ("http://[0:0::1]/", "http://[::1]/"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
    ],
)
def test_spellings_that_mean_the_same_page_become_one(given_url: str, expected: str) -> None:
    assert canonicalize(given_url) == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("../c?d=1", "https://example.org/a/c?d=1"),
        ("//other.example/x", "https://other.example/x"),
        ("?page=2", "https://example.org/a/b/p.html?page=2"),
        ("", "https://example.org/a/b/p.html?q=1"),
        ("#top", "https://example.org/a/b/p.html?q=1"),
        ("mailto:someone@example.org", None),
        ("javascript:void(0)", None),
        ("data:text/html,hello", None),
    ],
)
def test_a_link_is_resolved_against_its_page(link: str, expected: str | None) -> None:
    assert canonicalize(link, "https://example.org/a/b/p.html?q=1") == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/page",
        "ftp://example.org/",
        "file:///etc/passwd",
        "https://user:secret@example.org/",
        "https://user@example.org/",
        "https://example.org/a\nb",
        "https://example.org/a\x00b",
        "https://exa\tmple.org/",
        "https://example.org/\x7f",
        "https://example.org/\ud800",
        "https://exa mple.org/",
        "https://a..example.org/",
        "https://{tag}.example.org/",
        "https://example.org:0/",
        "https://example.org:65536/",
        "https://" + "a" * 64 + ".org/",
        "https://example.org/" + "a" * MAX_URL_LENGTH,
        "https://example.org/" + "ü" * (MAX_URL_LENGTH // 6),
        "http://",
        "http://.",
        "http://[::1",
        "http://256.1.1.1/",
    ],
)
def test_what_cannot_be_crawled_has_no_name(url: str) -> None:
    assert canonicalize(url) is None


def test_the_longest_url_is_still_a_url() -> None:
    url = "https://example.org/".ljust(MAX_URL_LENGTH, "a")
    assert canonicalize(url) == url
    assert canonicalize(url + "a") is None


# --- URLs as they turn up ---------------------------------------------------------------------------------------------

_URLISH = "abcXYZ019 -._~:/?#[]@!$&'()*+,;=%25utm_gclid\\^`{|}<>\"\tüдß。\u200d\x00"
_text = st.text(alphabet=_URLISH, max_size=40)
_hosts = st.sampled_from(["example.org", "EXAMPLE.org.", "bücher.de", "127.1", "[::1]", "a_b.test", "www.youtube.com"])
_urls = st.one_of(
    st.builds(
        "{}://{}{}/{}?{}#{}".format,
        st.sampled_from(["http", "https", "HTTP", "ftp"]),
        _hosts,
        st.sampled_from(["", ":80", ":443", ":8080", ":"]),
        _text,
        _text,
        _text,
    ),
    st.builds("http://{}".format, st.text(max_size=60)),
    st.text(max_size=60),
)


# --- query policy ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("b=2&a=1", "a=1&b=2"),
        ("a=2&b=0&a=1", "a=2&a=1&b=0"),  # values of one name keep their order
        ("b=2&page", "b=2&page"),  # not a form: left in order
        ("b[]=2&a[]=1", "b%5B%5D=2&a%5B%5D=1"),  # PHP arrays: order matters
        ("utm_source=x&id=7&UTM_Medium=y&fbclid=z", "id=7"),
        ("%75tm_source=x&id=7", "id=7"),
        ("utm_source=x", ""),
        ("ref=start&source=list&id=7", "id=7&ref=start&source=list"),  # may be page parameters
        ("sid=12&id=7", "id=7&sid=12"),
        ("sid=0123456789abcdef0123456789abcdef&id=7", "id=7"),
        ("PHPSESSID=abc&id=7", "id=7"),
        ("z=1&X-Amz-Signature=00ff&utm_source=x", "z=1&X-Amz-Signature=00ff&utm_source=x"),  # signed: every byte counts
        ("a=1&&b=2&", "a=1&b=2"),
        ("one/two&utm_source=x", "one/two"),
        ("q=c%2B%2B+code&a=%26", "a=%26&q=c%2B%2B+code"),
        ("q=tl;dr", "q=tl;dr"),
    ],
)
def test_a_query_loses_what_tracks_and_keeps_what_names(query: str, expected: str) -> None:
    expected_url = "https://example.org/p" + (f"?{expected}" if expected else "")
    assert canonicalize(f"https://example.org/p?{query}") == expected_url


def test_some_parameters_track_on_one_domain_only() -> None:
    assert canonicalize("https://www.youtube.com/watch?v=1&si=abc") == "https://www.youtube.com/watch?v=1"
    assert canonicalize("https://example.org/watch?v=1&si=abc") == "https://example.org/watch?si=abc&v=1"
    assert canonicalize("https://notyoutube.com/watch?v=1&si=abc") == "https://notyoutube.com/watch?si=abc&v=1"


def test_the_list_is_extended_per_domain_without_touching_others() -> None:
    policy = DEFAULT_POLICY.extended({"example.org": frozenset({"From"}), "youtube.com": frozenset({"app"})})
    assert canonicalize("https://news.example.org/?from=rss&id=1", policy=policy) == "https://news.example.org/?id=1"
    assert canonicalize("https://youtube.com/?app=1&si=2&v=3", policy=policy) == "https://youtube.com/?v=3"
    assert canonicalize("https://example.org/?from=rss") == "https://example.org/?from=rss"


# --- scopes ----------------------------------------------------------------------------------------------------------


def test_a_setting_names_domains_and_their_parameters() -> None:
    policy = extended_policy(("example.org:foo", "Bar", "example.net:baz"))
    assert canonicalize("https://a.example.org/?foo=1&bar=2&baz=3", policy=policy) == "https://a.example.org/?baz=3"
    assert canonicalize("https://example.net/?foo=1&bar=2&baz=3", policy=policy) == "https://example.net/?bar=2&foo=1"
    assert extended_policy(()) is DEFAULT_POLICY


@pytest.mark.parametrize(
    "value", ["foo", "example.org:", "exa mple.org:foo", "example.org:a=b", "b\u00fccher.example:a"]
)
def test_a_setting_that_names_no_domain_or_no_parameter_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=r"FRONTIER_TRACKING_PARAMS.*expected a domain and its parameters"):
        load({"FRONTIER_TRACKING_PARAMS": value}.get)


@given(_urls, st.sets(st.sampled_from(["a", "b", "x", "c%C3%BC", "utm", "0"])))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_more_parameters_leave_the_name_of_a_page_its_own_name(url: str, names: set[str]) -> None:
    policy = DEFAULT_POLICY.extended({"example.org": frozenset(names), "0.0.1": frozenset(names)})
    first = canonicalize(url, policy=policy)
    if first is not None:
        assert canonicalize(first, policy=policy) == first
        assert (
            canonicalize(canonicalize(url) or "", policy=policy) == first
        )  # whoever names it first, and whoever again


@pytest.mark.parametrize(
    ("url", "domain", "host"),
    [
        ("https://docs.example.co.uk/a", "example.co.uk", "docs.example.co.uk"),
        ("http://example.org:8080/", "example.org", "example.org"),
        ("https://co.uk/", "co.uk", "co.uk"),
        ("https://a.github.io/", "a.github.io", "a.github.io"),
        ("http://www.site.test/", "site.test", "www.site.test"),
        ("http://intranet/", "intranet", "intranet"),
        ("http://127.0.0.1:8001/", "127.0.0.1:8001", "127.0.0.1:8001"),
        ("https://127.0.0.1/", "127.0.0.1:443", "127.0.0.1:443"),
        ("http://localhost/", "localhost:80", "localhost:80"),
        ("http://a.localhost:81/", "a.localhost:81", "a.localhost:81"),
        ("http://[::1]:81/", "[::1]:81", "[::1]:81"),
        ("https://www.пример.рф/", "xn--e1afmkfd.xn--p1ai", "www.xn--e1afmkfd.xn--p1ai"),
    ],
)
def test_the_politeness_scope_is_who_answers(url: str, domain: str, host: str) -> None:
    assert politeness_scope(url) == registrable_domain(url) == domain
    assert politeness_scope(url, "host") == host


def test_an_authority_is_what_one_robots_txt_speaks_for() -> None:
    assert authority("https://Example.org:443/a?b") == "https://example.org"
    assert authority("http://example.org:8080/a") == "http://example.org:8080"
    assert host_of("http://example.org:8080/a") == "example.org:8080"
    assert path_and_query("http://example.org?b=1") == "/?b=1"


@pytest.mark.parametrize("function", [politeness_scope, registrable_domain, authority, host_of, path_and_query])
def test_asking_about_something_that_is_no_url_says_what_was_expected(function: object) -> None:
    with pytest.raises(ValueError, match=r"expected an http\(s\) URL, found 'mailto:x'"):
        function("mailto:x")  # type: ignore[operator]


# --- properties ------------------------------------------------------------------------------------------------------


@given(_urls)
@example("http://h/%%36%36")
@example("http://h/.;jsessionid=1/x")
@example("http://h/;jsessionid=1;jsessionid=2")
@example("http://h/a;jse;jsessionid=1ssionid=2")
@example("http://h/?a&utm_source=1&b=1&a=2")
@example("http://h/?&utm_source=1")
@example("http://h/?%73ig=1&b=2&a=1&utm_source=x")
@example("http://h/?a%5b=1&a=2")
@settings(deadline=None, derandomize=True, max_examples=600)
def test_a_canonical_url_is_its_own_canonical_url(url: str) -> None:
    first = canonicalize(url)
    if first is not None:
        assert canonicalize(first) == first
        assert first.isascii()
        assert len(first) <= MAX_URL_LENGTH
        assert "#" not in first


@given(_urls, _urls)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_resolving_never_raises_and_is_idempotent(link: str, base: str) -> None:
    found = canonicalize(link, base)
    assert found is None or canonicalize(found, base) == found


@given(_urls)
@example("http://EXAMPLE.org.:80/%7euser/%2f/;jsessionid=1?b=%3d&a=1&utm_source=x#top")
@example("http://h/?z=1&Sig=%61b&a=%7e")
@example("http://h/a;JSESSIONID=2/b?a=1&a=0&gclid=%41")
@settings(deadline=None, derandomize=True, max_examples=800)
def test_only_what_is_listed_may_go_and_nothing_else_may_change(url: str) -> None:
    """Against a slow reader on top of the browser's parse: same server, same path, same query but for the list."""
    found = canonicalize(url)
    if found is None:
        return
    sent = ada_url.URL(url.strip("".join(map(chr, range(0x21)))))
    kept = ada_url.URL(found)
    assert kept.href == found  # a browser sends what is written
    assert (kept.protocol, kept.port, kept.hash) == (sent.protocol, sent.port, "")
    assert kept.hostname == sent.hostname.removesuffix(".")
    assert kept.pathname == _plain(re.sub(r"(?i)(?<=[^.]);jsessionid=[^/;]*", "", _plain(sent.pathname)))
    before, after = sent.search.removeprefix("?"), kept.search.removeprefix("?")
    names = [_plain(part).partition("=")[0].lower() for part in before.split("&")]
    if SIGNATURES & set(names):
        assert after == before
        return
    local = BY_DOMAIN["youtube.com"] if kept.hostname.endswith("youtube.com") else frozenset()
    parts = [_plain(p) for p, name in zip(before.split("&"), names, strict=True) if name not in local]
    parts = [part for part in parts if not _goes(part)]
    assert sorted(filter(None, after.split("&"))) == sorted(filter(None, parts))
    for name in {part.partition("=")[0] for part in parts}:  # the values of one name keep their order
        mine = [part for part in parts if part and part.partition("=")[0] == name]
        assert [part for part in after.split("&") if part and part.partition("=")[0] == name] == mine


def _goes(part: str) -> bool:
    name, _, value = part.partition("=")
    session = name.lower() in SESSION_NAMES and re.fullmatch("[0-9a-fA-F]{32,128}", value)
    return _tracks(name) or bool(session)


def _plain(text: str) -> str:
    """RFC 3986 6.2.2 a character at a time: the slow way, as a check on the fast one."""
    out, at = "", 0
    while at < len(text):
        code = text[at + 1 : at + 3]
        if text[at] == "%" and len(code) == 2 and all(c in "0123456789abcdefABCDEF" for c in code):
            byte = int(code, 16)
            bare = chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-._~") else ""
            out, at = out + (bare or f"%{code.upper()}"), at + 3
            continue
        keeps = text[at].isascii() and (text[at].isalnum() or text[at] in "-._~!$&'()*+,;=:@/?")
        out, at = out + (text[at] if keeps else "".join(f"%{b:02X}" for b in text[at].encode())), at + 1
    return out


_words = st.text(alphabet="abcXYZ019-._~%üд &+", min_size=1, max_size=8).map(
    lambda s: "".join(c if c.isalnum() and c.isascii() else "".join(f"%{b:02x}" for b in c.encode()) for c in s)
)
_pairs = st.lists(st.tuples(st.one_of(_words, st.sampled_from(["a", "b", "utm_source", "gclid"])), _words), max_size=6)


@given(st.lists(st.one_of(_words, st.just("")), max_size=5), _pairs)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_the_page_meant_never_changes(segments: list[str], pairs: list[tuple[str, str]]) -> None:
    path, query = "/" + "/".join(segments), "&".join(f"{name}={value}" for name, value in pairs)
    url = f"https://example.org{path}?{query}"
    found = canonicalize(url)
    assert found is not None
    before, after = urlsplit(url), urlsplit(found)
    if not any(unquote(segment) in (".", "..") for segment in segments):
        assert unquote_to_bytes(after.path) == unquote_to_bytes(before.path)
    assert after.path.count("/") <= before.path.count("/")
    assert _by_name(after.query) == {n: v for n, v in _by_name(before.query).items() if not _tracks(n)}


def _by_name(query: str) -> dict[str, list[str]]:
    """Values by name, each list in its order, as a server reads a form (an own parser: the standard library's)."""
    found: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True, encoding="latin-1"):
        found.setdefault(name, []).append(value)
    return found


def _tracks(name: str) -> bool:
    return name.lower() in NAMES or name.lower().startswith(PREFIXES)


def test_the_lists_hold_lower_case_names_only() -> None:
    names = set(PREFIXES) | NAMES | {name for local in BY_DOMAIN.values() for name in local}
    assert {name for name in names if name != name.lower() or not name.isascii()} == set()
    assert all(registrable_domain(f"https://{domain}/") == domain for domain in BY_DOMAIN)


# --- public vectors --------------------------------------------------------------------------------------------------

SLASHES = "a double slash is a path of its own: servers do answer differently"
SCHEME = "not http(s): not crawlable"
OPAQUE = "a part without = or without a name: the whole query may be one opaque name, so its order stays"
EMPTY_VALUE = "b and b= differ for some servers"
CONTROL = "a control character in a link is an accident or an attack; nobody means it"

DELIBERATE: dict[str, tuple[str | None, str]] = {
    "http://foo.com/\x1a!": (None, CONTROL),
    "http://foo.com/\x01!": (None, CONTROL),
    "http://foo.com//aa/bb/foo.html": ("http://foo.com//aa/bb/foo.html", SLASHES),
    "http://foo.com/aa//bb/foo.html": ("http://foo.com/aa//bb/foo.html", SLASHES),
    "http://foo.com/aa/bb//foo.html": ("http://foo.com/aa/bb//foo.html", SLASHES),
    "http://foo.com//aa//bb//foo.html": ("http://foo.com//aa//bb//foo.html", SLASHES),
    "http://foo.com////aa////bb//foo.html": ("http://foo.com////aa////bb//foo.html", SLASHES),
    "http://foo.com////aa////bb////foo.html": ("http://foo.com////aa////bb////foo.html", SLASHES),
    "file:///foo/bar.txt": (None, SCHEME),
    "ftp:/": (None, SCHEME),
    "http:////": (None, "no host"),
    "http:///////": (None, "no host"),
    "foo.com/index.html": (None, "no scheme: a relative link, not a host; seeds report it with a hint"),
    "ftp://foo.com/index.html": (None, SCHEME),
    "file:/path/index.html": (None, SCHEME),
    "file:/var/www/html/////./bar/index.html": (None, SCHEME),
    "file:/var/www/html/foo/../bar/index.html": (None, SCHEME),
    "http://foo.com/index?a=1&b=": ("http://foo.com/index?a=1&b=", EMPTY_VALUE),
    "http://foo.com/index?b&a=1": ("http://foo.com/index?b&a=1", OPAQUE),
    "http://foo.com/index?b=&a=1": ("http://foo.com/index?a=1&b=", EMPTY_VALUE),
    "http://foo.com/index?&=1&a=1": ("http://foo.com/index?&=1&a=1", OPAQUE),
    "http://foo.com/index?=1&b=1&a=1": ("http://foo.com/index?=1&b=1&a=1", OPAQUE),
}


def _rows(file: Path) -> Iterator[list[str]]:
    for line in file.read_text("utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield next(csv.reader([line], skipinitialspace=True))


def test_the_public_normal_forms_hold_except_where_listed(crawler_commons: Path) -> None:
    rows = list(_rows(crawler_commons / "normalizer" / "weirdToNormalizedUrls.csv"))
    different = {url: canonicalize(url) for url, theirs in rows if canonicalize(url) != theirs.strip()}
    assert len(rows) > 100
    assert different == {url: ours for url, (ours, _) in DELIBERATE.items()}


def test_public_invalid_urls_have_no_name(crawler_commons: Path) -> None:
    rows = [row for (row, *_) in _rows(crawler_commons / "normalizer" / "invalidUrls.csv")]
    assert rows
    assert [row for row in rows if canonicalize(row) is not None] == []


def test_public_relative_links_resolve_as_expected(crawler_commons: Path) -> None:
    rows = list(_rows(crawler_commons / "url-utils" / "url-resolve.csv"))
    assert len(rows) > 10
    wrong = [row for row in rows if canonicalize(row[0], row[1]) != canonicalize(row[2])]
    assert wrong == []


def test_every_web_platform_url_is_read_as_a_browser_reads_it(crawler_commons: Path) -> None:
    """Same page as the browser, or no name at all, and then for a rule of ours: never another page."""
    data = json.loads((crawler_commons / "url-utils" / "wpt-urltestdata.json").read_text("utf-8"))
    cases = [entry for entry in data if isinstance(entry, dict)]
    compared = 0
    for case in cases:
        found = canonicalize(case["input"], case["base"])
        if case.get("failure") or case["protocol"] not in ("http:", "https:") or case["username"] or case["password"]:
            assert found is None, case
        elif found is not None:
            compared += 1
            assert found == canonicalize(case["href"]), case
            host = case["hostname"].removesuffix(".") + (f":{case['port']}" if case["port"] else "")
            assert authority(found) == f"{case['protocol']}//{host}", case
        else:
            assert _refused_by_rule(case), case
    assert compared > 190


def _refused_by_rule(case: dict[str, str]) -> bool:
    host = case["hostname"].removesuffix(".")
    odd_host = not host.replace("-", "").replace("_", "").replace(".", "").isalnum()
    control = any(ord(c) < 0x20 or ord(c) == 0x7F for c in case["input"].strip("".join(map(chr, range(0x21)))))
    return (
        control
        or odd_host
        or case["port"] == "0"
        or len(host) > 253
        or any(not 0 < len(x) < 64 for x in host.split("."))
    )


def test_worker_processes_import_no_framework_with_it() -> None:
    code = (
        "import sys, crawler.urls.canonicalize, crawler.seeds.sitemaps, crawler.urls.traps;"
        "print(sorted({'scrapy', 'twisted', 'redis', 'requests', 'tldextract', 'yaml'} & set(sys.modules)))"
    )
    root = PROJECT
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_documentation_lists_every_tracking_parameter() -> None:
    page = (PROJECT / "docs" / "seeds.md").read_text("utf-8")
    section = page.partition("### Tracking parameters")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`([^`]+)`", section)) - {"BY_DOMAIN", "NAMES", "tracking", "start_urls"}
    documented = {name for name in documented if not name.startswith(("FRONTIER_", "crawler/"))}
    local = {name for names in BY_DOMAIN.values() for name in names}
    assert documented == set(PREFIXES) | NAMES | SIGNATURES | SESSION_NAMES | set(BY_DOMAIN) | local
