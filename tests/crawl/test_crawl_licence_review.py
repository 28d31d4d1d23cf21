"""Who reviewed a licence, and when: from the allowlist into record, archive, manifest, summary, and out of a replay."""

import json

from crawler.observe.publish import dataset_card, eu_summary
from crawler.observe.publish.provenance import gather
from crawler.observe.report.summary import summarise
from tests.support.crawl import Crawl

REVIEW = ("Jo Müller", "2026-01-31")


def reviews(crawl):
    records = [*crawl.records(), *crawl.records("rejected")]
    return {str(r["url"]): (r["license_reviewer"], r["license_reviewed"]) for r in records}


def shard_entries(crawl):
    return [e for e in json.loads((crawl.folder / "manifest.json").read_bytes())["files"] if e["kind"] == "shards"]


def test_reviewer_and_day_reach_record_manifest_and_summary_and_a_replay_says_the_same(crawl, make_site, tmp_path):
    reviewed, silent = make_site(pages=2), make_site(pages=1, address="127.0.0.2")
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(
        f'- {{domain: "{reviewed.address}:{reviewed.port}", tier: A, licence: CC-BY-4.0, reviewer: "{REVIEW[0]}", '
        f"date: {REVIEW[1]}}}\n"
        f'- {{domain: "{silent.address}:{silent.port}", tier: B, licence: CC0-1.0}}\n',
        encoding="utf-8",
    )
    urls = ",".join([*reviewed.urls(), *silent.urls()])
    ports = f"{reviewed.port},{silent.port}"
    done = crawl.run({"url": urls, "allowlist": str(allowlist)}, NETWORK_PORTS=ports)
    assert done.returncode == 0, done.stderr
    said = reviews(crawl)
    assert {said[url] for url in reviewed.urls()} == {REVIEW} and {said[url] for url in silent.urls()} == {(None, None)}

    kept = [str(r["url"]) for r in crawl.records()]
    expected = {f"{REVIEW[0]}, {REVIEW[1]}": sum(url in kept for url in reviewed.urls())}
    expected["no review recorded"] = sum(url in kept for url in silent.urls())
    expected = {name: count for name, count in expected.items() if count}
    assert expected[f"{REVIEW[0]}, {REVIEW[1]}"] > 0
    (entry,) = shard_entries(crawl)
    assert entry["reviews"] == expected == summarise(str(crawl.folder)).reviews
    found = gather(str(crawl.folder))
    assert all(f"{name} {count}" in eu_summary.as_markdown(found) for name, count in expected.items())
    assert all(f"| {name} | {count} |" in dataset_card.card(found) for name, count in expected.items())

    again = Crawl(tmp_path / "again")
    done = again.run({"archive": str(crawl.folder / "archive")}, spider="replay")
    assert done.returncode == 0, done.stderr
    assert reviews(again).items() <= said.items() and set(reviews(again)) == {*reviewed.urls(), *silent.urls()}
    assert shard_entries(again)[0]["reviews"] == expected
