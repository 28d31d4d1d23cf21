"""A worker whose own clock is wrong keeps the pauses that a site asks for: the crawl goes by the server's clock."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest

from tests.support.changing_site import ChangingSite, Page
from tests.support.serving import Handler, article
from tests.support.site import Served

SHIFTED = "import time\n_real = time.time\ntime.time = lambda: _real() + {shift}\n"


@dataclass
class BusySite(Served):
    """Says 429 to the first request for its page, in words or with a date of its own clock."""

    asked: list[float] = field(default_factory=list)

    def serve(self, request: Handler) -> None:
        if request.path != "/page":
            request.send(404)
            return
        self.asked.append(time.monotonic())
        if len(self.asked) == 1:
            request.send(429, headers={"Retry-After": "2"})
        else:
            request.send(200, article("page"))


@pytest.mark.parametrize("shift", [-3600, 3600])
def test_a_retry_after_lasts_as_long_as_it_says_whatever_the_workers_clock_shows(crawl, tmp_path, monkeypatch, shift):
    (tmp_path / "sitecustomize.py").write_text(SHIFTED.format(shift=shift))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    site = BusySite().start()
    try:
        done = crawl.run({"url": f"{site.base}/page"}, NETWORK_PORTS=site.port)
    finally:
        site.stop()
    assert done.returncode == 0, done.stderr
    assert crawl.urls() == [f"{site.base}/page"]
    first, second = site.asked
    assert second - first >= 2.0


def test_a_recrawl_by_a_worker_whose_clock_is_behind_replaces_what_an_earlier_visit_kept(crawl, tmp_path, monkeypatch):
    """Its records were dated before the first visit: what had changed was dropped, and an opt-out had no effect."""
    links = tuple(f"/{name}" for name in ("changed", "refused", "same"))
    site = ChangingSite(pages={path: Page(article(path)) for path in links})
    site.pages["/"] = Page(article("start", links=links))
    site.start()
    try:
        assert crawl.run({"url": site.url("/")}, NETWORK_PORTS=site.port).returncode == 0
        site.pages["/changed"] = Page(article("changed since"))
        site.pages["/refused"].headers["X-Robots-Tag"] = "noai"
        (tmp_path / "sitecustomize.py").write_text(SHIFTED.format(shift=-3600))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
        again = crawl.run({"url": site.url("/")}, NETWORK_PORTS=site.port, RECRAWL=1, RECRAWL_INTERVAL_SECONDS=0)
    finally:
        site.stop()
    assert again.returncode == 0, again.stderr
    kept = {str(record["url"]): record for record in crawl.records()}
    assert set(kept) == {site.url("/"), site.url("/changed"), site.url("/same")}
    assert kept[site.url("/changed")]["change_count"] == 1
    assert min(str(r["crawled_at"]) for r in crawl.records("rejected")) > str(kept[site.url("/same")]["crawled_at"])
