"""A worker's name belongs to one worker; what the claims know of deaths is what suspects are judged by."""

from __future__ import annotations

import asyncio

import pytest

from crawler.frontier.claims import LONGEST_LIFE, Claims, Identity, NameTakenError


def named(frontier, token: str, predecessor: str = "") -> Claims:
    return Claims(frontier, Identity("w1", token, predecessor))


def test_a_second_worker_of_a_live_name_is_refused_with_what_to_do(frontier_run, clock):
    async def scenario(frontier):
        first = named(frontier, "one")
        await first.enter()

        async def lives() -> None:
            while True:
                await asyncio.sleep(0.1)
                clock.advance(0.1)
                assert await first.beat()

        life = asyncio.ensure_future(lives())
        with pytest.raises(NameTakenError, match=r"'w1': give each worker a WORKER_ID of its own.*free again after 10"):
            await named(frontier, "two").enter()
        life.cancel()

    frontier_run(scenario)


@pytest.mark.parametrize("predecessor", ["one", "*"])
def test_who_takes_over_from_a_process_that_is_certainly_gone_does_not_wait(frontier_run, clock, predecessor):
    async def scenario(frontier):
        await named(frontier, "one").enter()
        await named(frontier, "two", predecessor).enter()
        assert await named(frontier, "two").beat()
        assert not await named(frontier, "one").beat(), "the one before it must notice"

    frontier_run(scenario)


def test_a_dead_workers_name_is_free_when_its_claim_ends(frontier_run, clock):
    async def scenario(frontier):
        await named(frontier, "one").enter()
        waiting = asyncio.ensure_future(named(frontier, "two", "another").enter())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        clock.advance(LONGEST_LIFE)
        await asyncio.wait_for(waiting, 30)

    frontier_run(scenario)


def test_a_name_that_was_left_is_free_at_once_and_nobody_died(frontier_run, clock):
    async def scenario(frontier):
        first, second = named(frontier, "one"), named(frontier, "two")
        await first.enter()
        clock.advance(9.0)
        await first.leave()
        await second.enter()
        await second.leave()
        assert frontier.death_rate == pytest.approx(1 / 9.0)

    frontier_run(scenario)


def test_leaving_does_not_take_the_name_of_another_worker(frontier_run, clock):
    async def scenario(frontier):
        await named(frontier, "one").enter()
        await named(frontier, "two").leave()
        assert await named(frontier, "one").beat()

    frontier_run(scenario)


def test_the_death_rate_is_that_of_lives_that_the_claims_have_seen(frontier_run, clock):
    async def scenario(frontier):
        for number in range(9):
            claims = named(frontier, f"life {number}", "*")
            await claims.enter()
            for _ in range(5):
                clock.advance(2.0)
                assert await claims.beat()
        assert frontier.death_rate == pytest.approx((8 + 1) / 90.0)
        clock.advance(LONGEST_LIFE)
        await Claims(frontier, Identity("w2", "x")).enter()
        assert frontier.death_rate == pytest.approx((9 + 1) / 90.0)

    frontier_run(scenario)
