"""Profile `law` in a crawl: decisions are kept with their form, other pages of a court are not; a replay agrees."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

import pytest

from tests.support.crawl import Crawl
from tests.support.site import Site

GOLDEN = Path(__file__).resolve().parents[1] / "stages" / "quality" / "golden" / "legal"
PAGES = ("trial_order", "statute", "court_contact", "news_about_a_decision")
FIELDS = ("legal_document_type", "legal_jurisdiction", "legal_court", "legal_court_level", "legal_decision_date",
          "legal_citations")  # fmt: skip


@dataclass
class CourtSite(Site):
    """A site whose pages are texts of the golden folder, each linking to the next."""

    pages: int = len(PAGES)

    def page(self, i: int) -> bytes:
        text = (GOLDEN / f"{PAGES[i]}.txt").read_text("utf-8").partition("\n---\n")[2]
        body = "".join(f"<p>{escape(line)}</p>" for line in text.split("\n") if line)
        link = f'<a href="/p/{i + 1}">next</a>' if i + 1 < self.pages else ""
        return (
            f"<html lang=en><head><title>Page {i}</title></head><body><main>{body}</main>{link}</body></html>".encode()
        )


@pytest.fixture
def court():
    site = CourtSite(address="127.0.31.9").start()
    yield site
    site.stop()


def settings(court: Site) -> dict[str, object]:
    return {"NETWORK_PORTS": court.port, "EXTRACTION_MIN_WORDS": 50, "QUALITY_RULES": "c4", "QUALITY_MIN_SCORE": 0}


def forms(crawl: Crawl) -> dict[str, tuple[object, ...]]:
    return {str(record["url"]): tuple(record[name] for name in FIELDS) for record in crawl.records()}


def test_a_court_is_crawled_for_its_decisions_and_a_replay_says_the_same(crawl, court, tmp_path):
    allowlist = tmp_path / "allowlist.yaml"
    name = f"{court.address}:{court.port}"
    allowlist.write_text(f'- {{domain: "{name}", tier: A, licence: PD, discovery: links, profile: law}}\n')
    seeds = {"allowlist": str(allowlist), "url": court.url(0)}
    done = crawl.run(seeds, **settings(court))
    assert done.returncode == 0, done.stderr
    kept = forms(crawl)
    assert set(kept) == {court.url(0), court.url(1)}
    assert kept[court.url(0)][:2] == ("order", "us")
    assert kept[court.url(0)][4:] == ("2021-11-03", ["556 U.S. 662"])
    assert kept[court.url(1)][:2] == ("statute", "us")
    reasons = {str(record["url"]): record["reason"] for record in crawl.records("rejected")}
    assert {reasons[court.url(n)] for n in (2, 3)} == {"not_of_profile"}

    again = Crawl(tmp_path / "again")
    process = again.start({"archive": f"{crawl.folder}/archive/*.warc.gz"}, spider="replay", **settings(court))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert forms(again) == kept


def test_a_profile_that_nobody_defined_stops_the_crawl_with_its_line(crawl, court, tmp_path):
    allowlist = tmp_path / "allowlist.yaml"
    allowlist.write_text(f'- {{domain: "{court.address}:{court.port}", tier: A, licence: PD, profile: poems}}\n')
    done = crawl.run({"allowlist": str(allowlist)}, **settings(court))
    assert done.returncode == 1
    assert "allowlist, line 1" in done.stderr
    assert "no quality profile 'poems'" in done.stderr
    assert court.hits == []
