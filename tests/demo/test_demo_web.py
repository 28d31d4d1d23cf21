"""The demo web answers as its pages declare, over real HTTP, and logs what it was asked."""

from __future__ import annotations

import gzip
import http.client
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawler.document import DropReason
from demo.expectations import Fate, Outcome, expected_outcomes, outcome_of
from demo.pages import PageError, load_page, load_web
from demo.render import Web, listed_pages, page_html
from demo.run import DemoError, Served, crawl_command, remove_corpus, served

SITES = load_web()
WEB = Web(SITES, {name: f"http://127.0.0.{site.number}:8080" for name, site in SITES.items()})
OUTCOMES = expected_outcomes(WEB)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("demo")) as running:
        yield running


def get(server: Served, site: str, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    address = urlsplit(server.web.bases[site])
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=10)
    try:
        connection.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def outcome(site: str, path: str) -> Outcome:
    return OUTCOMES[WEB.url(path, site)]


def test_the_web_has_at_least_six_sites_and_eighty_pages() -> None:
    assert len(SITES) >= 6
    assert len(OUTCOMES) >= 80


def test_every_page_declares_an_outcome_that_can_be_read() -> None:
    assert len(OUTCOMES) == sum(len(site.pages) for site in SITES.values())


def test_most_pages_are_worth_keeping_and_every_fate_occurs() -> None:
    fates = Counter(o.fate for o in OUTCOMES.values())
    assert fates[Fate.KEPT] >= 50
    assert set(fates) == set(Fate)


def test_kept_pages_are_articles_of_at_least_two_hundred_words() -> None:
    short = {
        (page.site, page.path): len(page.body.split())
        for page in WEB.pages()
        if outcome_of(WEB, page).fate in {Fate.KEPT, Fate.ONE_OF} and len(page.body.split()) < 200
    }
    assert short == {}


def test_no_two_kept_pages_share_a_paragraph() -> None:
    kept = [page for page in WEB.pages() if outcome_of(WEB, page).fate is Fate.KEPT]
    paragraphs = Counter(block.strip() for page in kept for block in page.body.split("\n\n"))
    assert [p for p, count in paragraphs.items() if count > 1] == []


def test_there_are_at_least_four_french_and_four_german_articles() -> None:
    languages = Counter(o.language for o in OUTCOMES.values() if o.fate is Fate.KEPT)
    assert min(languages["fr"], languages["de"]) >= 4
    assert languages["en"] >= 45


def test_every_group_of_twins_has_at_least_two_members_on_different_sites() -> None:
    sites: dict[str, set[str]] = {}
    for url, declared in OUTCOMES.items():
        if declared.group:
            sites.setdefault(declared.group, set()).add(str(urlsplit(url).hostname))
    assert len(sites) == 2
    assert all(len(hosts) == 2 for hosts in sites.values())


def test_texts_hold_what_they_are_checked_for() -> None:
    for page in WEB.pages():
        missing = [c for c in page.contains if not c.startswith("[") and c not in page.body]
        assert missing == [], f"{page.site}{page.path}"


def test_every_page_that_must_be_seen_is_linked_listed_or_a_seed() -> None:
    reachable = {"@/"} | {WEB.bases[s.name] + "/" for s in SITES.values() if s.entry == "seed"}
    for site in SITES.values():
        for glob in site.sitemaps:
            reachable |= {WEB.url(p.path, site.name) for p in listed_pages(site, glob) if p.in_sitemap}
    for page in WEB.pages():
        if outcome_of(WEB, page).fate is not Fate.UNSEEN:
            hrefs = re.findall(r'href="([^"#?]+)', page_html(WEB, page))
            reachable |= {WEB.url(h, page.site) for h in [*hrefs, page.location or ""]}
    needed = {url for url, declared in OUTCOMES.items() if declared.fate is not Fate.UNSEEN}
    assert needed - reachable == set()


def test_a_page_is_linked_under_more_than_one_address() -> None:
    html = page_html(WEB, SITES["workshop"].pages["/repair/"])
    assert len(set(re.findall(r'href="(/repair/kettle[^"]*)"', html))) == 2


def test_redirects_point_to_pages_of_the_demo_web() -> None:
    targets = {WEB.url(page.location, page.site) for page in WEB.pages() if page.location}
    assert targets <= set(OUTCOMES)


def test_an_unknown_key_in_the_front_matter_is_refused_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("---\ntitle: A\nexpects: kept\n---\ntext\n")
    with pytest.raises(PageError, match=r"page\.md:3: expected one of"):
        load_page(tmp_path, file)


def test_a_page_without_an_expectation_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("---\ntitle: A\n---\ntext\n")
    with pytest.raises(PageError, match="lacks expect"):
        load_page(tmp_path, file)


def test_an_unknown_reason_is_refused() -> None:
    page = SITES["library"].pages["/desk/thin"]
    with pytest.raises(PageError, match="rejected boring"):
        outcome_of(WEB, type(page)(**{**_fields(page), "expect": "rejected boring"}))


def _fields(page: object) -> dict[str, object]:
    return {name: getattr(page, name) for name in page.__slots__}  # type: ignore[attr-defined]


