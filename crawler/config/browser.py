"""Settings of the browser: which pages are rendered, by what, and how far."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.config.declare import setting


@dataclass(frozen=True, slots=True)
class BrowserConfig:
    """Pages that only a browser can read."""

    mode: str = setting("JS_MODE", "auto", "pages rendered in a browser, where the allowlist says nothing else: never; "
                        "auto = those that look like a shell without text, where a browser is found; always",
                        choices=("never", "auto", "always"))  # fmt: skip
    path: str | None = setting("BROWSER_PATH", None, "the Chromium to start; unset = Playwright's own, else the system's",
                               digest=False)  # fmt: skip
    sandbox: bool = setting("BROWSER_SANDBOX", False, "Chromium's own sandbox; needs a user other than root and user "
                            "namespaces, which containers without privileges do not have", digest=False)  # fmt: skip
    concurrency: int = setting("BROWSER_CONCURRENCY", 4, "pages in the browser at a time, for each worker", minimum=1,
                               maximum=64, digest=False)  # fmt: skip
    timeout_seconds: float = setting("BROWSER_TIMEOUT_SECONDS", 60.0, "one page in the browser by the clock, its "
                                     "requests and their turns included", minimum=1.0)  # fmt: skip
    settle_seconds: float = setting("BROWSER_SETTLE_SECONDS", 10.0, "a page that is still loading or changing so long "
                                    "after its last request is taken as it is", minimum=0.1)  # fmt: skip
    cpu_seconds: float = setting("BROWSER_CPU_SECONDS", 20.0, "CPU time that one page may use", minimum=1.0)
    memory_mb: int = setting("BROWSER_MEMORY_MB", 1024, "MiB of memory that one page may use", minimum=128)
    max_requests: int = setting("BROWSER_MAX_REQUESTS", 200, "requests that one page may make for scripts, styles and "
                                "data; those beyond are refused", minimum=0)  # fmt: skip
    capture_bytes: int = setting("BROWSER_CAPTURE_BYTES", 4_194_304, "bytes of JSON (js_capture of the allowlist) that "
                                 "are kept of one page; what comes beyond is left out", minimum=0)  # fmt: skip
    max_scrolls: int = setting("BROWSER_MAX_SCROLLS", 5, "how often a page is scrolled to its end while it grows",
                               minimum=0, maximum=1000)  # fmt: skip
    recycle_pages: int = setting("BROWSER_RECYCLE_PAGES", 200, "the browser is restarted after so many pages",
                                 minimum=1, digest=False)  # fmt: skip
    idle_seconds: float = setting("BROWSER_IDLE_SECONDS", 60.0, "the browser is closed when no page has needed it for so "
                                  "long, and starts again with the next; 0 = never", minimum=0.0,
                                  digest=False)  # fmt: skip
    direct_after: int = setting("BROWSER_DIRECT_AFTER", 3, "a domain whose pages had to be rendered so often in a row "
                                "goes to the browser directly", minimum=1, digest=False)  # fmt: skip
    probe_seconds: float = setting("BROWSER_PROBE_SECONDS", 86_400.0, "after this such a domain has to show again that "
                                   "it needs rendering", minimum=1.0, digest=False)  # fmt: skip
