"""Quality profiles in real crawls: the allowlist chooses one per domain, and a replay knows it."""

from __future__ import annotations

from tests.support.crawl import Crawl


def test_a_domain_is_judged_by_the_profile_of_its_allowlist_entry_and_so_is_its_replay(crawl, make_site, tmp_path):
    sites = [make_site(address=f"127.0.31.{n}", pages=3) for n in (7, 8)]
    names = [f"{site.address}:{site.port}" for site in sites]
    allowlist = tmp_path / "allowlist.yaml"
    allowlist.write_text(
        "defaults: {tier: A, licence: CC0-1.0, discovery: links}\n"
        f'domains:\n- {{domain: "{names[0]}", profile: legal}}\n- {{domain: "{names[1]}"}}\n'
    )
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("".join(f"{site.url(0)}\n" for site in sites))
    ports = ",".join(str(site.port) for site in sites)
    done = crawl.run({"allowlist": str(allowlist), "seeds": str(seeds)}, NETWORK_PORTS=ports)
    assert done.returncode == 0, done.stderr
    assert profiles(crawl) == {names[0]: {("legal", "allowlist")}, names[1]: {("prose", "page")}}

    again = Crawl(tmp_path / "again")
    process = again.start({"archive": f"{crawl.folder}/archive/*.warc.gz"}, spider="replay")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert profiles(again) == profiles(crawl)


def profiles(crawl: Crawl) -> dict[str, set[tuple[str, str]]]:
    """(profile, who chose it) of every page that the quality stage has seen, by domain."""
    found: dict[str, set[tuple[str, str]]] = {}
    for record in crawl.records() + crawl.records("rejected"):
        signals = record["quality_signals"]
        if "profile" in signals:
            found.setdefault(record["domain"], set()).add((signals["profile"], signals["profile_by"]))
    return found
