"""The autoscaler of the bench does what a real one did; its scenarios show what the manifest promises."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bench.autoscale.__main__ import MANIFEST, pods_table
from bench.autoscale.hpa import UP_BY_DEFAULT, Autoscaler, Direction
from bench.autoscale.simulated import Domains, depth, runnable, scenarios, simulate
from crawler.frontier.client import Frontier
from crawler.frontier.overview import overview
from crawler.urls.link import Link
from tests.support.places import PROJECT


def measured(window: float, period: float) -> Autoscaler:
    """As in the measurements (README of the shared data): AverageValue 30, 1 to 20 pods, default scale-up."""
    down = Direction(window, ((False, 1, period),))
    return Autoscaler(30.0, 1, 20, Direction.of(UP_BY_DEFAULT), down)


def test_every_step_of_the_measured_controller_is_computed(shared_data: Path):
    """It looked every 15 seconds and a little; the phase is that of its first step."""
    with (shared_data / "hpa/manifest-behaviour.csv").open() as lines:
        rows = [(float(r["seconds"]), float(r["metric_total"]), int(r["pods"])) for r in csv.DictReader(lines)]
    scaler, pods, looks = measured(600.0, 300.0), 2, 0
    agreed = 0
    for seconds, _, seen in rows:
        while (at := 0.25 + looks * 15.005) <= seconds:
            metric = next(m for s, m, _ in reversed(rows) if s <= at) if at >= rows[0][0] else rows[0][1]
            pods, looks = scaler.sync(at, pods, metric), looks + 1
        agreed += pods == seen
    assert agreed == len(rows) == 71


def test_every_step_of_the_quickened_controller_is_computed(shared_data: Path):
    """It looked every two seconds; each change comes at most two looks away from where it was seen."""
    with (shared_data / "hpa/accelerated.csv").open() as lines:
        rows = [(float(r["seconds"]), float(r["metric_total"]), int(r["pods"])) for r in csv.DictReader(lines)]
    raised = [(0.0, 30.0), (8.7, 300.0), (49.6, 2000.0), (74.8, 45.0), (88.8, 600.0), (98.7, 45.0)]
    scaler, pods, changes = measured(20.0, 10.0), 2, []
    for look in range(70):
        at = 0.6 + look * 2.005
        metric = next(value for since, value in reversed(raised) if since <= at)
        wanted = scaler.sync(at, pods, metric)
        if wanted != pods:
            pods = wanted
            changes.append((at, pods))
    seen = [(s, p) for (s, _, p), (_, _, before) in zip(rows[1:], rows, strict=False) if p != before]
    assert [pods for _, pods in changes] == [pods for _, pods in seen] == [6, 10, 20, 19, 18, 17]
    assert all(abs(ours - theirs) <= 4.0 for (ours, _), (theirs, _) in zip(changes, seen, strict=True))


@pytest.mark.parametrize(("metric", "pods"), [(327.0, 10), (330.1, 12), (270.0, 10), (269.0, 9)])
def test_a_tenth_off_the_target_changes_nothing(metric, pods):
    scaler = Autoscaler(30.0, 1, 20, Direction.of(UP_BY_DEFAULT), Direction(0.0, ((True, 100, 15.0),)))
    assert scaler.sync(0.0, 10, metric) == pods


def test_a_deep_host_starts_one_worker_by_runnable_work_and_all_of_them_by_depth():
    (deep,) = (s for s in scenarios() if s.name == "one deep host")
    by_work, by_depth = (simulate(deep, Autoscaler.read(MANIFEST), figure) for figure in (runnable, depth))
    assert by_work.pages == by_depth.pages == deep.seconds
    assert (max(by_work.pods), max(by_depth.pods)) == (1, 20)


def test_waves_of_seeds_do_not_make_the_number_of_workers_flap():
    for scenario in scenarios():
        assert simulate(scenario, Autoscaler.read(MANIFEST), runnable).turns <= 1, scenario.name


def test_the_simulated_figure_is_the_one_of_the_frontier(frontier_run):
    made = [Domains(3, 100), Domains(2, 10), Domains(2, 100, 20.0)]

    async def scenario(frontier: Frontier) -> None:
        for number, domains in enumerate(made):
            for host in range(domains.count):
                name = f"h{number}-{host}.example"
                await frontier.politeness.set_delay(name, domains.delay, "robots:x")
                await frontier.put([Link(f"https://{name}/{n}") for n in range(int(domains.queued))])
        assert (await overview(frontier)).fetchable == runnable(made) == 3 * 60 + 2 * 10 + 2 * 3

    frontier_run(scenario, delay=1.0)


def test_the_page_of_benchmarks_shows_what_is_computed():
    page = (PROJECT / "docs/benchmarks.md").read_text()
    assert "\n".join(pods_table()) in page
