"""Asks the real Chromium what it makes of every form, and writes that into the file.

`python -m tests.wire.ask_chromium [NAME …]`: without names only those that it was not asked before.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from playwright.sync_api import Browser, Error, Page, sync_playwright

from tests.wire.forms import FORMS, LATER, Form, forms, written
from tests.wire.raw_web import RawWeb

CHROMIUM = "/usr/bin/chromium"
MILLISECONDS = 3_000
SHOWN = """() => ({
    text: (document.body && document.contentType !== "application/xml" && document.contentType !== "text/xml")
        ? document.body.innerText : (document.documentElement || {textContent: ""}).textContent,
    type: document.contentType,
})"""


def shown(page: Page, url: str, failures: list[str], later: bool = False) -> dict[str, Any]:
    """What the browser shows in the end, or that it shows nothing, and why; "broken" where it misses the end."""
    try:
        response = page.goto(url, wait_until="commit", timeout=MILLISECONDS)
        page.wait_for_load_state("load", timeout=MILLISECONDS)
        if later:
            page.wait_for_timeout(MILLISECONDS)
    except Error as error:
        if not page.url.startswith("http://") or not _broken(failures):
            return {"nothing": _reason(error)}
    else:
        if response is None or page.url.startswith("chrome-error:"):
            return {"nothing": "error page"}
    found: dict[str, Any] = page.evaluate(SHOWN)
    host, _, path = page.url.partition("://")[2].partition("/")
    found |= {"site": host.rpartition("@")[2].rpartition(":")[0], "path": f"/{path}"}
    return found | ({"broken": _broken(failures)} if _broken(failures) else {})


def _broken(failures: list[str]) -> str:
    """How the network failed; a page that the browser itself gave up, for a download, has not failed."""
    return next((failure.removeprefix("net::") for failure in failures if "ABORTED" not in failure), "")


def _reason(error: Error) -> str:
    message = error.message.splitlines()[0]
    if "Download is starting" in message:
        return "download"
    return next((word for word in message.split() if word.startswith("net::")), message[:80]).removeprefix("net::")


def ask(browser: Browser, web: RawWeb, form: Form) -> Form:
    """The form with the browser's answer."""
    context = browser.new_context()
    failures: list[str] = []
    page = context.new_page()
    page.on("requestfailed", lambda request: failures.append(str(request.failure)))
    found = shown(page, f"http://{form.here}:{web.port}{form.asked}", failures, form.kind in LATER)
    context.close()
    if "site" in found:
        found["site"] = {form.here: "here", form.there: "there"}.get(found["site"], found["site"])
        found["path"] = found["path"].replace(f":{web.port}", ":PORT")
        found["text"] = found["text"].replace(f":{web.port}", ":PORT")
    return replace(form, chromium=found)


def main() -> None:
    known, names = forms(), set(sys.argv[1:])
    with RawWeb(known) as web, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for form in known:
            if form.name in names or form.chromium is None:
                known[form.number] = ask(browser, web, form)
                FORMS.write_text("".join(f"{written(form)}\n" for form in known), encoding="utf-8")
        browser.close()


if __name__ == "__main__":
    main()
