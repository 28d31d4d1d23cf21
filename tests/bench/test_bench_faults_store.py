"""What a campaign with an object store holds against a worker that was taken away, and what not."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.faults.blows import Plan
from bench.faults.campaign import _Run
from bench.faults.fleet import Worker

SENTENCE = "error: interrupted by SIGTERM: the crawl had not begun"


@pytest.mark.parametrize(
    ("name", "code", "log", "forgiven"),
    [
        ("w3", -signal.SIGTERM, "Scrapy 2.19.0 started\n", True),
        ("w3", -signal.SIGTERM, "Scrapy 2.19.0 started\nOverridden settings:\n", False),
        ("w3", 128 + signal.SIGTERM, SENTENCE, True),
        ("w3", 128 + signal.SIGTERM, "", False),
        ("w3", 1, SENTENCE, False),
        ("w4", 128 + signal.SIGTERM, SENTENCE, False),
    ],
)
def test_only_a_worker_that_was_taken_away_before_it_began_may_end_by_the_signal(
    tmp_path: Path, name: str, code: int, log: str, forgiven: bool
) -> None:
    (tmp_path / "log").write_text(log)
    nothing = cast("Any", None)
    run = _Run(tmp_path, "", nothing, nothing, Plan(1, 0, ()), "", leaving={"w3"})
    process = cast("Any", SimpleNamespace(poll=lambda: code))
    assert run._left_early(Worker(name, process, tmp_path / "log")) is forgiven
