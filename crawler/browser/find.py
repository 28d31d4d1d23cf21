"""Which Chromium there is, asked before the first request: a setting's, Playwright's own, or the system's.

Of each, the headless shell goes before the whole browser: it draws the same page without a window's machinery, with
half of the CPU time and of the memory (docs/benchmarks.md).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from crawler.browser import driver
from crawler.config.browser import BrowserConfig

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""What distributions call it."""
HOW_TO = (
    "install one (Debian: apt-get install chromium-headless-shell; elsewhere: playwright install chromium) or name it "
    "with BROWSER_PATH"
)
_BUILDS = (
    "chromium_headless_shell-*/chrome-*/*headless*shell",
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*Chrom*",
)
"""Where `playwright install chromium` puts its builds, below the folder of all its browsers."""


def browser_path(config: BrowserConfig, environ: Mapping[str, str] = os.environ) -> str | None:
    """The file to start; None where there is no browser, or not the packages that drive one."""
    if find_spec("scrapy_playwright") is None:
        return None
    if config.path:
        return config.path if _is_program(Path(config.path)) else None
    return _playwrights_own(environ) or _systems(environ)


def problems(config: BrowserConfig, always: Iterable[str] = (), environ: Mapping[str, str] = os.environ) -> list[str]:
    """What keeps a crawl from rendering what it has to, one sentence each; empty where nothing does.

    always: who asks for a browser beside JS_MODE, such as "allowlist.yaml:3: example.org".
    """
    wanted = [*(["JS_MODE=always"] if config.mode == "always" else []), *(f"{who}: js: always" for who in always)]
    if config.path and not _is_program(Path(config.path)) and (wanted or config.mode != "never"):
        return [f"BROWSER_PATH={config.path!r}: expected an executable program; check the path"]
    if not wanted:
        return []
    if find_spec("scrapy_playwright") is None:
        return [f"{who} needs a browser: pip install 'gristmill[browser]' brings what drives one" for who in wanted]
    if browser_path(config, environ) is None:
        return [f"{who} needs a browser, and none was found: {HOW_TO}" for who in wanted]
    fault = driver.driver_fault()
    return [f"{who} needs a browser, and {fault}: {driver.HOW_TO}" for who in wanted if fault]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _playwrights_own(environ: Mapping[str, str]) -> str | None:
    home = Path(environ.get("HOME") or Path.home())
    cache = home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ms-playwright"
    folder = Path(environ.get("PLAYWRIGHT_BROWSERS_PATH") or cache)
    found = [path for pattern in _BUILDS for path in sorted(folder.glob(pattern), reverse=True) if _is_program(path)]
    return str(found[0]) if found else None


def _systems(environ: Mapping[str, str]) -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name, path=environ.get("PATH")))), None)
