"""The summary comes from the folder alone, is true, readable and safe to open in a browser."""

import dataclasses
import io
import re
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from crawler.config import from_mapping
from crawler.dataset.growing import unsealed_note
from crawler.dataset.page import find_page
from crawler.dataset.registry.behind import refusals_of
from crawler.document import Document, Drop, DropReason
from crawler.frontier.model import Counts, Mode
from crawler.frontier.overview import Overview
from crawler.observe import write as report
from crawler.observe.report import charts, several, terminal
from crawler.observe.report.spans import seconds_at_work
from crawler.observe.report.summary import summarise
from crawler.observe.report.webpage import page
from crawler.operations.rewrite_report import tell_unsealed
from crawler.statkeys import BROWSER_USED, LEFT_ON_HOLD, PARKED, QUARANTINED
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from tests.support.process import scrapy

HELD = DropReason.HOLD_CONTROL_FILE
EVIL = '<script>alert("x")</script>'


@pytest.fixture
def folder(tmp_path):
    """Three kept, two rejected, one on hold, by one worker in ten seconds."""
    times = iter([100.0] + [100.0] * 50)
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "WORKER_ID": "w1"}), clock=lambda: now[0])
    now = [next(times)]
    corpus.open()
    for n, language in enumerate(["en", "en", "de"]):
        doc = document(n, language=language, quality_score=0.2 + 0.3 * n, word_count=100 * (n + 1))
        corpus.keep(record_of(doc))
    corpus.reject(rejection_of(document(7), Drop("quality", DropReason.LOW_QUALITY, EVIL)))
    corpus.reject(rejection_of(document(8), Drop("policy", DropReason.OPTOUT, "noai (meta)")))
    corpus.reject(rejection_of(document(9), Drop("policy", DropReason.HOLD_ROBOTS_UNREACHABLE)))
    corpus.note({"downloader/response_count": 6, "downloader/response_bytes": 6000})
    now[0] = 110.0
    corpus.close()
    return str(tmp_path / "c")


def document(n, **values):
    made = {
        "url": f"https://a.test/{n}",
        "canonical_url": f"https://a.test/{n}",
        "domain": "a.test" if n else f"b.test{EVIL}",
        "title": EVIL,
        "text": f"{EVIL} text of page {n}",
        "text_allowed": True,
        "done": ["pii"],
        "crawled_at": f"2026-01-0{n + 1}T00:00:00Z",
    }
    return Document(**(made | values))


def shown(summary, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    terminal.show(summary, console)
    return console.file.getvalue()


def test_the_numbers_are_those_of_the_files(folder):
    summary = summarise(folder)
    assert (summary.kept, summary.rejected, summary.held, summary.words) == (3, 2, 1, 600)
    assert summary.languages == {"en": 2, "de": 1}
    assert [(v.stage, v.reason, v.count) for v in summary.rejections] == [
        ("policy", "optout", 1),
        ("quality", "low_quality", 1),
    ]
    assert [(v.reason, v.count) for v in summary.holds] == [("hold_robots_unreachable", 1)]
    assert summary.seconds == 10 and summary.pages_per_second == 0.5
    assert (summary.fetched, summary.fetched_bytes) == (6, 6000)
    assert summary.histograms["quality_score"] == {"4": 1, "10": 1, "16": 1}


def test_workers_side_by_side_count_their_time_once():
    def run(start, end):
        return {"started": f"2026-01-01T00:00:{start:02d}Z", "ended": end and f"2026-01-01T00:00:{end:02d}Z"}

    assert seconds_at_work([run(0, 10), run(5, 20), run(30, 31), run(40, None)]) == 21


def test_a_run_without_an_end_lasts_until_its_latest_record():
    def run(start, end, worker):
        ended = end and f"2026-01-01T00:00:{end:02d}Z"
        return {"started": f"2026-01-01T00:00:{start:02d}Z", "ended": ended, "crawl_id": "c", "worker_id": worker}

    at = "2026-01-01T00:00:50Z"
    files = [{"writer": "c-w2", "last_crawled_at": at}]
    assert seconds_at_work([run(0, 10, "w1"), run(5, None, "w2"), run(5, None, "w3")], files) == 50


def test_the_terminal_shows_verdicts_reasons_places_and_next_steps(folder):
    text = shown(summarise(folder))
    assert re.search(r"3 kept +2 rejected +1 on hold", text)
    for word in ("policy", "optout", "low_quality", "hold_robots_unreachable", "a.test", "en", "de", "shards/"):
        assert word in text
    assert f"scrapy dataset verify {folder}" in text
    assert "0.5 pages/s over 10.0 s" in text


def test_pages_that_are_as_they_were_are_not_called_rejected_beside_their_domain(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "WORKER_ID": "w1"}))
    corpus.open()
    corpus.keep(record_of(document(1)))
    corpus.reject(rejection_of(document(2), Drop("fetch", DropReason.UNCHANGED)))
    corpus.close()
    summary = summarise(str(tmp_path / "c"))
    assert (summary.not_kept, summary.rejected) == ("unchanged", 0)
    assert re.search(r"^ +kept +unchanged *$", shown(summary), re.MULTILINE)
    assert "Not kept, by domain: unchanged" in page(summary)


