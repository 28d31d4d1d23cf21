"""A page about a person in a language without a model is held: by the crawl, by its replay, and in what people see."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from crawler.dataset.held import Choice, waiting
from crawler.observe.report.summary import summarise
from crawler.storage.files.place import Place
from tests.support.crawl import Crawl
from tests.support.site import Site

MEADOW = (
    "Die Wiese hinter der Mühle wird zweimal im Jahr gemäht, im Juni und im September. Der Bach führt im Mai viel "
    "Wasser, und wer dann über den Steg geht, bekommt nasse Schuhe. Im Sommer steht das Gras so hoch, dass man die "
    "Frösche nur hört. Die Gemeinde hat vor Jahren eine Bank aufgestellt, von der aus man das ganze Tal sieht. Sie ist "
    "aus Eichenholz und wird jedes Frühjahr geölt. Am Abend wird es dort still, und das Licht liegt lange auf dem Berg."
)
ABOUT = "Petra Lindner verdient dort 3.100 Euro im Monat und ist seit dem Winter an Krebs erkrankt. "
AGAIN = "Hinter dem Wald beginnt eine andere Gegend, in der andere Leute andere Äpfel ernten und Most daraus machen. "


@dataclass
class GermanSite(Site):
    """The first page is about a meadow, the second about somebody."""

    pages: int = 2

    def page(self, i: int) -> bytes:
        body = [MEADOW, ABOUT + AGAIN * 2 + MEADOW.swapcase().lower()][i]
        link = '<a href="/p/1">weiter</a>' if not i else ""
        head = f"<head><title>Seite {i}</title></head>"
        return f"<html lang=de>{head}<body><main><p>{body}</p></main>{link}</body></html>".encode()


@pytest.fixture
def site():
    served = GermanSite(address="127.0.31.77").start()
    yield served
    served.stop()


def held(folder) -> dict[str, dict[str, object]]:
    return {record["url"]: record for record in waiting(Place(str(folder)), Choice())}


def test_a_page_about_a_person_is_held_and_a_replay_says_the_same(crawl, site, tmp_path):
    settings = {"NETWORK_PORTS": site.port, "QUALITY_RULES": "", "QUALITY_MIN_SCORE": 0, "EXTRACTION_MIN_WORDS": 20}
    settings |= {"LANGUAGE_MIN_SCORE": 0, "PII_PERSON": "contextual"}
    done = crawl.run({"url": site.url(0)}, **settings)
    assert done.returncode == 0, done.stderr
    assert [record["url"] for record in crawl.records()] == [site.url(0)]
    found = held(crawl.folder)
    assert list(found) == [site.url(1)]
    record = found[site.url(1)]
    assert (record["stage"], record["reason"]) == ("pii", "held_pii")
    assert "'de'; words on" in record["detail"]
    assert "verdient" in record["text"]
    assert record["warc_file"]
    summary = summarise(str(crawl.folder))
    assert (summary.kept, summary.withheld) == (1, 1)
    assert (summary.withheld_languages, summary.names_uncovered) == ({"de": 1}, {"de": 1})

    again = Crawl(tmp_path / "again")
    process = again.start({"archive": f"{crawl.folder}/archive/*.warc.gz"}, spider="replay", **settings)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert {url: one["text"] for url, one in held(again.folder).items()} == {site.url(1): record["text"]}
