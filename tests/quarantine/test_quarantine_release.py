"""A release by hand, followed to its end: nothing of the domain is left out, here and in a replay."""

import re

import orjson
import pytest

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.dataset.held import Choice, confirm
from crawler.dataset.rewrite import records_in
from crawler.dataset.verify import verify
from crawler.document import Drop, DropReason
from crawler.observe.report.quarantine import quarantined_of
from crawler.observe.report.summary import summarise
from crawler.quarantine.releases import RELEASES, Releases, note_release, releases_of
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import holding_of
from tests.quarantine.test_quarantine_crawl import on as scrapy
from tests.quarantine.test_quarantine_crawl import verdicts
from tests.support.corpus_folder import Folder, document
from tests.support.serving import Handler, LoopbackServer, article

PAGES, LONG = 30, 15
ADDRESS = "127.0.31.7"
OF_THE_FETCH = {
    *("crawled_at", "fetched_at", "first_seen", "last_changed", "robots_fetched_at"),
    *("warc_file", "warc_record_id", "warc_offset"),
}
"""Fields that differ between two crawls of one site, beside the configuration's."""


class SiteHandler(Handler):
    """Pages /p/word-0 …; from the 15th on a long notice stands below a short text on every page."""

    def respond(self):
        match = re.fullmatch(r"/p/word-(\d+)", self.path)
        if match is None:
            self.send(404)
        elif int(match[1]) < LONG:
            self.send(200, article(match[1], words=900, title="P"))
        else:
            note = "".join(f"<p>{p}</p>" for p in prose("notice", 150))
            self.send(200, article(match[1], words=70, title="P", note=note))


@pytest.fixture(scope="module")
def site():
    with LoopbackServer(SiteHandler, ADDRESS) as server:
        yield server


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, site):
    """A crawl that held pages, one of the same site without a quarantine, and how to ask for a release."""
    folder = tmp_path_factory.mktemp("release")
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"http://{ADDRESS}:{site.port}/p/word-{n}\n" for n in range(PAGES)))
    for name, share in (("corpus", 0.6), ("without", 0)):
        more = {"NETWORK_PORTS": site.port, "YIELD_MIN_SHARE": share, "CRAWL_ID": "c", "WORKER_ID": "w"}
        done = scrapy("crawl", "corpus", "-a", f"seeds={seeds}", corpus=folder / name, **more)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def released(crawled, site):
    corpus, domain = crawled / "corpus", f"{ADDRESS}:{site.port}"
    before = verdicts(corpus)
    assert list(summarise(str(corpus)).quarantined) == [domain]
    worker = Corpus(from_mapping({"CORPUS_DIR": str(corpus), "CRAWL_ID": "c", "WORKER_ID": "another"}))
    worker.open()
    early = scrapy("quarantine", "--release", domain, corpus=corpus)
    worker.close()
    assert held(verdicts(corpus)) == held(before)
    done = scrapy("quarantine", "--release", domain, corpus=corpus)
    assert done.returncode == 0, done.stderr
    return corpus, domain, before, done.stdout, early


def held(found):
    return {url for url, reason in found.items() if reason == "held_yield"}


def test_a_release_keeps_every_page_as_a_crawl_without_quarantine_keeps_it(released, crawled):
    corpus, domain, before, said, _ = released
    assert len(held(before)) >= 8
    assert said.startswith(f"{domain} is released: {len(held(before))} held pages are kept from now on")
    assert set(verdicts(corpus).values()) == {"kept"} and verdicts(corpus).keys() == before.keys()
    assert texts(corpus) == texts(crawled / "without")
    found = verify(Place(str(corpus)))
    assert not (found.damage or found.surplus or found.beside.strangers or found.beside.unfinished)


def texts(corpus):
    """Every kept record, without what tells one fetch from another."""
    records = (orjson.loads(orjson.dumps(record)) for record in records_in(Place(str(corpus))))
    return {r["url"]: {k: v for k, v in r.items() if k not in {*OF_THE_FETCH, "config_digest"}} for r in records}


def test_a_release_while_a_worker_is_at_work_says_what_is_left_to_do_and_is_done_by_doing_it(released):
    _, domain, _, said, early = released
    assert early.returncode == 1
    assert f"{domain} is out of quarantine, but its held pages are not released yet" in early.stderr
    assert f"quarantine --release {domain}` again" in early.stderr
    assert "Traceback" not in early.stderr and f"{domain} is released" in said


