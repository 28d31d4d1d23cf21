"""A query parameter that changes no page is found out by its pairs, and only then; it may be given back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crawler.document import Document, Drop, DropReason
from crawler.frontier.client import Frontier
from crawler.frontier.model import Lease, Wire
from crawler.frontier.outcome import DUPLICATE, KEPT, OTHER, outcome_entry, packed_outcome
from crawler.frontier.parameter_view import ParameterView, learned_parameters, parameters_of
from crawler.urls.candidate import Candidate
from crawler.urls.parameters import SAMPLE, evidence, is_sample, page_identity
from crawler.urls.shape import shape_id_of

SCOPE, HOST = "a.example", "https://a.example"
Text = Callable[[str], int]


def link(url: str) -> Candidate:
    return Candidate(url, depth=1, mark=0, parent=shape_id_of(f"{HOST}/"))


async def visit(frontier: Frontier, text: Text, most: int = 1_000, *, leads_on: bool = True) -> list[str]:
    """Ask everything that is queued; `text` says what each URL shows. Answers the URLs that were asked."""
    asked = []
    while len(asked) < most and (leases := (await frontier.lease(1)).leases):
        (lease,) = leases
        if lease.same_as:
            await frontier.put([link(lease.same_as)])
            await frontier.settle([(lease.token, None, b"", b"")])
            continue
        asked.append(lease.url)
        page = text(lease.url)
        brought = packed_outcome(
            lease, KEPT if page else OTHER, 300.0 if page else 0.0, evidence(lease.url, page, leads_on=leads_on)
        )
        await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
    return asked


async def views(frontier: Frontier) -> dict[str, ParameterView]:
    return {view.name: view for view in await parameters_of(frontier, SCOPE)}


def by_path(url: str) -> int:
    """A site whose parameters mean nothing."""
    return page_identity(url.partition("?")[0], [], [])


def by_url(url: str) -> int:
    return page_identity(url, [], [])


def pages(query: str, n: int = 10) -> list[Candidate]:
    return [link(f"{HOST}/p/{i}{query}") for i in range(n)]


async def begin(frontier: Frontier, *queries: str, n: int = 10) -> None:
    await frontier.order_by_value()
    for query in queries:
        await frontier.put(pages(query, n))


def test_a_parameter_is_learned_from_enough_pairs_and_says_on_what_evidence(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", "?sid=1", "?sid=2")
        await visit(frontier, by_path)
        (view,) = await learned_parameters(frontier)
        assert (view.scope, view.name, view.state, view.different) == (SCOPE, "sid", "l", 0)
        assert view.pages == 10
        assert view.same >= 20
        assert view.bare >= 10
        assert view.example.startswith(f"{HOST}/p/")
        assert "?sid=" in view.example

    frontier_run(scenario, delay=0.0)


def test_few_pairs_and_many_pairs_of_one_page_teach_nothing(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        await frontier.put([link(f"{HOST}/p/1?sid={n}") for n in range(40)])
        await frontier.put([link(f"{HOST}/p/{n}{q}") for n in range(2, 8) for q in ("", "?sid=1")])
        await visit(frontier, by_path)
        view = (await views(frontier))["sid"]
        assert view.same > 40
        assert (view.pages, view.state) == (7, "o")
        assert await learned_parameters(frontier) == []

    frontier_run(scenario, delay=0.0)


def test_one_pair_that_differs_is_enough_against_a_parameter(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "?page=1", "?page=2", "")
        await visit(frontier, lambda url: by_url(url) if "/3" in url else by_path(url))
        view = (await views(frontier))["page"]
        assert view.state == "r"
        assert view.different >= 1
        assert view.example.startswith(f"{HOST}/p/3?page=")
        assert await learned_parameters(frontier) == []

    frontier_run(scenario, delay=0.0)


def test_pages_without_text_say_nothing_for_a_parameter_but_against_it_beside_one_with_text(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", "?page=1", "?page=2")
        await visit(frontier, lambda _: 0)
        view = (await views(frontier))["page"]
        assert (view.same, view.different, view.state) == (0, 0, "o")
        await frontier.put([link(f"{HOST}/p/1?page=3")])
        await visit(frontier, by_url)
        assert (await views(frontier))["page"].state == "r"

    frontier_run(scenario, delay=0.0)


def test_parameters_are_told_apart_when_urls_have_several(frontier_run):
    async def scenario(frontier):
        queries = [f"?id={i}&sid={s}" for i in (1, 2) for s in (7, 8)] + ["?id=1", "?id=2", ""]
        await begin(frontier, *queries)
        await visit(frontier, lambda url: by_url(url.partition("&sid")[0]))
        found = await views(frontier)
        assert found["sid"].state == "l"
        assert found["id"].state == "r"

    frontier_run(scenario, delay=0.0)


def test_parameters_that_always_stand_together_are_compared_with_the_page_without_both(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", *(f"?order={o}&sid={s}" for s in (1, 2) for o in ("up", "down")))
        await visit(frontier, by_path)
        assert {name: view.state for name, view in (await views(frontier)).items()} == {"order": "l", "sid": "l"}

    frontier_run(scenario, delay=0.0)


def test_a_page_without_both_says_nothing_against_either(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", *(f"?page={n}&sid={s}" for s in (1, 2) for n in (1, 2)))
        await visit(frontier, lambda url: by_url(url.partition("&sid")[0]))
        found = await views(frontier)
        assert (found["sid"].state, found["sid"].different) == ("t", 0)
        assert found["page"].state == "r"

    frontier_run(scenario, delay=0.0)


@pytest.mark.parametrize("learn", [0, 1])
def test_links_lose_a_learned_parameter_where_the_crawl_wants_it(frontier_run, learn):
    async def scenario(frontier):
        await begin(frontier, "", "?sid=1", "?sid=2", n=40)
        asked = await visit(frontier, by_path)
        assert (len(asked) == 120) is (learn == 0)
        before = len(asked)
        await frontier.put([*pages("?sid=3", 40), Candidate(f"{HOST}/seed?sid=3", 100)])
        later = await visit(frontier, by_path)
        samples = [c.url for c in pages("?sid=3", 40) if is_sample(c.url, ("sid",))]
        expected = [c.url for c in pages("?sid=3", 40)] if not learn else samples
        assert sorted(later) == sorted([*expected, f"{HOST}/seed?sid=3"])
        assert before >= 40

    frontier_run(scenario, delay=0.0, learn_params=learn)


def test_what_was_queued_before_is_not_asked_but_says_what_its_page_is_called(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", "?sid=1")
        await visit(frontier, by_path, most=10)
        await frontier.put(pages("?sid=9"))
        while not await learned_parameters(frontier):
            assert await visit(frontier, by_path, most=1)
        leases: list[Lease] = []
        while found := (await frontier.lease(1)).leases:
            leases += found
            await frontier.settle([(found[0].token, None)])
        assert leases
        for lease in leases:
            if not is_sample(lease.url, ("sid",)):
                assert lease.same_as == lease.url.partition("?")[0]
                assert lease.learned == ("sid",)

    frontier_run(scenario, delay=0.0, learn_params=1)


def test_a_lease_says_which_parameters_were_taken_off_its_link(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", "?sid=1", "?sid=2")
        await visit(frontier, by_path)
        new = next(f"{HOST}/new/{n}" for n in range(SAMPLE) if not is_sample(f"{HOST}/new/{n}", ()))
        await frontier.put([link(f"{new}?a=1&sid=77")])
        (lease,) = (await frontier.lease(1)).leases
        assert (lease.url, lease.learned, lease.same_as) == (f"{new}?a=1", ("sid",), "")

    frontier_run(scenario, delay=0.0, learn_params=1)


def test_a_parameter_that_stands_on_every_link_is_tried_before_it_is_taken_off(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "?sid=1", "?sid=2")
        asked = await visit(frontier, by_path)
        assert len(asked) == 20
        (view,) = await learned_parameters(frontier)
        assert (view.state, view.bare) == ("t", 0)
        await frontier.put(pages("?sid=3"))
        asked = await visit(frontier, by_path)
        assert [url for url in asked if "?" not in url]
        assert (await views(frontier))["sid"].state == "l"

    frontier_run(scenario, delay=0.0, learn_params=1)


def test_a_parameter_that_pages_cannot_do_without_is_not_taken_off(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "?v=1", "?v=2")
        await visit(frontier, by_path)
        await frontier.put(pages("?v=3"))
        asked = await visit(frontier, lambda url: by_path(url) if "?" in url else 0)
        assert [url for url in asked if "?" not in url]
        assert (await views(frontier))["v"].state == "r"
        await frontier.put(pages("?v=4"))
        assert sorted(await visit(frontier, by_path)) == sorted(c.url for c in pages("?v=4"))

    frontier_run(scenario, delay=0.0, learn_params=1)


def test_a_parameter_that_begins_to_change_pages_is_given_back(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", "?sid=1", n=80)
        await visit(frontier, by_path)
        assert (await views(frontier))["sid"].state == "l"
        samples = [c for c in pages("", 80) if is_sample(c.url, ())]
        assert samples, "the test needs a page among the samples"
        await frontier.put(pages("?sid=2", 80))
        asked = await visit(frontier, by_url)
        assert len(asked) == len(samples)
        view = (await views(frontier))["sid"]
        assert view.state == "r"
        assert view.different >= 1
        await frontier.put(pages("?sid=2", 80))
        assert len(await visit(frontier, by_url)) == 80 - len(samples)

    frontier_run(scenario, delay=0.0, learn_params=1)


def test_what_is_known_is_within_its_bound(frontier_run):
    async def scenario(frontier):
        await begin(frontier)
        found = [link(f"{HOST}/p/{'z' * 150}{i}?{name}=1") for i in range(30) for name in ("a" * 32, "b", f"c{i}")]
        await frontier.put(found)
        await visit(frontier, by_path)
        redis, prefix = frontier.connection.redis, frontier.prefix(0)
        assert await redis.strlen(prefix + "e:a.example") <= 5120
        assert await redis.hlen(prefix + "n:a.example") <= 16
        size = await redis.memory_usage(prefix + "n:a.example", samples=0)
        assert size + await redis.memory_usage(prefix + "e:a.example", samples=0) < 10 * 1024

    frontier_run(scenario, delay=0.0)


def test_a_domain_without_parameters_keeps_nothing(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "")
        await visit(frontier, by_path, leads_on=False)
        assert not await frontier.connection.redis.exists(frontier.prefix(0) + "e:a.example")

    frontier_run(scenario, delay=0.0)


def test_a_purge_forgets_them(frontier_run):
    async def scenario(frontier):
        await begin(frontier, "", "?sid=1")
        await visit(frontier, by_path)
        assert await learned_parameters(frontier)
        await frontier.purge(SCOPE)
        assert await learned_parameters(frontier) == []
        assert await views(frontier) == {}

    frontier_run(scenario, delay=0.0)


def test_outcomes_bear_witness_by_text_and_main_links_and_outages_do_not():
    def said(verdict: Drop | None = None, doc_id: str = "sha256:1", links: list[str] = (), marks: bytes = b"") -> bytes:
        doc = Document(f"{HOST}/p?a=1", doc_id=doc_id, verdict=verdict, token_estimate=9, links=links, link_marks=marks)
        lease = Lease("0.1.x", doc.url, SCOPE, "page", 1, 1, 0, (), 0.0, shape="abc")
        return outcome_entry(lease, doc, 0.0).split(b" ")[2].split(b"&")[0]

    exact = Drop("dedup", DropReason.EXACT_DUPLICATE)
    assert said() == said(exact) != said(doc_id="sha256:2")
    assert said(Drop("quality", DropReason.TOO_SHORT), "") == b"00000000"
    assert said(Drop("fetch", DropReason.DOWNLOAD_FAILED), "") == b"-"
    assert said(Drop("pii", DropReason.STAGE_TIMEOUT), "") == b"-"
    inside, session = [f"{HOST}/list?page=2"], [f"{HOST}/list?page=3"]
    assert said(links=inside, marks=b"\x00") == said(links=session, marks=b"\x00") != said()
    assert said(links=inside, marks=b"\x05") == b"!" + said()  # it only says that there are such links


def test_a_signed_url_is_no_witness():
    assert evidence(f"{HOST}/p?a=1&X-Amz-Signature=ff", 7) == "-"
    assert DUPLICATE != KEPT
