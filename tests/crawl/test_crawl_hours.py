"""Hours of a domain in a real crawl: outside them nothing arrives there, and the crawl does not wait."""

from __future__ import annotations

import json
import time


def test_a_crawl_ends_while_a_domain_waits_for_its_hours_and_asks_it_for_nothing(crawl, make_site, tmp_path):
    open_, closed = make_site(address="127.0.0.1", pages=3), make_site(address="127.0.0.2", pages=3)
    begin = time.gmtime(time.time() + 3 * 3_600)
    end = time.gmtime(time.time() + 4 * 3_600)
    hours = f"{time.strftime('%H:%M', begin)}-{time.strftime('%H:%M', end)}"
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(
        "defaults: {tier: A, licence: CC0-1.0, discovery: links}\ndomains:\n"
        f'- domain: "{open_.address}:{open_.port}"\n'
        f'- {{domain: "{closed.address}:{closed.port}", hours: "{hours}"}}\n'
    )
    arguments = {"url": f"{open_.url(0)},{closed.url(0)}", "allowlist": str(allowlist)}
    done = crawl.run(arguments, NETWORK_PORTS=f"{open_.port},{closed.port}")
    assert done.returncode == 0, done.stderr
    assert set(crawl.urls()) == open_.urls()
    assert closed.hits == []
    waiting = [record for record in crawl.records("rejected") if f":{closed.port}/" in str(record["url"])]
    assert {record["url"] for record in waiting} == {closed.url(0), closed.url(0).removesuffix("p/0")}
    assert {record["reason"] for record in waiting} == {"hold_hours"}
    assert all(f"crawled only at {hours} UTC" in str(record["detail"]) for record in waiting)
    (run,) = json.loads((crawl.folder / "manifest.json").read_bytes())["runs"]
    assert run["counters"]["frontier/left_on_hold"] == len(waiting) == 2
