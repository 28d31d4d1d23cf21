"""How the cores of a machine are shared out."""

import pytest

from crawler.supervise.plan import Plan, plan


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
