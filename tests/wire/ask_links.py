"""Asks the real Chromium where it goes from each form of `links.jsonl`, and writes that into the file.

`python -m tests.wire.ask_links [NAME …]`: without names only the forms that it was not asked about before.
"""

from __future__ import annotations

import sys
from typing import Any

from playwright.sync_api import Browser, Error, sync_playwright

from tests.support.loopback_web import PolicyWeb
from tests.wire.link_forms import FORMS, LinkForm, forms, written

CHROMIUM = "/usr/bin/chromium"
MILLISECONDS = 2_500  # a delay of one second has passed by then
LOCATIONS = """() => ({
    broken: document.querySelector("parsererror") !== null,
    urls: [...document.getElementsByTagNameNS("*", "loc")].map(e => {
        try { return new URL(e.textContent.trim(), e.baseURI).href } catch (error) { return "no URL" }
    }),
})"""


def ask_page(browser: Browser, web: PolicyWeb, form: LinkForm) -> dict[str, Any]:
    """The paths that the browser asks for, scripts off, as a crawler has them."""
    url = form.declare(web)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    try:
        page.goto(url, wait_until="commit")
        page.wait_for_timeout(MILLISECONDS)
    except Error as error:
        print(f"{form.name}: {error.message.splitlines()[0]}", file=sys.stderr)
    context.close()
    asked = dict.fromkeys(path for path in web.asked[form.address] if path not in {form.path, "/favicon.ico"})
    return {"asked": list(asked)}


def ask_sitemap(browser: Browser, web: PolicyWeb, form: LinkForm) -> dict[str, Any]:
    """What the browser's XML parser makes of the file."""
    base = form.declare(web).removesuffix(form.path)
    context = browser.new_context()
    page = context.new_page()
    page.goto(base + form.path)
    found = page.evaluate(LOCATIONS)
    context.close()
    paths = [url.removeprefix(base) for url in found["urls"]]
    return {"asked": paths} | ({"broken": True} if found["broken"] else {})


def main() -> None:
    known, names = forms(), set(sys.argv[1:])
    with PolicyWeb() as web, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for form in known:
            if form.name in names or "chromium" not in form.said:
                ask = ask_sitemap if form.kind == "sitemap" else ask_page
                form.said["chromium"] = ask(browser, web, form)
        browser.close()
    FORMS.write_text("".join(f"{written(form.said)}\n" for form in known), encoding="utf-8")


if __name__ == "__main__":
    main()
