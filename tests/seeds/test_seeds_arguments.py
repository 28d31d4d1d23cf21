"""Seed arguments become a scope and candidates, or one list of everything that is wrong with them."""

import gzip
from pathlib import Path

import pytest

from crawler.problems import InputError
from crawler.seeds.plan import (
    MAX_PROBLEMS,
    page_priority,
    plan_seeds,
    sitemap_links,
)
from crawler.seeds.scope import Scope
from crawler.seeds.sitemaps import Sitemap, SitemapEntry
from crawler.urls.link import SEED_PRIORITY, SITEMAP_PRIORITY, Link
from tests.support.seeding import read_seed_arguments

NOW = 1_795_305_600.0  # 2026-11-22
ALLOWLIST = """\
- {domain: a.org, tier: A, licence: CC0-1.0, sitemaps: [https://www.a.org/s.xml]}
- {domain: b.org, tier: B, licence: MIT}
- {domain: "127.0.0.1:8001", tier: A, licence: CC0-1.0, discovery: links}
- {domain: c.org, tier: A, licence: x, discovery: links, include: [/docs/, "/guide/*.html", /docs/x], exclude: [/x]}
- {domain: old.org, tier: A, licence: x, expires: 2026-01-01}
"""


def problems(**arguments: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_seed_arguments(**arguments)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def written(folder: Path, text: str, name: str = "seeds.txt") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def page(url: str) -> Link:
    return Link(url, priority=SEED_PRIORITY)


def sitemap(url: str) -> Link:
    return Link(url, priority=SITEMAP_PRIORITY, kind="sitemap")


def test_urls_open_their_hosts_for_links() -> None:
    scope, candidates = read_seed_arguments(url="https://a.org/x?utm_source=y, http://b.org:8080 ,https://a.org/x")
    assert candidates == [
        Link("https://a.org/x", found="https://a.org/x?utm_source=y", priority=SEED_PRIORITY),
        page("http://b.org:8080/"),
    ]
    assert scope == Scope(link_hosts=frozenset({"a.org", "b.org:8080"}))


def test_a_sitemap_opens_its_host_for_listed_pages() -> None:
    scope, candidates = read_seed_arguments(sitemap="https://a.org/s.xml")
    assert candidates == [sitemap("https://a.org/s.xml")]
    assert scope == Scope(listed_hosts=frozenset({"a.org"}))
    scope, _ = read_seed_arguments(sitemap="https://a.org/s.xml", discovery="links")
    assert scope == Scope(link_hosts=frozenset({"a.org"}))


def test_seeds_without_links_are_found_through_robots_sitemaps() -> None:
    scope, _ = read_seed_arguments(url="https://a.org/", discovery="sitemap")
    assert scope == Scope(listed_hosts=frozenset({"a.org"}), robots_sitemap_hosts=frozenset({"a.org"}))
    assert scope.uses_robots_sitemaps("a.org")


def test_a_seed_file_may_have_comments_blanks_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff# heading\n\nhttps://a.org/1  # first\r\n  https://b.org/2#part\n#https://c.org/\n"
    scope, candidates = read_seed_arguments(seeds=written(tmp_path, text))
    assert candidates == [page("https://a.org/1"), page("https://b.org/2")]
    assert scope == Scope(link_hosts=frozenset({"a.org", "b.org"}))


@pytest.mark.parametrize(
    "behind",
    ["prority=5", "Priority=5", "priority= 5", "priority:5", "5", "priority=5 depth=3", "https://b.org/", "b c"],
)
def test_what_stands_behind_a_seed_and_is_no_priority_is_an_error_and_no_part_of_the_url(tmp_path, behind) -> None:
    path = written(tmp_path, f"https://a.org/\nhttps://a.org/2\t{behind}\n")
    assert problems(seeds=path) == [
        f"{path}:2: found {behind!r} behind the URL: expected one URL a line and nothing behind it but priority=N; "
        "a blank inside a URL is written %20"
    ]


@pytest.mark.parametrize("name", ["url", "sitemap"])
def test_another_argument_behind_a_url_is_an_error_and_no_part_of_it(name) -> None:
    given = {name: "https://a.org/%20x, https://b.org/ discovery=links"}
    assert problems(**given) == [
        f"{name}: found 'discovery=links' behind the URL: expected commas between URLs, and -a before each other "
        "argument; a blank inside a URL is written %20"
    ]


def test_nothing_given_is_an_empty_plan_for_a_worker_that_joins() -> None:
    assert read_seed_arguments() == (Scope(), [])


def test_an_allowlist_gives_sitemaps_or_folders_to_start_from(tmp_path: Path) -> None:
    plan = plan_seeds(allowlist=written(tmp_path, ALLOWLIST), clock=lambda: NOW)
    assert [candidate for batch in plan.batches() for candidate in batch] == [
        sitemap("https://www.a.org/s.xml"),
        sitemap("https://b.org/sitemap.xml"),
        page("http://127.0.0.1:8001/"),
        page("https://c.org/docs/"),
    ]
    assert plan.count == 4
    assert plan.warnings == [f"{tmp_path}/seeds.txt: expired, nothing is fetched: old.org on 2026-01-01"]
    assert len(plan.scope.entries) == 5
    assert plan.scope.grant("https://www.b.org/")[1:3] == ("MIT", "B")
    assert not plan.scope.admits("https://old.org/", via="seed").ok
    assert all(
        plan.scope.admits_sitemap(c.url).ok if c.kind == "sitemap" else plan.scope.admits(c.url, via="seed").ok
        for batch in plan.batches()
        for c in batch
    )


def test_an_allowlist_whose_licences_have_all_expired_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "- {domain: a.org, tier: A, licence: x, expires: 2020-01-31}")
    assert problems(allowlist=path) == [
        f"{path}: every licence has expired (a.org on 2020-01-31): renew them and their 'expires' dates"
    ]