def again(folder, worker, held, told=True):
    """Another run, which leaves so many on hold; told: it came to its end."""
    corpus = Corpus(from_mapping({"CORPUS_DIR": folder, "WORKER_ID": worker}), clock=lambda: 200.0 + len(worker))
    corpus.open()
    for number in range(held):
        url = f"https://h.test/{number}"
        corpus.reject(rejection_of(document(number + 1, url=url, canonical_url=url), Drop("policy", HELD)))
    corpus.note({LEFT_ON_HOLD: held} if told else {})
    corpus.close()
    return summarise(folder)


def test_on_hold_is_what_the_latest_run_has_left_and_not_what_earlier_ones_did(folder):
    found = again(folder, "ww", held=2)
    assert (found.held, found.once_held, found.rejected) == (2, 1, 2)
    assert again(folder, "www", held=0, told=False).held == 2  # stopped before its end, it told nothing
    found = again(folder, "wwww", held=0)
    assert (found.held, found.once_held, found.rejected, found.holds) == (0, 3, 2, [])
    assert found.not_kept == "rejected, once on hold"
    assert "On hold" not in shown(found) and "try the" not in shown(found) and "On hold" not in page(found)


def cut_off(folder, worker):
    """A crawl that was killed: a file of it was sealed, nothing that only the crawl knows was noted."""
    corpus = Corpus(from_mapping({"CORPUS_DIR": folder, "WORKER_ID": worker}))
    corpus.open()
    url = f"https://c.test/{worker}"
    corpus.keep(record_of(document(1, url=url, canonical_url=url)))
    corpus.close()
    return summarise(folder)


def test_a_crawl_that_was_killed_before_it_noted_what_it_fetched_is_not_said_to_have_fetched_nothing(folder):
    assert (summarise(folder).uncounted, "cut off" in page(summarise(folder))) == (0, False)
    found = cut_off(folder, "w2")
    assert (found.uncounted, found.fetched_bytes) == (1, 6000)
    assert "fetched, without 1 crawl cut off" in page(found)
    assert "fetched, without 2 crawls cut off" in page(cut_off(folder, "w3"))


def test_several_corpora_have_a_row_for_documents_without_a_licence_as_one_corpus_has(folder, tmp_path):
    licensed = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "licensed")}))
    licensed.open()
    for n, licence in enumerate(["CC0-1.0", "CC0-1.0", None]):
        licensed.keep(record_of(document(n, license_tag=licence)))
    licensed.close()
    console = Console(file=io.StringIO(), width=100)
    several.show([summarise(folder), summarise(str(tmp_path / "licensed"))], console)
    rows = [line.split() for line in console.file.getvalue().splitlines()]
    assert ["CC0-1.0", "0", "2", "2"] in rows
    assert ["none", "3", "1", "4"] in rows
    several.show([summarise(folder), summarise(folder)], alone := Console(file=io.StringIO(), width=100))
    assert "none" not in alone.file.getvalue()


def test_several_corpora_say_of_which_the_bytes_fetched_are_only_known_in_part(folder, tmp_path):
    whole, killed = summarise(folder), cut_off(str(tmp_path / "killed"), "w2")
    console = Console(file=io.StringIO(), width=80, color_system=None)
    several.show([whole, killed], console)
    said = console.file.getvalue()
    assert re.search(r"^fetched +6\.0 kB +> 0 B +> 6\.0 kB$", said, re.MULTILINE), said
    assert "> 1 crawl was cut off before it was noted what was fetched." in said
    assert several.together([whole, killed])["fetched_bytes"] is None
    assert several.together([whole, whole])["fetched_bytes"] == 12_000


def test_a_corpus_that_was_made_of_others_has_fetched_nothing_and_lost_no_count(folder, tmp_path):
    done = scrapy("dataset", "select", "--language", "de", "--out", str(tmp_path / "made"), folder)
    assert done.returncode == 0, done.stderr
    assert summarise(str(tmp_path / "made")).uncounted == 0