def test_disallowed_pages_and_pages_on_hold_are_never_to_be_requested() -> None:
    for declared in OUTCOMES.values():
        if declared.reasons & {DropReason.ROBOTS_DISALLOWED, DropReason.HOLD_ROBOTS_UNREACHABLE}:
            assert declared.requests == (0, 0)


def test_all_sites_are_served_at_their_own_address(server: Served) -> None:
    assert len(set(server.web.bases.values())) == len(SITES)
    for name in SITES:
        assert get(server, name, "/")[0] == 200


def test_the_robots_txt_of_the_closed_site_answers_503(server: Served) -> None:
    assert get(server, "closed", "/robots.txt")[0] == 503


def test_the_sitemap_index_names_a_compressed_urlset(server: Served) -> None:
    base = server.web.bases["almanac"]
    index = get(server, "almanac", "/sitemap.xml")[2].decode()
    assert f"{base}/sitemap-2.xml.gz" in index
    urlset = gzip.decompress(get(server, "almanac", "/sitemap-2.xml.gz")[2]).decode()
    assert f"<loc>{base}/sky/swifts</loc>" in urlset


def test_a_flaky_page_fails_once_and_then_answers(server: Served) -> None:
    assert [get(server, "workshop", "/flaky")[0] for _ in range(3)] == [500, 200, 200]


def test_a_busy_page_says_when_to_come_back(server: Served) -> None:
    status, headers, _ = get(server, "kitchen", "/busy")
    assert (status, headers["Retry-After"]) == (429, "1")
    assert get(server, "kitchen", "/busy")[0] == 200


def test_a_redirect_to_another_site_is_absolute(server: Served) -> None:
    status, headers, _ = get(server, "workshop", "/moved-bread")
    assert (status, headers["Location"]) == (308, server.web.bases["kitchen"] + "/only-by-redirect")


def test_opt_outs_are_on_the_wire(server: Served) -> None:
    assert get(server, "registry", "/notices/quiet-header")[1]["X-Robots-Tag"] == "noai"
    assert b'<meta name="robots" content="noai, noimageai">' in get(server, "registry", "/notices/noai")[2]


def test_a_page_is_not_sent_twice_to_a_client_that_has_it(server: Served) -> None:
    etag = get(server, "library", "/science/soap")[1]["ETag"]
    status, _, body = get(server, "library", "/science/soap", If_None_Match=etag)
    assert (status, body) == (304, b"")


def test_the_access_log_says_who_asked_for_what(server: Served) -> None:
    get(server, "continent", "/fr/pont?utm_source=test", User_Agent="TestBot/1.0")
    lines = [json.loads(line) for line in server.access_log.read_text("utf-8").splitlines()]
    line = next(entry for entry in lines if entry["path"] == "/fr/pont?utm_source=test")
    assert (line["status"], line["method"], line["user_agent"]) == (200, "GET", "TestBot/1.0")
    assert line["address"] == server.web.bases["continent"].removeprefix("http://")
    assert line["time"] == pytest.approx(server.access_log.stat().st_mtime, abs=60)


def test_the_crawl_is_told_about_seeds_and_sitemaps_but_not_about_strangers(server: Served, tmp_path: Path) -> None:
    command = crawl_command(server, tmp_path / "seeds.txt", tmp_path / "corpus", ["-L", "INFO"])
    seeds = (tmp_path / "seeds.txt").read_text("utf-8").split()
    assert f"sitemap={server.web.bases['almanac']}/sitemap.xml" in command
    assert command[-2:] == ["-L", "INFO"]
    assert server.web.bases["library"] + "/" in seeds
    assert server.web.bases["stranger"] + "/" not in seeds


def test_the_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    with served(tmp_path) as running:
        address = urlsplit(running.web.bases["library"])
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection(str(address.hostname), address.port, timeout=5).connect()


def test_a_port_that_is_taken_is_reported_as_a_sentence(server: Served, tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="ended with code 1"), served(tmp_path, server.ports[0]):
        pass


def test_a_folder_that_is_no_corpus_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("four years of work")
    with pytest.raises(DemoError, match="choose another folder"):
        remove_corpus(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_an_earlier_demo_corpus_is_removed(tmp_path: Path) -> None:
    (tmp_path / "demo-corpus").mkdir()
    (tmp_path / "demo-corpus" / "manifest.json").write_text("{}")
    remove_corpus(tmp_path / "demo-corpus")
    assert not (tmp_path / "demo-corpus").exists()


def test_pages_that_must_stay_unseen_are_linked_only_where_links_are_not_followed() -> None:
    followed = [
        page
        for page in WEB.pages()
        if SITES[page.site].entry == "seed"
        and ("robots", "nofollow") not in page.metas
        and OUTCOMES[WEB.url(page.path, page.site)].requests != (0, 0)
    ]
    linked = {WEB.url(h, page.site) for page in followed for h in re.findall(r'href="([^"#?]+)', page_html(WEB, page))}
    unseen = {
        url
        for url, declared in OUTCOMES.items()
        if declared.fate is Fate.UNSEEN and not url.startswith(WEB.bases["stranger"])
    }
    assert linked & unseen == set()
