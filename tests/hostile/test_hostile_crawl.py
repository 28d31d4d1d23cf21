"""One crawl through sites that were made to hurt: it goes on, keeps everything else, and its memory stays bounded."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.hostile.hostile_pages import CASES, MEBIBYTE, article, html, page
from tests.support.corpus_crawl import finished, start_crawl
from tests.support.loopback_web import PolicyWeb

MAX_PROCESS_MEMORY = 640 * MEBIBYTE
"""Stated in docs/network.md: peak resident memory of any process of the crawl (the language models of a worker alone
take some 350)."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_hostile_pages_cost_themselves_only_and_each_has_its_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("WARM", "0")  # its memory is its own
    routes = {case: case.route() for case in CASES}
    with PolicyWeb() as web:
        hostile, good = {}, []
        for number, case in enumerate(CASES, start=1):
            base = web.site(
                f"127.3.0.{number}", {"/page": routes[case], "/good": page(html(article(f"good {number}")))}
            )
            hostile[f"{base}/page"] = case
            good.append(f"{base}/good")
        limits = {"DOWNLOAD_TIMEOUT": 12, "RETRY_TIMES": 0, "LOG_LEVEL": "INFO"}
        process = start_crawl(tmp_path / "corpus", [*hostile, *good], web.port, STAGE_WORKERS=2, **limits)
        with Peaks(process.pid) as peaks:
            crawl = finished(tmp_path / "corpus", process)

    assert crawl.returncode == 0, crawl.log[-3000:]
    assert [url for url in good if url not in crawl.kept] == []
    ends = {case: "kept" if url in crawl.kept else crawl.rejected[url]["reason"] for url, case in hostile.items()}
    assert {case.what: end for case, end in ends.items() if end not in case.reasons} == {}
    assert all(crawl.rejected[url]["detail"] for url, case in hostile.items() if ends[case] != "kept")
    assert {pid: peak for pid, peak in peaks.found.items() if peak > MAX_PROCESS_MEMORY} == {}
    assert len(peaks.found) >= 4  # the crawler, the frontier's server, two workers


class Peaks:
    """Watches a process and its descendants: the peak resident memory of each in bytes, by process id."""

    def __init__(self, root: int) -> None:
        self.found: dict[int, int] = {}
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            waiting = [self._root]
            while waiting:
                pid = waiting.pop()
                self.found[pid] = max(self.found.get(pid, 0), _peak(pid))
                waiting += _children(pid)


def _peak(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, file.read_text().split())
        except OSError:
            continue  # ended meanwhile
    return found