def test_what_was_said_last_is_reported_by_whichever_worker_and_a_release_ends_it():
    def run(started, **said):
        counters = {f"yield/{name}/a.test": value for name, value in said.items()}
        return {"started": f"2026-01-01T00:00:{started:02d}.000Z", "counters": counters}

    second = 1_767_225_600_000
    fell, over = (run(n, quarantined=q, quarantined_at=second + at) for n, q, at in ((1, 50, 30_000), (2, 0, 20_000)))
    assert quarantined_of([fell, over], {}) == quarantined_of([over, fell], {}) == {"a.test": 0.005}
    assert quarantined_of([fell, run(2, quarantined=0, quarantined_at=second + 40_000)], {}) == {}
    assert quarantined_of([fell], {"a.test": "2026-01-01T00:00:30.001Z"}) == {}
    assert quarantined_of([fell], {"a.test": "2026-01-01T00:00:29.999Z", "b.test": "2027"}) == {"a.test": 0.005}
    assert quarantined_of([run(1, quarantined=50)], {"a.test": "2026-01-01T00:00:02.000Z"}) == {}  # an older version's


def test_nobody_says_any_more_that_the_domain_is_in_quarantine(released):
    corpus, domain, _, _, _ = released
    assert summarise(str(corpus)).quarantined == {}
    assert scrapy("quarantine", corpus=corpus).stdout == "no domain is in quarantine\n"
    again = scrapy("quarantine", "--release", domain, corpus=corpus)
    assert again.returncode == 1
    assert "has no history here" in again.stderr


def test_a_replay_of_its_archive_holds_nothing(released, tmp_path):
    corpus, _, before, _, _ = released
    done = scrapy("crawl", "replay", "-a", f"archive={corpus}/archive/*.warc.gz", corpus=tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert "quarantine" not in done.stderr
    assert verdicts(tmp_path / "again") == dict.fromkeys(before, "kept")


def test_a_domain_that_gives_what_it_always_gave_is_not_said_to_be_released(tmp_path, site):
    corpus = tmp_path / "corpus"
    arguments = ("crawl", "corpus", "-a", f"url=http://{ADDRESS}:{site.port}/p/word-0")
    assert scrapy(*arguments, corpus=corpus, NETWORK_PORTS=site.port).returncode == 0
    done = scrapy("quarantine", "--release", f"{ADDRESS}:{site.port}", corpus=corpus)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{ADDRESS}:{site.port} is not in quarantine; ")


def test_a_release_covers_what_was_fetched_before_it_and_only_its_domain(tmp_path):
    place = Place(str(tmp_path))
    note_release(place, "a.test", 1_767_225_600.0)
    note_release(place, "a.test", 1_767_225_500.0)
    note_release(place, "b.test", 1_767_225_600.0)
    assert releases_of(place) == {"a.test": "2026-01-01T00:00:00.000Z", "b.test": "2026-01-01T00:00:00.000Z"}
    known, archive = Releases(), f"{tmp_path}/archive/x.warc.gz"
    assert not known.knows(archive)
    known.read(archive)
    assert known.covers(archive, "a.test", "2025-12-31T23:59:59.999Z")
    assert not known.covers(archive, "a.test", "2026-01-01T00:00:00.001Z")
    assert not known.covers(archive, "c.test", "2025-12-31T23:59:59.999Z")
    known.read("/elsewhere/x.warc.gz")
    assert not known.covers("/elsewhere/x.warc.gz", "a.test", "2025-01-01T00:00:00.000Z")


def test_a_damaged_file_of_releases_is_one_sentence(tmp_path):
    (tmp_path / RELEASES).write_text('{"domain": 1}\n')
    with pytest.raises(StorageError, match=r"releases\.jsonl: cannot be read .* restore it"):
        releases_of(Place(str(tmp_path)))


def test_held_pages_that_a_person_confirms_keep_no_text(tmp_path):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    hold = Drop("extraction", DropReason.HELD_YIELD, "yield 0.010")
    corpus.hold(holding_of(document(1), hold), "yield")
    corpus.close()
    place = Place(str(folder.path))
    confirm(place, Choice("yield"), now=1.8e9, reason="a wall")
    (record,) = records_in(place, ("rejected",))
    assert (record["reason"], record.get("text")) == ("yield_confirmed", None)
    assert DropReason.YIELD_CONFIRMED.meaning and summarise(str(folder.path)).rejected == 1
