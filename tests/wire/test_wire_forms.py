"""What servers really send is read as Chromium reads it, live and from the archive; every exception has its reason.

The measure is `forms.jsonl`: bytes, and what Chromium showed. A page that it shows is kept with that text under that
address; where it shows nothing, nothing is kept. A robots.txt that it shows holds, one that it cannot read holds the
host.
"""

from __future__ import annotations

import re
from itertools import product
from urllib.parse import unquote

from crawler.urls.canonicalize import canonicalize
from tests.wire.conftest import Crawled
from tests.wire.exceptions import EXCEPTIONS
from tests.wire.forms import PAGE, Form, forms

OF_THE_RUN = {"warc_file", "worker_id", "config_digest"}
"""Fields that say which run wrote the record."""
LEAST_FORMS = 600


def flat(text: str | None) -> str:
    return " ".join((text or "").split())


def agrees(ours: str, shown: str, title: str) -> bool:
    """The same text. A title or a heading, and numbers of one or two digits around a paragraph, are nobody's text."""
    return ours == shown or _core(ours, title) == _core(shown, title)


def _core(text: str, title: str) -> str:
    text = re.sub(r"^(?:Fragment|64) | \d{1,2}$", "", text.removeprefix(title).strip())
    return re.sub(r"(?<=the path )\S+(?= of )", lambda path: unquote(path[0]), text)


def wanted(form: Form, port: int) -> tuple[str, str]:
    """What the crawl has to come to by Chromium's answer: ("kept" or "lost" or a reason, text)."""
    assert form.chromium is not None
    is_readable = "nothing" not in form.chromium and "broken" not in form.chromium
    text = flat(form.chromium.get("text")).replace(":PORT", f":{port}")
    if form.kind != "robots":
        return ("kept", text) if is_readable and text else ("lost", "")
    if not is_readable:
        return "held", ""
    return ("robots_disallowed" if "Disallow: /" in text else "kept"), ""


def came_to(form: Form, crawled: Crawled) -> tuple[str, str]:
    """The same by the records of the crawl; `EXCEPTIONS` name them likewise."""
    assert form.chromium is not None
    seed = f"http://{form.here}:{crawled.port}{PAGE}"
    target = seed
    if form.kind != "robots" and "site" in form.chromium:
        host = {"here": form.here, "there": form.there}.get(form.chromium["site"], form.chromium["site"])
        path = form.chromium["path"].replace(":PORT", f":{crawled.port}")
        target = canonicalize(f"http://{host}:{crawled.port}{path}") or ""
    kept = next((one for one in crawled.live.kept.values() if one["canonical_url"] == target), None)
    if kept is not None:
        return "kept", "" if form.kind == "robots" else flat(kept["text"])
    reason = crawled.live.rejected.get(seed, {}).get("reason", "nothing")
    if form.kind == "robots":
        return ("held" if reason.startswith("hold_") else reason), ""
    return "lost", reason


def agree(form: Form, crawled: Crawled) -> bool:
    verdict, text = wanted(form, crawled.port)
    ours, found = came_to(form, crawled)
    return ours == verdict and (verdict == "lost" or agrees(found, text, form.name))


def test_there_are_many_forms_of_each_kind_and_each_has_its_answer():
    known = forms()
    assert len({form.name for form in known}) == len(known) >= LEAST_FORMS
    assert all(form.chromium for form in known)
    assert {form.kind for form in known} >= {"head", "coding", "type", "redirect", "robots"}


def test_every_form_is_read_as_chromium_reads_it_but_for_the_exceptions_with_a_reason(crawled):
    assert crawled.live.returncode == 0, crawled.live.log[-3000:]
    others = [
        f"{form.name}: {came_to(form, crawled)}, Chromium: {form.chromium}"
        for form in crawled.forms
        if form.name not in EXCEPTIONS and not agree(form, crawled)
    ]
    assert others == []


def test_every_exception_is_one_and_ends_as_its_reason_says(crawled):
    named = {form.name: form for form in crawled.forms}
    assert EXCEPTIONS.keys() <= named.keys()
    assert [name for name in EXCEPTIONS if agree(named[name], crawled)] == []
    ends = {name: came_to(named[name], crawled) for name in EXCEPTIONS}
    wrong = {name: end for name, end in ends.items() if EXCEPTIONS[name].outcome not in end}
    assert wrong == {}


def test_no_form_prints_a_traceback_or_fails_in_a_stage(crawled):
    records = [*crawled.live.rejected.values(), *crawled.again.rejected.values()]
    assert "Traceback" not in crawled.live.log + crawled.again.log
    assert [one["url"] for one in records if one["reason"] in {"stage_error", "stage_crashed", "callback_failed"}] == []


def test_the_archive_gives_the_same_records_again(crawled):
    assert crawled.again.returncode == 0, crawled.again.log[-3000:]
    live, again = ({**one.rejected, **one.kept} for one in (crawled.live, crawled.again))
    archived = [url for url, record in live.items() if record["warc_file"]]
    assert sorted(archived) == sorted(again)
    assert [
        (url, field, live[url][field], again[url][field])
        for url, field in product(archived, live[archived[0]].keys() - OF_THE_RUN)
        if live[url].get(field) != again[url].get(field)
    ] == []
