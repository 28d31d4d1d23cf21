"""How the cores of a machine are shared out."""

import os

import pytest

from crawler.supervise.plan import Plan, plan, usable_cores


@pytest.mark.parametrize(
    ("cores", "expected"),
    [(1, Plan(1, 1)), (2, Plan(1, 2)), (4, Plan(1, 4)), (8, Plan(2, 4)), (16, Plan(4, 4)), (18, Plan(5, 3))],
)
def test_every_four_cores_get_a_worker_and_every_core_a_stage_process(cores, expected):
    assert plan(cores) == expected


def test_what_is_given_stays_as_it_is():
    assert plan(2, workers=4) == Plan(4, 1)
    assert plan(16, workers=2) == Plan(2, 8)
    assert plan(16, stage_workers=0) == Plan(4, 0)


def test_the_limit_of_a_container_counts_and_no_limit_is_none(tmp_path):
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = tmp_path / "cpu.max"
    assert usable_cores(limit) == mine
    for text, cores in [("max 100000\n", mine), ("100000 100000\n", 1), ("50000 100000\n", 1), ("rubbish", mine)]:
        limit.write_text(text)
        assert usable_cores(limit) == cores
