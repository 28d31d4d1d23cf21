"""The allowlist file: what it says, and that every error names its line."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.problems import InputError
from crawler.seeds import patterns
from crawler.seeds.allowlist import AllowlistEntry, parse_allowlist, read_allowlist
from crawler.seeds.plan import plan_seeds
from tests.support.places import PROJECT
from tests.support.positions import by_line

EXAMPLE = PROJECT / "docs" / "examples" / "allowlist.yaml"


def problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_allowlist(text.encode(), "list.yaml")
    return by_line(caught.value.problems)


def test_the_example_in_the_documentation_is_read_in_full() -> None:
    first, law, docs = read_allowlist(EXAMPLE)
    assert first == AllowlistEntry(
        domain="example.org",
        tier="A",
        licence="CC-BY-4.0",
        reviewer="Corpus team",
        date="2026-11-01",
        expires="2027-12-31",
        sitemaps=("https://www.example.org/sitemap.xml",),
        exclude=("/login", "/search", "/*/print$"),
        delay=2.0,
        max_pages=50_000,
    )
    assert (law.discovery, law.reviewer, law.line) == ("sitemap", "Corpus team", 19)
    assert (docs.licence, docs.discovery, docs.tracking) == ("Apache-2.0", "links", ("ref", "theme"))
    assert plan_seeds(allowlist=str(EXAMPLE), clock=lambda: 1_795_305_600.0).warnings == []


def test_the_documentation_explains_every_key() -> None:
    page = (EXAMPLE.parents[1] / "seeds.md").read_text("utf-8")
    table = page.partition("| key | value |")[2].partition("\n\n")[0]
    documented = {name for row in table.splitlines() for name in re.findall(r"`([a-z_]+)`", row.split("|")[1:2][0])}
    assert documented - {"license"} == {f.name for f in dataclasses.fields(AllowlistEntry) if f.compare}


def test_a_plain_list_needs_no_wrapping() -> None:
    (entry,) = parse_allowlist(b"- {domain: Example.ORG, tier: B, licence: CC0-1.0}")
    assert entry == AllowlistEntry(domain="example.org", tier="B", licence="CC0-1.0")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("bücher.example", "xn--bcher-kva.example"),
        ("127.0.0.1:8001", "127.0.0.1:8001"),
        ("localhost:80", "localhost"),
        ("'[::1]:81'", "[::1]:81"),
    ],
)
def test_a_domain_is_written_as_people_write_it_and_read_as_urls_have_it(written: str, read: str) -> None:
    assert parse_allowlist(f"- {{domain: {written!s}, tier: A, licence: x}}".encode())[0].domain == read


def test_every_problem_is_reported_at_once_with_its_line() -> None:
    assert problems(
        "- domain: https://example.org/\n"  # 1
        "  teir: A\n"
        "  licence: CC0\n"
        "- domain: example.net\n"  # 4
        "  tier: C\n"
        "  licence: ''\n"
        "  expires: soon\n"
        "  delay: -1\n"
        "  max_pages: 0\n"
        "  include: [docs/, '/a b']\n"
        "  sitemaps: /sitemap.xml\n"
        "  js: yes\n"
        "- example.com\n"  # 13
        "- tier: A\n"
        "  licence: [CC0]\n"
        "- {domain: a.org, tier: A, licence: x, tier: B}\n"  # 16
    ) == [
        "list.yaml:1: domain: expected a domain name such as example.org (subdomains are included, no scheme, no "
        "path), found 'https://example.org/'",
        "list.yaml:2: teir: unknown key; did you mean 'tier'?",
        "list.yaml:5: tier: expected one of A, B, found 'C'",
        "list.yaml:6: licence: expected one line of text, found ''",
        "list.yaml:7: expires: expected a date such as 2026-12-31, found 'soon'",
        "list.yaml:8: delay: expected seconds between requests, from 0 to 3600, found '-1'",
        "list.yaml:9: max_pages: expected a whole number of at least 1, found '0'",
        "list.yaml:10: include: expected a path that starts with '/' such as /docs/ or /blog/*/comments, found 'docs/'",
        "list.yaml:10: include: expected no blanks in a path: write %20, found '/a b'",
        "list.yaml:11: sitemaps: expected an absolute http(s) URL, found '/sitemap.xml'",
        "list.yaml:12: js: expected one of auto, always, never, found 'yes'",
        "list.yaml:13: expected an entry with key: value pairs, starting '- domain: example.org'",
        "list.yaml:15: licence: expected a single value, found a nested structure",
        "list.yaml:16: tier: given twice",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("date: 2026-02-30", "date: expected a date such as 2026-12-31, found '2026-02-30'"),
        ("expires: 31.12.2026", "expires: expected a date such as 2026-12-31, found '31.12.2026'"),
        ('reviewer: "a\\nb"', "reviewer: expected one line of text, found 'a\\nb'"),
        ("js_timeout: 0", "js_timeout: expected seconds that a page may take in the browser, from 1 to 600, found '0'"),
        ("js_wait: 61", "js_wait: expected seconds that the browser waits before it looks at a page, from 0 to 60, "
         "found '61'"),
        ("js_wait_selector: ' '", "js_wait_selector: expected one line of text, found ' '"),
        ("discovery: crawl", "discovery: expected one of sitemap, links, found 'crawl'"),
        (
            "profile: Poems!",
            "profile: expected auto, prose, technical, legal, verse, slides, datatrove, law, medicine, science, code, "
            "finance, or a profile of QUALITY_PROFILES_FILE, found 'Poems!'",
        ),
        ("delay: fast", "delay: expected seconds between requests, from 0 to 3600, found 'fast'"),
        ("delay: .nan", "delay: expected seconds between requests, from 0 to 3600, found '.nan'"),
        ("max_pages: 1e3", "max_pages: expected a whole number of at least 1, found '1e3'"),
        ("exclude: [docs]", "exclude: expected a path that starts with '/' such as /docs/ or /blog/*/comments, found "
         "'docs'"),
        ("include: {a: b}", "include: expected a single value, found a nested structure"),
        ("include: ['" + "/*" * 17 + "']", "include: expected at most 1000 characters and 16 stars, found "
         f"'{'/*' * 17}'"),
        ("tracking: [a&b]", "tracking: expected the name of a query parameter, such as ref, found 'a&b'"),
        ("tracking: ['']", "tracking: expected the name of a query parameter, such as ref, found ''"),
        ("sitemaps: [https://a.org/s priority=5]", "sitemaps: found 'priority=5' behind the URL: expected the URL of a "
         "sitemap; a blank inside a URL is written %20, found 'https://a.org/s priority=5'"),
        ("sitemaps: [ftp://a.org/s]", "sitemaps: expected an absolute http(s) URL, found 'ftp://a.org/s'"),
        ("license: y", "licence: given twice"),
        ("expire: 2026-12-31", "expire: unknown key; did you mean 'expires'?"),
        ("max-pages: 5", "max-pages: unknown key; did you mean 'max_pages'?"),
        ("[1, 2]: 5", "a key has to be a plain word"),
    ],
)  # fmt: skip
def test_each_kind_of_mistake_is_named_with_its_line(line: str, problem: str) -> None:
    entry = "- domain: a.org\n  tier: A\n  licence: x\n"
    assert problems(f"{entry}  {line}\n") == [f"list.yaml:4: {problem}"]
    if problem.startswith(("lic", "[")) or "twice" in problem:
        return
    indented = entry.replace("- ", "  - ", 1).replace("\n  ", "\n    ")
    assert problems(f"defaults:\n  {line}\ndomains:\n{indented}") == [f"list.yaml:2: {problem}"]


@pytest.mark.parametrize("suffix", ["co.uk", "github.io", "com"])
def test_a_public_suffix_is_nobodys_domain(suffix: str) -> None:
    assert problems(f"- {{domain: {suffix}, tier: A, licence: x}}") == [
        "list.yaml:1: domain: expected a registered domain; this one is a public suffix and covers other owners, "
        f"found {suffix!r}"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "list.yaml:1: no domains: expected a list of entries, each starting '- domain:'"),
        ("domains: []", "list.yaml:1: no domains: expected a list of entries, each starting '- domain:'"),
        ("example.org", "list.yaml:1: expected a list of entries, each starting '- domain:'"),
        ("- domain: a.org\n  tier: A", "list.yaml:1: licence: missing; every entry needs domain, tier, licence"),
        (
            "- {domain: a.org, tier: A, licence: }",
            "list.yaml:1: licence: missing; every entry needs domain, tier, licence",
        ),
        ("a:\n  - [1,\n b: 2", "list.yaml:3: expected YAML"),
        ("hosts: [a.org]", "list.yaml:1: hosts: unknown key; known: domains, defaults"),
        ("[" * 100, "list.yaml:1: expected YAML: nested more than 8 levels deep"),
        ("[" * 100_000, "list.yaml:1: expected YAML: nested more than 8 levels deep"),
        (
            "- {domain: a.org, tier: A, licence: x}\n- {domain: A.org, tier: B, licence: y}",
            "list.yaml:2: domain: a.org is in line 1 already: merge the two",
        ),
        ("- {domain: a.org, tier: A, licence: x, zzz: 1}", "list.yaml:1: zzz: unknown key; known: domain, tier"),
    ],
)
def test_a_file_that_is_no_allowlist_says_what_was_expected(text: str, problem: str) -> None:
    assert problems(text)[0].startswith(problem)


def test_all_that_an_entry_lacks_is_said_at_once() -> None:
    assert [problem.split()[1] for problem in problems("- {domain: a.org}\n- {teir: A}\n")] == [
        "tier:",
        "licence:",
        "teir:",
    ]


def test_a_tag_in_the_file_is_text_and_never_an_object() -> None:
    found = problems("- !!python/object/apply:os.getcwd []\n- {domain: !!python/name:os.sep '', tier: A, licence: x}")
    assert found[0] == "list.yaml:1: expected an entry with key: value pairs, starting '- domain: example.org'"
    assert found[1].startswith("list.yaml:2: domain: expected a domain name")


def test_bytes_that_are_not_utf8_are_located() -> None:
    with pytest.raises(InputError, match=r"list.yaml:2:1: expected UTF-8"):
        parse_allowlist(b"- domain: a.org\n  licence: \xe9\n", "list.yaml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: expected a readable allowlist file: No such file"):
        read_allowlist(tmp_path / "none.yaml")


def test_a_licence_holds_to_the_end_of_its_last_day() -> None:
    entry = AllowlistEntry("example.org", "A", "x", expires="2026-12-31")
    assert entry.expires_at == 1_798_761_600.0  # 2027-01-01T00:00:00Z
    assert AllowlistEntry("example.org", "A", "x").expires_at == float("inf")


# --- path patterns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/docs/", "/docs/a", True),
        ("/docs/", "/docs", False),
        ("/docs$", "/docs", True),
        ("/docs$", "/docs/a", False),
        ("/*.html$", "/a/b.html", True),
        ("/*.html$", "/a/b.html?x=1", False),
        ("/*/print", "/a/b/print", True),
        ("/a*a$", "/a", False),
        ("/a*b*c$", "/abbc", True),
        ("/a*b*c$", "/acb", False),
        ("*", "/anything", True),
        ("/*?page=", "/list?page=2", True),
        ("/a**b", "/axb", True),
        ("$", "/", False),
    ],
)
def test_a_pattern_is_a_prefix_with_stars_and_an_end(pattern: str, path: str, expected: bool) -> None:
    assert patterns.matches(pattern, path) is expected


@given(st.text("ab/*", max_size=8), st.booleans(), st.text("ab/", max_size=10))
@example("a*ab", True, "aab")
@settings(deadline=None, derandomize=True, max_examples=500)
def test_a_pattern_means_what_a_backtracking_matcher_says(body: str, anchored: bool, path: str) -> None:
    def slow(pattern: str, text: str) -> bool:
        if not pattern:
            return not anchored or not text
        if pattern[0] == "*":
            return any(slow(pattern[1:], text[i:]) for i in range(len(text) + 1))
        return bool(text) and text[0] == pattern[0] and slow(pattern[1:], text[1:])

    assert patterns.matches(body + "$" * anchored, path) is slow(body, path)


def test_a_pattern_is_compared_in_the_spelling_of_canonical_urls() -> None:
    (entry,) = parse_allowlist("- {domain: a.org, tier: A, licence: x, include: [/ü/, /%7euser/]}".encode())
    assert entry.include == ("/%C3%BC/", "/~user/")
    assert [entry.allows_path(path) for path in ("/%C3%BC/a", "/~user/", "/other")] == ["", "", "path_not_included"]
