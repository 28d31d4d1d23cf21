"""Beside a crawl: the images of what it keeps come behind its pages, at one pace, and the call ends with its runs."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

from crawler.operations import images as operation
from tests.images import pictures as p
from tests.images.hosts import figure, jpeg, page
from tests.images.test_images_life import kept
from tests.support.corpus_crawl import SETTINGS, crawl, finished, start_crawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.operations import answer_of
from tests.support.serving import Gate

DELAY = 0.4


def test_images_come_behind_the_pages_of_a_crawl_at_one_pace_and_the_call_ends_with_its_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(operation, "_POLL_SECONDS", 0.1)
    monkeypatch.setattr(operation, "_REST", 0.0)
    seen: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    first_page = Gate(0)
    with PolicyWeb() as web:
        base = {name: web.base(f"127.7.0.{number}") for number, name in enumerate(("site", "elsewhere"), 1)}

        def noted(answer: Answer, gate: Gate | None = None):
            def respond(handler):
                seen[handler.address].append((time.monotonic(), handler.path))
                if gate is not None:
                    gate.pass_through()
                handler._send(answer, handler.address)

            return respond

        def with_images(number: int) -> Answer:
            named = ((f"{base['site']}/{number}.jpg", "here"), (f"{base['elsewhere']}/{number}.jpg", "elsewhere"))
            return page(number, "".join(figure(url, f"View {number} {where}") for url, where in named))

        numbers = range(4)
        pages = {f"/{n}": noted(with_images(n), first_page if n == 1 else None) for n in numbers}
        web.site("127.7.0.1", pages | {f"/{n}.jpg": noted(jpeg(p.picture(f"{n} here"))) for n in numbers})
        web.site("127.7.0.2", {f"/{n}.jpg": noted(jpeg(p.picture(f"{n} there"))) for n in numbers})
        assert crawl(tmp_path / "corpus", [f"{base['site']}/0"], web.port, DOWNLOAD_DELAY=DELAY).returncode == 0
        seen.clear()
        crawling = start_crawl(
            tmp_path / "corpus", [f"{base['site']}/{n}" for n in numbers], web.port, DOWNLOAD_DELAY=DELAY
        )
        first_page.wait()  # the others are in the queue
        first_page.open()
        settings = {**SETTINGS, "NETWORK_PORTS": web.port, "DOWNLOAD_DELAY": 0, "LOG_LEVEL": "WARNING"}
        given = [f"{name}={value}" for name, value in settings.items()]
        work = replace(
            operation.WORK, declare=lambda parser: (operation.declare(parser), parser.set_defaults(set=given))
        )
        answer = answer_of(
            work, tmp_path / "corpus", "--out", tmp_path / "out", "--min-bytes", 500, "--follow", **settings
        )
        crawled = finished(tmp_path / "corpus", crawling)
        assert (crawled.returncode, list(answer.problems)) == (0, []), crawled.log[-2000:]
        assert len(kept(tmp_path / "out")) == 8
    here = seen["127.7.0.1"]
    order = [path for _, path in here]
    assert sorted(order) == sorted([f"/{n}" for n in numbers if n] + [f"/{n}.jpg" for n in numbers])
    assert max(map(order.index, pages.keys() - {"/0"})) < min(order.index(f"/{n}.jpg") for n in numbers)
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(here)]
    assert min(gaps) > DELAY / 2, gaps  # as the server sees it, on a busy machine
