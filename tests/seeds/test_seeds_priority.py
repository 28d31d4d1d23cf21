"""A seed file says which of its pages come first."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.frontier.seeding import seed_frontier
from crawler.problems import InputError
from crawler.seeds.plan import plan_seeds
from tests.support.seeding import read_seed_arguments


def written(folder: Path, text: str) -> str:
    path = folder / "seeds.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_each_seed_may_have_a_priority_and_the_others_have_the_usual_one(tmp_path):
    seeds = written(
        tmp_path,
        "https://a.org/1\nhttps://a.org/2 priority=500  # first\nhttps://a.org/3\tpriority=-4096\n"
        "https://a.org/4?priority=9\nhttps://a.org/5 priority=+7\n",
    )
    _, candidates = read_seed_arguments(seeds=seeds)
    assert {c.url.removeprefix("https://a.org/"): c.priority for c in candidates} == {
        "1": 100, "2": 500, "3": -4096, "4?priority=9": 100, "5": 7,
    }  # fmt: skip


@pytest.mark.parametrize("value", ["", "high", "4096", "-4097", "1.5", "1e3", "\u0665", "999999999999"])
def test_a_priority_that_is_no_number_of_the_range_is_named_with_its_line(tmp_path, value):
    seeds = written(tmp_path, f"https://a.org/1\nhttps://a.org/2 priority={value}\n")
    with pytest.raises(InputError) as caught:
        read_seed_arguments(seeds=seeds)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{seeds}:2: priority=")
    assert "expected a whole number from -4096 to 4095" in problem


def test_the_frontier_hands_out_what_comes_first(tmp_path, valkey_url, crawl_name):
    seeds = written(tmp_path, "https://a.org/1\nhttps://a.org/2 priority=50\nhttps://a.org/3 priority=900\n")

    async def order() -> list[str]:
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.0))
        await frontier.open()
        try:
            await seed_frontier(frontier, plan_seeds(seeds=seeds))
            found = []
            while leases := (await frontier.lease(1)).leases:
                found += [lease.url[-1] for lease in leases]
                await frontier.settle([(lease.token, None) for lease in leases])
            return found
        finally:
            await frontier.close()

    assert asyncio.run(order()) == ["3", "1", "2"]