def test_what_stands_beside_a_domain_is_what_there_is(folder, tmp_path):
    assert summarise(folder).not_kept == "rejected, on hold"
    Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "new")})).open()
    assert summarise(str(tmp_path / "new")).not_kept == "rejected"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_but_a_command_is_wider_than_the_terminal(folder, width):
    before, _, after = shown(summarise(folder), width).partition("\nNext\n")
    assert max(map(len, before.splitlines())) <= width
    assert f"scrapy report --html {folder}\n" in after  # a command is never broken


def test_a_domain_of_which_next_to_no_page_was_drawn_breaks_no_report(folder):
    summary = dataclasses.replace(summarise(folder), drawn={"a.test": 0.0008, "c.test": 0.0004})
    assert re.search(r"Pages drawn in a browser, per cent\n +a\.test +0\.1 +█+ *\n\n", shown(summary))
    assert "<td>a.test</td><td class=n>0.10</td>" in page(summary)
    assert "c.test" not in page(summary) + shown(summary)


def test_a_table_and_a_histogram_of_nothing_but_zeros_can_be_drawn(folder):
    summary = dataclasses.replace(summarise(folder), left_out={"trap: calendar": 0})
    assert "trap: calendar" in page(summary) and "trap: calendar" in shown(summary)
    assert charts.scores("Quality score", {0: 0}).bars == []


