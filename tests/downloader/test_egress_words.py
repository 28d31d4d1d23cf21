"""What is told of proxies: to a frontier that is open, and to nobody else."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.downloader import egress


@pytest.mark.parametrize("scheduler", [None, SimpleNamespace(is_open=False)], ids=["replay", "before it opens"])
def test_where_no_frontier_is_open_nothing_is_told_and_nothing_fails(scheduler: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(egress, "frontier_of", lambda crawler: scheduler)
    asyncio.run(egress._say(SimpleNamespace(), {}))  # type: ignore[arg-type]
