"""A short form of the campaigns in which workers live 5 to 60 seconds."""

from __future__ import annotations

import pytest

from bench.faults import lives
from bench.faults.blows import LONGEST_LIFE, SHORTEST_LIFE, lives_of


@pytest.mark.parametrize("number", [0, 1])
def test_only_the_page_that_kills_is_given_up_however_many_workers_die(valkey_url, crawl_name, number):
    outcome, wrong = lives.run(valkey_url, crawl_name, number, life=10.0)
    assert wrong == []
    assert outcome.deaths > 5
    assert (outcome.by_page > 3) is (number == 1)


def test_lives_last_five_to_sixty_seconds_and_only_a_store_has_spools_to_lose():
    drawn = [life for _, life in zip(range(500), lives_of("seed"), strict=False)]
    assert min(life.seconds for life in drawn) >= SHORTEST_LIFE and max(life.seconds for life in drawn) <= LONGEST_LIFE
    assert not any(life.gone for life in drawn) and {life.same_name for life in drawn} == {True, False}
    stored = [life for _, life in zip(range(50), lives_of("seed", spools=True), strict=False)]
    assert all(life.same_name for life in stored) and {life.gone for life in stored} == {True, False}
