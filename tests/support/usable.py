"""A page in a real Chromium, as everybody has to be able to use it: at any width, in light and dark, by axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, sync_playwright

from crawler.browser.find import browser_path
from crawler.config.browser import BrowserConfig

WIDTHS = (1200, 400)
_BROKEN = """() => [...document.querySelectorAll('td, th')].flatMap(cell => {
    if (cell.querySelector('code, a')) return [];
    const found = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const word of node.data.matchAll(/\\b[a-z]{2,12}\\b/gi)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) found.push(word[0]);
        }
    }
    return found;
})"""
"""Short words of a table that stand on two lines, because their column is too narrow."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; skips the test where there is none."""
    path = browser_path(BrowserConfig())
    if path is None:
        pytest.skip("no Chromium: scripts/setup-debian.sh installs one where it may")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def serious(page: Page) -> list[str]:
    """What axe-core finds serious or critical, with the first element."""
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {iframes: false})")
    return [
        f"{one['id']}: {one['nodes'][0]['html']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def complaints(page: Page) -> list[str]:
    """What keeps somebody from using the page as it stands: axe-core, a page wider than the screen, broken words."""
    found = serious(page) + [f"broken: {word}" for word in page.evaluate(_BROKEN)]
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return found + ([f"{wide} px too wide"] if wide > 0 else [])
