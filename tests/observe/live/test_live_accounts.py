"""After a crawl, a recrawl and a replay the accounts are those of shards, archive and the site's own log."""

from __future__ import annotations

import json
import statistics

from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.support.crawl import Crawl


def numbers(crawl):
    return json.loads((crawl.folder / "stats.json").read_bytes())["accounts"]


def bodies(crawl):
    """Payloads in the archive by URL."""
    found = {}
    for path in sorted((crawl.folder / "archive").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
                found[record.headers["WARC-Target-URI"]] = record.reader.read()
    return found


def test_accounts_after_a_crawl_a_recrawl_and_a_replay(crawl, make_site, tmp_path):
    sites = [make_site(pages=4), make_site(address="127.0.0.2", pages=2)]
    ports = ",".join(str(site.port) for site in sites)
    seeds = {"url": ",".join([*sites[0].urls(), *sites[1].urls(), sites[0].base + "/nothing"])}
    assert crawl.run(seeds, NETWORK_PORTS=ports, COST_REQUEST="0.5").returncode == 0
    found, kept, rejected = numbers(crawl), crawl.records(), crawl.records("rejected")
    whole, archived = found["whole"], bodies(crawl)
    assert whole["requests"] == len(kept) + len(rejected) == 7 and whole["kept"] == len(kept) > 2
    hits = sum(len(site.hits) for site in sites)
    assert whole["all_requests"] == hits > 7 and whole["cost"] == hits / 2 and found["currency"] == "EUR"
    assert whole["received_bytes"] > sum(len(archived[record["url"]]) for record in kept)
    assert whole["tokens"] == sum(record["token_estimate"] for record in kept) > 0
    read = [record for record in (*kept, *rejected) if record["reason" if "reason" in record else "url"] != "gone"]
    yields = [record["char_count"] / len(archived[record["url"]]) for record in read]
    assert abs(whole["extraction_yield"] - statistics.fmean(yields)) < 0.0002
    by = {row["name"]: row for row in found["by"]["domain"]}
    for site in sites:
        own = [record for record in (*kept, *rejected) if str(record["url"]).startswith(site.base)]
        row = by[site.base.removeprefix("http://")]
        assert row["requests"] == len(own) and row["all_requests"] == round(hits * len(own) / 7, 6)
    assert [row["requests"] for row in found["by"]["batch"]] == [7] and whole["cpu_seconds"] > 0

    again = Crawl(tmp_path / "again")
    assert again.run({"archive": str(crawl.folder / "archive")}, spider="replay").returncode == 0
    replayed = numbers(again)["whole"]
    assert (replayed["tokens"], replayed["extraction_yield"]) == (whole["tokens"], whole["extraction_yield"])
    assert replayed["all_requests"] in (None, 0) and replayed["cpu_seconds"] > 0

    settings = {"RECRAWL": 1, "RECRAWL_MIN_SECONDS": 0, "RECRAWL_INTERVAL_SECONDS": 0}
    assert crawl.run(seeds, NETWORK_PORTS=ports, **settings).returncode == 0
    second = numbers(crawl)
    assert second["whole"]["all_requests"] == sum(len(site.hits) for site in sites) > hits
    rows = second["by"]["batch"]
    assert sum(row["all_requests"] for row in rows) == second["whole"]["all_requests"] and len(rows) == 2
    assert second["whole"]["kept"] == len(crawl.records())


def test_the_end_of_a_crawl_warns_of_a_domain_that_has_too_much(crawl, make_site):
    sites = [make_site(pages=1), make_site(address="127.0.0.2", pages=1)]
    ports, seeds = ",".join(str(site.port) for site in sites), {"url": ",".join(site.url(0) for site in sites)}
    done = crawl.run(seeds, NETWORK_PORTS=ports, PROGRESS="auto", CONCENTRATION_WARN="0.1")
    tokens = {str(record["domain"]): record["token_estimate"] for record in crawl.records()}
    assert len(tokens) == 2, crawl.records("rejected")
    share = 100 * max(tokens.values()) / sum(tokens.values())
    said = " ".join(done.stdout.split())
    assert f"{share:.1f} % of the tokens are of one domain, " in said and "above CONCENTRATION_WARN (10 %)" in said
    assert f"the largest has {share:.1f} %" in said
    (warning,) = json.loads((crawl.folder / "stats.json").read_bytes())["warnings"]
    assert warning in said and warning in (crawl.folder / "report.html").read_text()
