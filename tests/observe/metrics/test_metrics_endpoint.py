"""The endpoints, asked over HTTP: a worker's during a real crawl, the frontier's beside it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawler.observe.metrics.endpoint import EndpointError, check_address
from tests.support import warm
from tests.support.places import PROJECT
from tests.support.ports import free_port
from tests.support.serving import DEADLINE, Gate


def scraped(address: str) -> dict[str, float]:
    """Values by name; those of one name with several labels are added."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        text = answer.read().decode()
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def until(condition):
    end = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.05)
    return found


@pytest.fixture
def half_way(crawl, make_site):
    """A crawl of 30 pages that stands at its eleventh request, with its port; the gate opens at the end."""
    site, port = make_site(pages=30), free_port()
    site.gate = Gate(10)
    process = crawl.start({"url": site.url(0)}, NETWORK_PORTS=site.port, METRICS_PORT=port)
    site.gate.wait()
    yield process, site, port
    site.gate.open()
    process.communicate(timeout=DEADLINE)


def test_what_a_worker_says_is_what_its_sites_saw(half_way, crawl):
    process, site, port = half_way
    seen: dict[str, float] = {}

    def agree() -> bool:
        seen.update(scraped(f"http://127.0.0.1:{port}/metrics"))
        answered = len(site.hits) - site.gate.standing
        return seen["corpus_responses_total"] == seen["corpus_response_seconds_count"] == answered

    until(agree)
    assert seen["corpus_responses_total"] >= 10
    assert seen["corpus_leases_total"] >= seen["corpus_documents_kept_total"]
    assert seen["corpus_worker_memory_bytes"] > seen["process_resident_memory_bytes"] > 10_000_000
    site.gate.open()
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    with pytest.raises(OSError, match="refused"):
        scraped(f"http://127.0.0.1:{port}/metrics")


def test_the_frontier_shows_the_figures_of_its_status(half_way, crawl):
    assert half_way
    folder = ["-s", f"CORPUS_DIR={crawl.folder}"]
    call = [sys.executable, "-m", "scrapy", "frontier"]
    exporter = warm.Popen(
        [*call, "export", "--port", "0", *folder],
        cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert exporter.stdout is not None
        address = exporter.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", address), exporter.communicate()
        seen, status = {}, {}

        def agree() -> bool:
            """Pages that were answered a moment ago may still be on their way through the stages."""
            seen.update(scraped(address))
            done = warm.run([*call, "status", "--json", *folder], cwd=PROJECT, capture_output=True, text=True)
            status.update(json.loads(done.stdout))
            counts = status["counts"] | {"fetchable": status["fetchable"]}
            names = ("queued", "leased", "done", "fetchable")
            return all(seen[f"corpus_frontier_{name}"] == counts[name] for name in names)

        until(agree)
    finally:
        exporter.send_signal(signal.SIGTERM)
        _, err = exporter.communicate(timeout=DEADLINE)
    assert exporter.returncode == 143
    assert "Traceback" not in err
    assert seen["corpus_frontier_up"] == 1
    assert seen["corpus_frontier_queued"] == status["counts"]["queued"] > 0
    assert seen["corpus_frontier_leased"] == status["counts"]["leased"] > 0
    assert seen["corpus_frontier_done"] == status["counts"]["done"]
    assert seen["corpus_frontier_server_memory_bytes"] > 500_000
    assert seen["corpus_frontier_fetchable"] == status["fetchable"] > 0
    assert seen["corpus_frontier_scopes"] == status["hosts"] == 1


def test_a_port_that_is_taken_stops_the_crawl_before_its_first_request(crawl, make_site):
    site = make_site(pages=1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        done = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, METRICS_PORT=port)
    assert done.returncode == 1
    assert f"error: METRICS_PORT={port}: 127.0.0.1:{port} cannot be used (Address already in use)" in done.stderr
    assert "Traceback" not in done.stderr
    assert site.hits == []


def test_an_address_of_somebody_else_is_refused_by_its_name(crawl, make_site):
    site = make_site(pages=1)
    done = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, METRICS_PORT=9400, METRICS_HOST="203.0.113.7")
    assert done.returncode == 1
    assert "error: METRICS_PORT=9400: 203.0.113.7:9400 cannot be used" in done.stderr


def test_an_address_that_is_none_is_told_and_not_traced():
    with pytest.raises(EndpointError, match="--port=70000: expected a number up to 65535"):
        check_address("127.0.0.1", 70_000, "--port")
    with pytest.raises(EndpointError, match=r"nosuch\.invalid:0 cannot be used \((?!Unknown)"):
        check_address("nosuch.invalid", 0)


def test_an_address_of_ipv6_is_one():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    check_address("::1", 0)
