"""Crawlee draws the pages of a seed file; `bench/speed/browser.py --peer` runs this in Crawlee's own environment.

Arguments: seed file, output (JSON lines of url and text), Chromium, pages at a time. Each page is taken once its
network is quiet, and its text is what the browser shows. No robots.txt, no delay: what the crawler does beside drawing
is not held against it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path

from crawlee import ConcurrencySettings
from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext


async def main(seeds: Path, output: Path, browser: str, places: int) -> None:
    urls = seeds.read_text("utf-8").split()
    crawler = PlaywrightCrawler(
        headless=True,
        browser_launch_options={"executable_path": browser, "chromium_sandbox": False},
        concurrency_settings=ConcurrencySettings(
            min_concurrency=places, desired_concurrency=places, max_concurrency=places
        ),
        max_request_retries=0,
        request_handler_timeout=timedelta(seconds=60),
        configure_logging=False,
    )
    with output.open("w", encoding="utf-8") as file:

        @crawler.router.default_handler
        async def handle(context: PlaywrightCrawlingContext) -> None:
            await context.page.wait_for_load_state("networkidle")
            text = await context.page.inner_text("body")
            file.write(json.dumps({"url": context.request.url, "text": text}) + "\n")

        await crawler.run(urls)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
