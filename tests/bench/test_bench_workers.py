"""What the benches of many workers read out of a run; one small crawl under the autoscaler with real workers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bench.autoscale import processes
from bench.speed import memory, workers
from bench.web.known_site import hosts_of
from bench.web.short_pages import site, urls_of
from bench.web.target import Target, Visit


def visits(times: list[float]) -> list[Visit]:
    return [Visit("h", f"/p/{n}", at, end=at + 0.2) for n, at in enumerate(times)]


def test_the_rate_leaves_out_the_slow_start_and_the_tail() -> None:
    slow, steady, tail = [0.0, 5.0], [10.0 + 0.1 * n for n in range(6)], [20.0, 30.0]
    begin, end, pages = workers.measured_part(visits([*slow, *steady, *tail]))
    assert (begin, end, pages) == (pytest.approx(10.0), pytest.approx(10.5), 5)


def test_workers_that_hinder_each_other_while_the_machine_is_idle_miss_the_bar() -> None:
    one = workers.Result(1, 100, 10.0, 0.9, ())
    eight = workers.Result(8, 800, 70.0, 0.5, ())
    kind = workers.ROUNDS["waiting"]
    assert workers.missed(kind, [one, replace(eight, rate=72.0)]) == []
    assert workers.missed(kind, [one, eight]) == [
        "waiting: 8 workers have 0.88 of 8 times one worker's pages, bar 0.9, while 50% of the machine is idle"
    ]
    assert workers.missed(kind, [one, replace(eight, idle=0.1)]) == [], "the machine is the limit, not the workers"


def test_an_impolite_request_misses_the_bar_of_many_workers() -> None:
    rude = workers.Result(2, 10, 20.0, 0.9, ("h: /p/2 100 ms after /p/1, expected at least 450 ms",))
    assert workers.missed(workers.ROUNDS["waiting"], [rude]) == [f"waiting, 2 workers: {rude.violations[0]}"]


def look(pages: int, size: int) -> memory.Look:
    return memory.Look(float(pages), pages, worker=size, stages=2 * size, server=0)


def test_memory_that_grows_after_the_third_tenth_is_seen() -> None:
    flat = [look(n, 100 if n < 150 else 200) for n in range(1, 1001)]
    assert memory.growth(memory.by_tenth(flat)) == 1.0
    leaking = [look(n, 200 + n // 10) for n in range(1, 1001)]
    assert memory.growth(memory.by_tenth(leaking)) > memory.BAR


def test_every_page_of_the_memory_bench_can_be_reached_from_its_first() -> None:
    pages, reached = memory.Pages("h", 50), {"/p/0"}
    for path in pages:
        assert path in reached, "pages are listed before those that they lead to"
        links = pages[path].body.decode().split('href="')[1:]
        reached |= {link.partition('"')[0] for link in links}
    assert reached == set(pages)
    assert pages["/p/7"].body != pages["/p/8"].body


def test_the_workers_with_the_highest_numbers_go_and_a_number_is_taken_until_its_worker_has_ended(monkeypatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(processes.os, "kill", lambda pid, _: told.append(pid))
    alive = [SimpleNamespace(name=str(n), process=SimpleNamespace(pid=n)) for n in (0, 2, 3)]  # 1 has ended by itself
    started: list[str] = []
    pods = processes.Pods(SimpleNamespace(alive=alive, start=started.append))
    pods.scale(3)
    assert (told, started) == ([3], ["1"])
    pods.scale(4)
    assert started == ["1", "1"], "3 is still on its way out"


def test_a_crawl_that_an_autoscaler_sizes_by_the_exporter_loses_nothing_and_fetches_nothing_twice() -> None:
    run = processes.run(processes.SMALL, processes.RUNNABLE, most=2)
    assert run.problems == []
    assert run.done is not None
    assert run.pages == processes.SMALL.hosts * processes.SMALL.pages
    assert run.looks[0][1] > 0, "the exporter says how much work there is"


def test_the_list_of_short_pages_goes_from_host_to_host() -> None:
    target = Target(hosts_of(2))
    target.sites = {host: site(host, 2, 0.0) for host in target.hosts}
    assert [url.rpartition("0/")[2] for url in urls_of(target)] == ["p/0", "p/0", "p/1", "p/1"]
