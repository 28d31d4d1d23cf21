"""What a repository answers by OAI-PMH becomes pages and the next list; no harvest ends without a word."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from crawler.problems import InputError
from crawler.seeds.oai import MAX_RESTARTS, Harvest, OaiReader, Repository, list_link, repository_of
from crawler.seeds.plan import plan_seeds, sitemap_links
from crawler.seeds.scope import Scope, ScopeError
from crawler.seeds.sitemaps import Sitemap
from tests.support.oai import IDENTIFY, answer, error, record, records

BASE = "https://repo.example/oai"
ONE = repository_of(BASE)


def read(body: bytes, repository: Repository = ONE, restarts: int = 0, since: str = "", url: str = "") -> Sitemap:
    harvest = Harvest(repository.name, 7, "2026-11-20", restarts)
    return OaiReader((repository,), harvest, {repository.name: since}).read(body, url or f"{BASE}?verb=ListRecords", 1)


def test_a_harvest_begins_with_identify_and_asks_for_what_is_wanted() -> None:
    wishes = (
        repository_of(f"{BASE}?journal=a&set=x:y&from=2026-01-31"),
        repository_of(f"{BASE}?journal=a&metadataPrefix=p"),
    )
    assert wishes[0].first_list == wishes[1].first_list == f"{BASE}?journal=a&verb=Identify"
    found = OaiReader(wishes, now=7.5).read(answer(IDENTIFY), wishes[0].first_list, 0)
    first, second = found.nested
    asked = f"{BASE}?journal=a&verb=ListRecords&metadataPrefix=oai_dc&set=x%3Ay&from=2026-01-31"
    assert first == f"{asked}#oai-{wishes[0].name}-7-2026-11-20-0"
    assert second.partition("#")[0] == f"{BASE}?journal=a&verb=ListRecords&metadataPrefix=p"
    link = list_link(first, 1)
    assert (link.kind, link.again, Harvest.of(link)) == ("sitemap", True, Harvest(wishes[0].name, 7, "2026-11-20"))
    assert "#" not in link.url and link.asked == first
    moved = replace(link, url="https://other.example/oai?x=y", found="", redirects=(first,))
    assert Harvest.of(moved) == Harvest(wishes[0].name, 7, "2026-11-20")


def test_a_later_harvest_asks_for_what_changed_since_and_for_nothing_where_the_wish_ends_before() -> None:
    for url, expected in (
        (BASE, "&from=2026-11-19"),
        (f"{BASE}?from=2026-01-01", "&from=2026-11-19"),
        (f"{BASE}?from=2027-01-01", "&from=2027-01-01"),
        (f"{BASE}?until=2026-10-01", None),
    ):
        one = repository_of(url)
        nested = OaiReader((one,), None, {one.name: "2026-11-19"}).read(answer(IDENTIFY), one.first_list, 0).nested
        assert [url.partition("#")[0].partition("oai_dc")[2] for url in nested] == ([expected] if expected else [])


def test_the_pages_of_records_are_what_they_name_and_the_token_leads_on() -> None:
    found = read(
        records(
            record(1, "https://repo.example/1", "10.1234/x", "https://repo.example/1.pdf", rights=("In Copyright",)),
            record(2, "doi:10.1234/a(b)", rights=("x", "https://creativecommons.org/licenses/by/4.0/")),
            record(3, "ISSN 1234-5678"),
            record(4, "https://repo.example/4", status=' status="deleted"'),
            token="a b&amp;c",
        )
    )
    assert [entry.url for entry in found.entries] == [
        "https://repo.example/1", "https://repo.example/1.pdf", "https://doi.org/10.1234/a(b)",
    ]  # fmt: skip
    assert {entry.lastmod for entry in found.entries} == {1_793_577_600.0 + 86_399}
    assert found.rights["https://doi.org/10.1234/a(b)"] == "https://creativecommons.org/licenses/by/4.0/"
    assert found.rights["https://repo.example/1.pdf"] == "In Copyright"
    assert found.left_out == {"deleted": 1, "no_address": 1}
    assert "oai:repo.example:3" in found.problems[0]
    assert [url.partition("#")[0] for url in found.nested] == [f"{BASE}?verb=ListRecords&resumptionToken=a%20b%26c"]
    assert (found.harvested, found.stopped) == (None, "")
    (onward, *pages) = sitemap_links(found, nesting=1, now=1.8e9)
    assert (onward.kind, onward.depth, onward.again) == ("sitemap", 2, True)
    assert {page.kind for page in pages} == {"page"}


@pytest.mark.parametrize("token", [None, "", "  "])
def test_a_list_without_a_token_is_the_last_one(token: str | None) -> None:
    assert read(records(record(1, "https://repo.example/1"), token=token)).harvested == (ONE.name, "2026-11-20")


def test_arxiv_is_harvested_by_identifiers_and_deleted_ones_are_known_by_their_address() -> None:
    one = repository_of("https://export.arxiv.org/oai2?set=cs", "https://export.arxiv.org/pdf/{id}")
    (first,) = OaiReader((one,)).read(answer(IDENTIFY), one.first_list, 0).nested
    assert "verb=ListIdentifiers&metadataPrefix=oai_dc&set=cs" in first
    headers = "".join(
        f"<header{status}><identifier>oai:arXiv.org:{name}</identifier><datestamp>2026-11-02</datestamp></header>"
        for name, status in (("0704.0001", ""), ("cs/0112017", ""), ("0704.0002", ' status="deleted"'))
    )
    found = read(answer(f"<ListIdentifiers>{headers}<resumptionToken>7|1</resumptionToken></ListIdentifiers>"), one)
    assert [entry.url for entry in found.entries] == [
        "https://export.arxiv.org/pdf/0704.0001", "https://export.arxiv.org/pdf/cs/0112017",
    ]  # fmt: skip
    assert [entry.url for entry in found.deleted] == ["https://export.arxiv.org/pdf/0704.0002"]
    assert "verb=ListIdentifiers&resumptionToken=7%7C1#" in found.nested[0]


def test_an_expired_token_begins_anew_and_not_for_ever() -> None:
    found = read(error("badResumptionToken"), since="2026-11-01")
    assert "&from=2026-11-01#" in found.nested[0] and found.nested[0].endswith("-7-2026-11-20-1")
    assert (found.stopped, found.harvested) == ("", None)
    last = read(error("badResumptionToken"), restarts=MAX_RESTARTS)
    assert last.nested == [] and "badResumptionToken" in last.stopped


def test_no_records_is_a_whole_harvest_and_every_other_error_ends_it_with_a_sentence() -> None:
    assert read(error("noRecordsMatch")).harvested == (ONE.name, "2026-11-20")
    for code in ("badArgument", "cannotDisseminateFormat", "noSetHierarchy", "made up"):
        found = read(error(code))
        assert found.stopped == found.problems[-1] == f"the repository says {code!r}: 'said so'"
        assert found.harvested is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "expected an answer of OAI-PMH"),
        (b"<html><body>down</body></html>", "expected an answer of OAI-PMH"),
        (b'<!DOCTYPE r [<!ENTITY e "x">]><OAI-PMH><ListRecords>&e;</ListRecords></OAI-PMH>', "declares entities"),
        (answer("<GetRecord/>"), "expected a list of records"),
        (records(record(1, "https://repo.example/1"))[:-40], "says nothing of the next one"),
    ],
)
def test_what_is_no_answer_or_a_broken_one_ends_the_harvest_with_a_sentence(body: bytes, said: str) -> None:
    found = read(body)
    assert said in found.stopped and found.harvested is None and found.nested == []


def test_of_a_list_that_was_cut_the_last_record_is_not_believed() -> None:
    whole = records(record(1, "https://repo.example/1"), record(2, "https://repo.example/22"))
    for at in range(whole.index(b"example/22") + 9, len(whole) - 1):
        found = read(whole[:at])
        assert {entry.url for entry in found.entries} <= {"https://repo.example/1"}, whole[:at]
        assert found.stopped


def test_a_harvest_with_a_broken_list_goes_on_and_is_not_taken_for_whole() -> None:
    found = read(records(record(1, "https://repo.example/1"), "<record></odd></record>", token="t"))
    assert [entry.url for entry in found.entries] == ["https://repo.example/1"]
    assert found.nested[0].endswith(f"#oai-{ONE.name}-7--0")
    assert Harvest.of(list_link(found.nested[0], 2)) == Harvest(ONE.name, 7, "")


def test_a_list_that_names_itself_ends_the_harvest() -> None:
    url = f"{BASE}?verb=ListRecords&resumptionToken=t"
    assert read(records(token="t"), url=f"{url}#oai").stopped == "the list names itself as the next one"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"oai": "ftp://x/"}, "oai: ftp://x/: expected the http(s) base URL of a repository"),
        ({"oai": f"{BASE}?verb=Identify"}, "verb is asked by the crawl itself: leave it out"),
        ({"oai": f"{BASE}?from=2026-13-01"}, "from='2026-13-01': expected a day, such as 2026-01-31"),
        ({"oai": f"{BASE}?until=2026-01-31T00:00:00Z"}, "expected a day"),
        ({"oai": f"{BASE}?set="}, "set='': expected a value"),
        ({"oai": f"{BASE}?set=a&set=b"}, "an argument is given twice"),
        ({"oai": BASE, "oai_page": "https://x.example/"}, "expected an http(s) URL with {id} in it"),
        ({"url": BASE, "oai_page": "https://x.example/{id}"}, "oai_page: goes with oai"),
        ({"oai": " , "}, "oai: empty"),
    ],
)
def test_a_wrong_argument_says_what_is_expected(given: dict[str, str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        plan_seeds(**given)  # type: ignore[arg-type]
    assert any(said in problem for problem in caught.value.problems), caught.value.problems


def test_two_sets_of_one_repository_are_one_first_list_and_every_worker_knows_them() -> None:
    plan = plan_seeds(oai=f"{BASE}?set=a, {BASE}?set=b")
    assert [(c.url, c.kind) for batch in plan.batches() for c in batch] == [(f"{BASE}?verb=Identify", "sitemap")]
    scope = Scope.from_json(plan.scope.to_json())
    assert scope.repositories == plan.scope.repositories and len(scope.repositories) == 2
    assert len(Scope().merge(scope).merge(scope).repositories) == 2
    assert scope.names_sitemap(f"{BASE}?resumptionToken=x&verb=ListRecords")
    assert not scope.repositories_of("https://repo.example/sitemap.xml")
    assert scope.admits("https://elsewhere.example/1", via="record").ok
    assert not scope.admits("https://elsewhere.example/1", via="link").ok
    bad = json.loads(scope.to_json()) | {"repositories": [["file:///x", [], ""]]}
    with pytest.raises(ScopeError):
        Scope.from_json(json.dumps(bad))