def test_an_entry_that_leaves_nowhere_to_start_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, '- {domain: a.org, tier: A, licence: x, discovery: links, include: ["/*.html"]}')
    assert problems(allowlist=path) == [
        f"{path}:1: a.org: include and exclude leave no folder to start from: list a sitemap or include a folder such "
        "as /docs/"
    ]


def test_a_profile_of_the_allowlist_goes_to_the_pages_of_its_domain(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "- {domain: a.org, tier: A, licence: x}\n- {domain: b.org, tier: A, licence: x, profile: legal}\n",
    )
    plan = plan_seeds(allowlist=path)
    assert plan.warnings == []
    assert [plan.scope.grant(f"https://{host}/").profile for host in ("a.org", "www.b.org", "c.org")] == [
        "",
        "legal",
        "",
    ]


def test_what_an_entry_says_about_the_browser_is_read_under_either_name_of_the_selector(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "- {domain: a.org, tier: A, licence: x, js: always, js_wait_selector: main article, js_timeout: 20}\n"
        "- {domain: b.org, tier: A, licence: x, wait_selector: main}\n",
    )
    first, second = plan_seeds(allowlist=path).scope.entries
    assert (first.js, first.js_wait_selector, first.js_timeout) == ("always", "main article", 20.0)
    assert (second.js, second.js_wait_selector, second.js_timeout) == ("", "main", None)


def test_a_seed_the_allowlist_excludes_is_a_problem_and_not_a_surprise(tmp_path: Path) -> None:
    path = written(tmp_path, "- {domain: a.org, tier: A, licence: x, exclude: [/private/]}", "allow.yaml")
    seeds = written(tmp_path, "https://other.org/\nhttps://a.org/private/2\n")
    assert problems(url="https://a.org/private/1,https://a.org/", seeds=seeds, allowlist=path) == [
        f"{seeds}:2: https://a.org/private/2: the allowlist says no (path excluded): change its entry for a.org or "
        "leave the seed out",
        "url: https://a.org/private/1: the allowlist says no (path excluded): change its entry for a.org or leave the "
        "seed out",
    ]


def test_a_port_that_no_machine_has_is_named() -> None:
    assert problems(url="http://a.org:99999/x") == [
        "url: expected a port from 1 to 65535, found 'http://a.org:99999/x'"
    ]
    assert problems(url="http://me@a.org:99999/") == [
        "url: expected an http(s) URL without user name, found 'http://…@a.org:99999/'"
    ]


def test_every_problem_of_every_argument_is_reported_at_once(tmp_path: Path) -> None:
    seeds = written(
        tmp_path, "https://a.org/\nexample.org/page\nhttps://user:secret@b.org/\n\nftp://c.org/\nwhat is this\n"
    )
    allowlist = written(tmp_path, "- {domain: a.org, teir: A, licence: x}", "allow.yaml")
    found = problems(url="https://a.org/,b.org", sitemap="", seeds=seeds, allowlist=allowlist, discovery="link")
    assert found == [
        "discovery='link': expected links or sitemap; did you mean 'links'?",
        "url: expected an http(s) URL, found 'b.org'; did you mean 'https://b.org'? (a comma inside a URL is written "
        "%2C)",
        "sitemap: empty, expected one or more http(s) URLs separated by commas",
        f"{allowlist}:1:19: teir: unknown key; did you mean 'tier'?",
        f"{seeds}:2: expected an http(s) URL, found 'example.org/page'; did you mean 'https://example.org/page'?",
        f"{seeds}:3: expected an http(s) URL without user name, found 'https://…@b.org/'",
        f"{seeds}:5: expected an http(s) URL without user name, found 'ftp://c.org/'",
        f"{seeds}:6: expected an http(s) URL without user name, found 'what is this'",
    ]