def test_what_is_parked_is_named_with_number_and_kind_and_the_way_that_brings_it_back(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c")}))
    corpus.open()
    corpus.keep(record_of(document(1)))
    corpus.reject(rejection_of(document(2), Drop("frontier", DropReason.HOLD_BARREN, "35 links like this one")))
    corpus.note({f"{PARKED}/a.test/tag/#": 35, f"{PARKED}/a.test (all other shapes)": 4})
    corpus.close()
    summary = summarise(str(tmp_path / "c"))
    assert summary.parked == {"a.test/tag/#": 35, "a.test (all other shapes)": 4}
    text = shown(summary)
    assert re.search(r"Links parked, by kind: .*\n +a\.test/tag/# +35 +█+ *\n +a\.test \(all other shapes\) +4", text)
    assert "On hold: a record for each kind of parked links" in text and "tried again by a later run" not in text
    assert "the same crawl command again, later" not in text
    assert re.search(r"ask for what is parked +.*frontier requeue parked --out .*/c, then the crawl command", text)
    assert "<td>a.test/tag/#</td><td class=n>35</td>" in page(summary)


def test_the_page_escapes_everything_and_loads_nothing(folder):
    found = report.read(folder, samples=5)
    html = page(found.summary, found.samples)
    assert "<script" not in html and "&lt;script&gt;" in html
    assert not re.search(r"""(src|href)\s*=(?!"#)|url\(|@import""", html)
    assert "a.test/7" in html and "noai (meta)" in html


def test_a_sample_says_each_of_its_facts_once(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c")}))
    corpus.open()
    like = "https://a.test/1"
    copy = document(2, dup_of=like, word_count=60)
    corpus.reject(rejection_of(copy, Drop("near", DropReason.NEAR_DUPLICATE, f"0.81 like {like}")))
    corpus.reject(rejection_of(document(3, word_count=9), Drop("x", DropReason.TOO_SHORT, "9 words, needs 50")))
    corpus.close()
    facts = {sample.url[-1]: sample.facts for sample in report.read(str(tmp_path / "c"), samples=5).samples}
    assert facts == {"2": f"60 words · 0.81 like {like}", "3": "9 words, needs 50"}


def test_what_is_not_sealed_yet_is_said_where_only_sealed_files_are_read(tmp_path, capsys):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c")}))
    corpus.open()
    place = Place(str(tmp_path / "c"))
    tell_unsealed(place)
    corpus.keep(record_of(document(1)))
    corpus.commit()
    said = "1 file in progress not counted: it is sealed when the crawl ends, or when full"
    tell_unsealed(place)
    assert capsys.readouterr().err == f"{said}\n"
    with pytest.raises(StorageError, match=f"no record of https://a.test/1; .*; {said}"):
        find_page(place, "https://a.test/1", refusals_of([place]))
    corpus.close()
    assert unsealed_note(place) == ""


def test_a_report_of_a_crawl_at_work_says_by_its_frontier_that_it_is_paused(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c")}))
    corpus.open()
    found = report.read(str(tmp_path / "c"))
    assert found.summary.standing == "The crawl runs: 1 worker is at work."
    view = Overview("main", Counts(mode=Mode.PAUSE), 0, 0.0, None, 0, 0, None, ())
    assert report.standing_by(found, view).summary.standing == "The crawl is paused: 1 worker waits."
    assert report.standing_by(found, None).summary.standing == found.summary.standing
    corpus.close()


def test_a_withdrawn_domain_is_neither_unchanged_nor_drawn_nor_in_quarantine(tmp_path):
    for number in (1, 2):
        corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c")}), clock=lambda n=number: 100.0 * n)
        corpus.open()
        corpus.reject(rejection_of(document(number, domain="a.test"), Drop("fetch", DropReason.UNCHANGED)))
        corpus.note({f"{BROWSER_USED}/a.test": 1, f"{QUARANTINED}/a.test": 500_000})
        corpus.close()
    before = summarise(str(tmp_path / "c"))
    assert (before.unchanged, list(before.drawn), list(before.quarantined)) == (2, ["a.test"], ["a.test"])
    log = {
        "kind": "withdrawal",
        "number": 1,
        "time": "2026-01-02T00:00:00Z",
        "domains": ["a.test"],
        "refused": ["a.test"],
    }
    log |= {"reason": "x", "by": "y", "licences": [], "urls": [], "rule": "", "reach": "text"}
    (tmp_path / "c" / "withdrawals.jsonl").write_bytes(orjson.dumps(log) + b"\n")
    after = summarise(str(tmp_path / "c"))
    assert (after.unchanged, after.drawn, after.quarantined) == (0, {}, {})


def test_samples_are_the_same_every_time_and_show_text_only_where_it_is_written(folder):
    first, second = report.read(folder, samples=2).samples, report.read(folder, samples=2).samples
    assert first == second and [sample.kept for sample in first] == [True, True, False, False]
    everything = report.read(folder, samples=9).samples
    assert {sample.verdict: bool(sample.excerpt) for sample in everything} == {
        "kept": True,
        "quality/low_quality": True,
        "policy/optout": False,
        "policy/hold_robots_unreachable": False,
    }


def test_a_corpus_that_has_just_begun_has_a_summary(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c")}))
    corpus.open()
    corpus.keep(record_of(document(1)))
    corpus.commit()
    summary = summarise(str(tmp_path / "c"))
    assert (summary.kept, summary.running, summary.pages_per_second) == (0, 1, None)
    assert "1 in progress" in shown(summary) and page(summary)
    corpus.close()


def test_a_folder_without_a_corpus_is_an_error(tmp_path):
    with pytest.raises(StorageError, match="expected the CORPUS_DIR"):
        summarise(str(tmp_path))


def test_the_command_prints_the_summary_and_writes_the_page(folder):
    done = scrapy("report", "--html", folder)
    assert done.returncode == 0 and "3 kept" in done.stdout, done.stderr
    assert "report.html" in done.stdout
    assert (Path(folder) / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert orjson.loads((Path(folder) / "stats.json").read_bytes())["kept"] == 3


def test_the_command_shows_samples(folder):
    done = scrapy("report", "--samples", "1", folder)
    assert done.returncode == 0 and "https://a.test/" in done.stdout and "text of page" in done.stdout


def test_the_command_fails_with_one_sentence_where_there_is_no_corpus(tmp_path):
    done = scrapy("report", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("error: ") and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.25, "0.2 s"), (59.9, "59.9 s"), (61, "1 min 01 s"), (7500, "2 h 05 min")]
)
def test_durations_are_said_as_people_say_them(seconds, text):
    assert terminal.duration(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(999, "999 B"), (1400, "1.4 kB"), (2_500_000, "2.5 MB")])
def test_sizes_have_the_unit_people_read(count, text):
    assert terminal.size(count) == text


def test_kept_documents_that_the_extractor_judged_nothing_of_are_named_beside_its_types(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}))
    corpus.open()
    for n, read in enumerate([{"page_type": "article", "extraction_confidence": 0.9}, {}, {}]):
        corpus.keep(record_of(document(n, **read)))
    corpus.close()
    summary = summarise(str(tmp_path))
    text = shown(summary)
    assert "Page types, as the extractor classifies them (2 not judged)" in text
    assert "Expected extraction quality (F1) (2 not judged)" in text
    assert "Page types, as the extractor classifies them (2 not judged)" in page(summary)


def test_kept_documents_without_a_licence_have_a_row_beside_those_with_one(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "some"), "WORKER_ID": "w1"}))
    corpus.open()
    for number, tag in enumerate(("CC0-1.0", None, None)):
        corpus.keep(record_of(document(number, license_tag=tag)))
    corpus.close()
    text = shown(summarise(str(tmp_path / "some")))
    assert re.search(
        r"Kept, by licence\n  none +2 .*\n  CC0-1\.0 +1 |Kept, by licence\n  CC0-1\.0 +1 .*\n  none +2 ", text
    )


def test_on_a_narrow_terminal_bars_get_shorter_and_reasons_stay_whole(folder):
    lines = shown(summarise(folder), width=60).splitlines()
    assert any(re.search(r"hold_robots_unreachable +1 +█+ *$", line) for line in lines), lines
    assert max(map(len, (line for line in lines if "█" in line))) <= 60
