"""From every form a crawl goes where Chromium goes: refreshes, frames, and sitemaps."""

from __future__ import annotations

import pytest

from crawler.seeds.sitemaps import parse_sitemap
from tests.support.corpus_crawl import CorpusCrawl, crawl
from tests.support.loopback_web import PolicyWeb
from tests.wire.link_forms import KINDS, LinkForm, forms

FORMS = {form.name: form for form in forms()}
PAGES = [name for name, form in FORMS.items() if form.kind != "sitemap"]
LISTS = [name for name, form in FORMS.items() if form.kind == "sitemap"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[CorpusCrawl, PolicyWeb]:
    """One crawl that begins at every form."""
    with PolicyWeb() as web:
        seeds = [FORMS[name].declare(web) for name in PAGES]
        done = crawl(tmp_path_factory.mktemp("links") / "corpus", seeds, web.port)
    return done, web


def asked(web: PolicyWeb, form: LinkForm) -> list[str]:
    known = {form.path, "/robots.txt", "/ai.txt", "/.well-known/tdmrep.json", "/trust.txt", "/.well-known/trust.txt"}
    return [path for path in web.asked[form.address] if path not in known]


@pytest.mark.parametrize("name", PAGES)
def test_a_crawl_asks_for_what_chromium_asks_for(name: str, crawled: tuple[CorpusCrawl, PolicyWeb]) -> None:
    done, web = crawled
    assert done.returncode == 0
    assert sorted(asked(web, FORMS[name])) == sorted(FORMS[name].expected)


@pytest.mark.parametrize("name", LISTS)
def test_a_sitemap_lists_what_chromiums_xml_parser_reads(name: str) -> None:
    form, base = FORMS[name], "http://h.example"
    kind = form.said.get("type", KINDS["sitemap"])
    found = parse_sitemap(form.said["body"].encode("latin-1"), base + form.path, content_type=kind)
    spelled = [(entry.found or entry.url).removeprefix(base) for entry in found.entries]
    assert spelled == form.said.get("crawler", form.said["chromium"]["asked"]), found.problems


def test_enough_forms_of_each_kind_were_shown_to_chromium() -> None:
    counted = {kind: sum(form.kind == kind for form in FORMS.values()) for kind in KINDS}
    assert counted["refresh"] >= 60
    assert counted["frame"] >= 20
    assert counted["sitemap"] >= 35