@pytest.mark.parametrize("argument", ["seeds", "allowlist"])
def test_a_file_that_is_not_there_is_named_with_the_folder_it_was_looked_for_in(argument: str, tmp_path: Path) -> None:
    missing = tmp_path / "none.txt"
    assert problems(**{argument: str(missing)}) == [
        f"{argument}={missing}: no such file: check the path (now in {Path.cwd()})"
    ]
    assert problems(**{argument: str(tmp_path)}) == [
        f"{argument}={tmp_path}: not a file: expected the path of a text file"
    ]
    assert problems(**{argument: ""}) == [f"{argument}: empty, expected the path of a file"]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing here\n"])
def test_an_empty_seed_file_is_refused(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert problems(seeds=path) == [f"{path}: no URLs in it: expected one http(s) URL a line, # begins a comment"]


def test_discovery_without_anything_to_apply_it_to_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, ALLOWLIST)
    expected = "discovery='links': goes with url, seeds or sitemap; in an allowlist it is a key of each entry"
    assert problems(allowlist=path, discovery="links") == [expected]
    assert problems(discovery="links") == [expected]


@pytest.mark.parametrize("order", ["le", "be"])
def test_a_seed_file_in_utf_16_is_one_problem_with_a_remedy(order: str, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_bytes("\ufeffhttps://a.org/\n".encode(f"utf-16-{order}"))
    assert problems(seeds=str(seeds)) == [f"{seeds}: is UTF-16, as PowerShell's > writes it; save it as UTF-8"]


def test_a_seed_file_that_is_packed_is_one_problem_with_a_remedy(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt.gz"
    seeds.write_bytes(gzip.compress(b"https://a.org/\n"))
    assert problems(seeds=str(seeds)) == [f"{seeds}: is compressed with gzip; decompress it: gunzip -k seeds.txt.gz"]


def test_a_line_that_is_not_utf_8_says_so(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_bytes(b"https://a.org/caf\xe9\n")
    found = "expected a URL in UTF-8 (or with %XX for such bytes), found 'https://a.org/caf\\udce9'"
    assert problems(seeds=str(seeds)) == [f"{seeds}:1: {found}"]


def test_many_bad_lines_are_listed_up_to_a_limit_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "nonsense\n" * 1000)
    found = problems(seeds=path)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == f"and {1000 - MAX_PROBLEMS} more problems"


def test_bytes_that_are_no_text_and_endless_lines_are_problems_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes(b"https://a.org/\n\xff\xfe\x00h\nhttps://b.org/" + b"x" * 100_000)
    found = problems(seeds=str(path))
    assert found[0] == f"{path}:2: expected a URL in UTF-8 (or with %XX for such bytes), found '\\udcff\\udcfe\\x00h'"
    assert found[1].startswith(f"{path}:3: expected an http(s) URL without user name, found 'https://b.org/xxx")
    assert len(found) == 2


def test_a_large_seed_file_is_streamed_in_batches(tmp_path: Path) -> None:
    path = written(tmp_path, "".join(f"https://h{n % 7}.org/{n}\n" for n in range(2_500)))
    plan = plan_seeds(seeds=path)
    assert [len(batch) for batch in plan.batches()] == [1000, 1000, 500]
    assert plan.count == 2_500
    assert len(plan.scope.link_hosts) == 7


def test_a_seed_file_that_vanishes_between_the_two_readings_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "https://a.org/\n")
    plan = plan_seeds(seeds=path)
    Path(path).unlink()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(plan.batches())


# --- what a sitemap adds ---------------------------------------------------------------------------------------------


def test_a_sitemap_adds_lists_first_and_pages_in_the_order_of_their_worth() -> None:
    found = sitemap_links(
        Sitemap("index", [SitemapEntry("https://a.org/1", NOW - 86_400, 1.0)], ["https://a.org/b.xml"]),
        nesting=1,
        now=NOW,
    )
    assert found == [
        Link("https://a.org/b.xml", priority=SITEMAP_PRIORITY, depth=2, kind="sitemap"),
        Link("https://a.org/1", priority=20, lastmod=NOW - 86_400),
    ]


@pytest.mark.parametrize(
    ("days", "priority", "expected"),
    [
        (None, None, 0),
        (None, 0.5, 0),
        (None, 0.0, -10),
        (None, 1.0, 10),
        (1, None, 10),
        (20, None, 7),
        (200, None, 3),
        (2000, None, 0),
        (-0.5, None, 10),
        (-30, None, 0),
    ],
)
def test_priority_follows_the_site_and_the_date(days: float | None, priority: float | None, expected: int) -> None:
    lastmod = None if days is None else NOW - days * 86_400
    assert page_priority(SitemapEntry("https://a.org/", lastmod, priority), NOW) == expected


def test_a_date_in_the_future_makes_no_page_due_at_each_look_at_the_sitemap() -> None:
    """A page is due at once where its date is after the last visit (`Frontier.hasten`); this one would always be."""
    entries = [SitemapEntry(f"https://a.org/{days}", NOW + days * 86_400) for days in (0, 0.5, 30, 30_000)]
    found = sitemap_links(Sitemap("urlset", entries), nesting=0, now=NOW)
    assert [candidate.lastmod for candidate in found] == [NOW, NOW + 43_200, None, None]
