"""The bench of the live page looks at a real crawl with a real `scrapy explore`."""

from __future__ import annotations

from pathlib import Path

from bench.speed.explore_live import crawl


def test_a_crawl_is_looked_at_to_its_end_and_one_alone_is_not(tmp_path: Path) -> None:
    seen = crawl(160, tmp_path / "seen", looking=True)
    alone = crawl(160, tmp_path / "alone", looking=False)
    assert seen.events > 0
    assert 0 <= seen.looking < 1
    assert (alone.events, alone.looking) == (0, 0.0)
    assert seen.seconds > 0 < alone.seconds
