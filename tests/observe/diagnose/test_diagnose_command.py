"""`gristmill diagnose` over a corpus, an archive and a live site: what it shows, and what it must never show."""

from __future__ import annotations

import io
import json
import random
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from rich.console import Console

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.dataset.concerned import Wish
from crawler.dataset.exclude import withdraw
from crawler.document import Document, Drop, DropReason, Exchange
from crawler.observe.diagnose import view, webpage
from crawler.observe.diagnose.diagnosis import diagnose
from crawler.observe.diagnose.sources import Choice, from_archive, from_corpus
from crawler.observe.report.summary import summarise
from crawler.statkeys import LEFT_ON_HOLD
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from tests.support.process import scrapy
from tests.support.site import Site

SETTINGS = {"STAGE_WORKERS": 0, "PII_PERSON": "off"}
SECRET = "zanzibarquux"


def html(number: int, body: str, head: str = "") -> bytes:
    return (
        f"<html lang=en><head><title>Page {number}</title>{head}</head><body><main>{body}</main></body></html>".encode()
    )


def bodies() -> list[bytes]:
    """Twelve good pages, four short ones, two that say no, one without text."""
    good = [html(n, "".join(f"<p>{p}</p>" for p in prose(n))) for n in range(12)]
    short = [html(n, f"<p>{' '.join(prose(n)[0].split()[:40])}</p>") for n in range(12, 16)]
    text = f"<p>{SECRET} {' '.join(prose(99))}</p>"
    no = [html(n, text, '<meta name="robots" content="noai">') for n in (16, 17)]
    return [*good, *short, *no, html(18, "")]


@pytest.fixture
def archive(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "c"), "WORKER_ID": "w1"}))
    corpus.open()
    for number, body in enumerate(bodies()):
        headers = [(b"Content-Type", b"text/html; charset=utf-8")]
        url = f"https://a.test/{number}"
        corpus.archive(Exchange("GET", url, 200, [], headers, body, fetched_at=1_767_225_600.0 + number))
    corpus.close()
    return str(tmp_path / "c" / "archive" / "*.warc.gz")


@pytest.fixture
def corpus_dir(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path / "k"), "WORKER_ID": "w1"}))
    corpus.open()
    for number in range(30):
        doc = Document(url=f"https://a.test/{number}", text=f"Text number {number}.", word_count=number)
        doc.canonical_url, doc.text_allowed, doc.done, doc.quality_score = doc.url, True, ["pii"], number / 30
        if number % 3:
            corpus.keep(record_of(doc))
        else:
            corpus.reject(rejection_of(doc, Drop("quality", DropReason.SOFT_404, "its beginning says so")))
    corpus.close()
    return str(tmp_path / "k")


def shown(found) -> str:
    out = io.StringIO()
    view.show(found, Console(file=out, width=160))
    return out.getvalue()


def of_archive(archive, sample=0, seed=0):
    config = from_mapping(SETTINGS)
    sampled = from_archive(archive, Choice(sample, seed), config)
    return diagnose(sampled.records, config, source="archive")


def test_an_archive_is_judged_as_a_replay_judges_it(archive):
    found = of_archive(archive)
    counts = {reason.reason: reason.count for reason in found.reasons}
    assert found.total == 19
    assert counts["too_short"] == 4
    assert counts["optout"] == 2
    assert counts["no_text"] == 1
    assert found.kept + sum(counts.values()) == 19


def test_the_text_of_a_page_that_says_no_is_nowhere(archive):
    found = of_archive(archive)
    everything = shown(found) + webpage.page(found) + json.dumps(found.as_dict())
    assert "optout" in everything
    assert SECRET not in everything


def test_the_same_seed_chooses_the_same_pages_and_another_seed_others(archive):
    def urls(seed):
        config = from_mapping(SETTINGS)
        return [record["url"] for record in from_archive(archive, Choice(6, seed), config).records]

    assert urls(0) == urls(0)
    assert len(urls(0)) == 6
    assert urls(0) != urls(1)
    assert urls(0) == sorted(urls(0), key=lambda url: int(url.rpartition("/")[2]))  # in the order of the archive


def test_a_corpus_is_read_as_it_lies_there(corpus_dir):
    sampled = from_corpus(corpus_dir, Choice(0))
    found = diagnose(sampled.records, from_mapping(), source=corpus_dir)
    assert (found.total, found.kept) == (30, 20)
    assert len(list(from_corpus(corpus_dir, Choice(7)).records)) == 7


def test_withdrawn_pages_are_not_judged_since_no_threshold_keeps_them(corpus_dir):
    pages = frozenset(f"https://a.test/{number}" for number in (0, 1, 2))  # one of them was rejected
    withdraw(Place(corpus_dir), Wish("a letter", urls=pages), now=1.0)
    for sample in (0, 200):
        sampled = from_corpus(corpus_dir, Choice(sample))
        found = diagnose(sampled.records, from_mapping(), source=corpus_dir)
        assert (found.total, found.kept) == (27, 18)
        assert sampled.notes == ["withdrawn addresses (3) were left out: no threshold keeps them"]


def a_run(folder, worker, ended, *, held=0, told=True):
    """One run of a crawl: keeps a page, leaves so many on hold, ends then. told: it came to its end."""
    corpus = Corpus(from_mapping({"CORPUS_DIR": folder, "WORKER_ID": worker}), clock=lambda: ended)
    corpus.open()
    corpus.keep(record_of(Document(url=f"https://a.test/{worker}", text="A text.", text_allowed=True, done=["pii"])))
    for number in range(held):
        doc = Document(url=f"https://a.test/held/{number}", canonical_url=f"https://a.test/held/{number}")
        corpus.reject(rejection_of(doc, Drop("policy", DropReason.HOLD_CONTROL_FILE)))
    corpus.note({LEFT_ON_HOLD: held} if told else {})
    corpus.close()


@pytest.mark.parametrize("sample", [0, 3])
def test_only_holds_that_the_latest_run_left_open_are_on_hold_as_in_the_report(tmp_path, sample):
    folder = str(tmp_path)
    a_run(folder, "first", 100.0, held=4)
    a_run(folder, "second", 200.0, held=1)
    a_run(folder, "third", 300.0, told=False)
    found = diagnose(from_corpus(folder, Choice(sample)).records, from_mapping(), source=folder)
    assert (found.held, found.total) == (1, 4) if sample == 0 else found.held <= 1 and found.total == 3
    assert summarise(folder).held == 1
    a_run(folder, "fourth", 400.0)
    found = diagnose(from_corpus(folder, Choice(sample)).records, from_mapping(), source=folder)
    assert found.held == 0 and not [reason for reason in found.reasons if reason.reason.startswith("hold_")]


def test_distributions_hold_kept_and_rejected_apart(corpus_dir):
    found = diagnose(from_corpus(corpus_dir, Choice(0)).records, from_mapping(), source=corpus_dir)
    scores = next(item for item in found.distributions if item.name == "quality_score")
    assert (sum(scores.kept), sum(scores.rejected)) == (20, 9)  # the first has no words at all
    words = next(item for item in found.distributions if item.name == "word_count")
    assert len(words.kept) == len(words.rejected)


def test_records_of_other_settings_are_pointed_out(corpus_dir):
    records = [record | {"config_digest": "sha256:other"} for record in from_corpus(corpus_dir, Choice(0)).records]
    found = diagnose(records, from_mapping(), source=corpus_dir)
    assert any("other settings" in note for note in found.notes)


@pytest.mark.parametrize(
    ("settings", "other"),
    [({}, False), ({"NETWORK_ALLOW": "127.0.0.0/8", "CRAWLER_CONTACT": "me@example.org"}, False),
     ({"QUALITY_MIN_SCORE": 0.5}, True), ({"OPTOUT_PROFILE": "minimal"}, True)],
)  # fmt: skip
def test_only_settings_that_judge_a_page_make_a_record_one_of_other_settings(tmp_path, settings, other):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1", "CRAWLER_CONTACT": "a@example.org"}))
    corpus.open()
    doc = Document(url="https://a.test/", text="A text.", config_digest=corpus._config.digest)
    corpus.keep(record_of(doc))
    corpus.close()
    sampled = from_corpus(str(tmp_path), Choice(0))
    found = diagnose(sampled.records, from_mapping(settings), source="here", judged_by=sampled.judged_by)
    assert any("other settings" in note for note in found.notes) == other


def test_a_reason_comes_with_its_meaning_its_share_and_passages_side_by_side(corpus_dir):
    found = diagnose(from_corpus(corpus_dir, Choice(0)).records, from_mapping(), source=corpus_dir)
    text = shown(found)
    assert "33.3 %" in text
    line = next(line for line in text.splitlines() if line.count("Text number") == 2)
    assert line.index("Text number") < 80 < line.rindex("Text number")
    browser = webpage.page(found)
    assert "A page that says it does not exist" in browser
    assert "<script" not in browser


def test_what_a_page_says_cannot_break_the_page_for_the_browser():
    doc = Document(url="https://a.test/<b>", text="<script>alert(1)</script>", text_allowed=True, done=["pii"])
    record = rejection_of(doc, Drop("quality", DropReason.SOFT_404, "<i>"))
    browser = webpage.page(diagnose([record], from_mapping(), source="<u>"))
    assert "<script>alert" not in browser
    assert "<b>" not in browser.replace("<b>https", "")
    assert "&lt;u&gt;" in browser


def test_a_folder_without_a_corpus_and_an_archive_that_is_none_say_so(tmp_path):
    with pytest.raises(StorageError, match=r"no manifest\.json; expected the CORPUS_DIR of a crawl"):
        from_corpus(str(tmp_path), Choice())
    with pytest.raises(StorageError, match="no archive matches"):
        from_archive(str(tmp_path / "*.warc.gz"), Choice(), from_mapping(SETTINGS))


def varied() -> list[dict]:
    """Records that miss thresholds with long names by long numbers."""
    chance, records = random.Random(1), []
    for number in range(200):
        doc = Document(url=f"https://documentation.example.org/reference/manual/{number}", text="A text.")
        doc.canonical_url, doc.text_allowed, doc.done = doc.url, True, ["pii"]
        doc.word_count, doc.quality_score = chance.randint(20, 3000), round(chance.random(), 4)
        doc.quality_signals = {
            "profile": chance.choice(["prose", "technical"]),
            "dup_line_char_frac": round(chance.random() * 0.4, 4),
            "fineweb_duplicate_line_chars": round(chance.random() * 0.05, 4),
            "gopher_stop_words": chance.randint(0, 9),
            "top_2_gram": round(chance.random() * 0.4, 4),
        }
        if number % 3:
            records.append(rejection_of(doc, Drop("quality", DropReason.LOW_QUALITY, "x")))
        else:
            records.append(record_of(doc))
    return records


def test_the_address_of_a_near_miss_stays_whole_on_a_narrow_terminal():
    out = io.StringIO()
    view.show(diagnose(varied(), from_mapping(), source="here"), Console(file=out, width=45))
    begin = out.getvalue().index("Nearest misses")
    misses = out.getvalue()[begin:].split("\n\n")[0].splitlines()
    found = [line for line in misses if "example.org" in line]
    assert found and all(
        re.fullmatch(r"    https://documentation\.example\.org/reference/manual/\d+", f) for f in found
    )


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_number_and_no_name_is_broken_however_narrow_the_terminal_is(width):
    found = diagnose(varied(), from_mapping(), source="here")
    out = io.StringIO()
    view.show(found, Console(file=out, width=width))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for item in found.distributions:
        assert any(re.match(rf"  {item.name}( |$)", line) for line in lines), "no name of a score is broken"
    drawn = [line for line in lines if "··" in line]
    assert [line for line in drawn if not re.search(r"kept|rejected", line)] == [], "no drawing goes on below itself"
    begin = next(n for n, line in enumerate(lines) if line.startswith("Thresholds"))
    end = next(n for n, line in enumerate(lines) if line.startswith("Nearest"))
    for lever in found.levers[: view.TOP_LEVERS]:
        assert any(re.match(rf"  {re.escape(lever.limit.setting)}( |$)", line) for line in lines[begin:end])
        for step in lever.relaxed:
            assert any(f"{step.limit:g}: +{step.documents}" in line for line in lines[begin:end]), lines[begin:end]
    misses = lines[end:]
    for miss in found.near_misses:
        assert any(miss.url in line for line in misses) and any(f"{miss.value:g}" in line for line in misses)
    assert ("10 % stricter" in out.getvalue()) == (width == 200)


# --- the command itself, in a process of its own ----------------------------------------------------------------------


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return scrapy("diagnose", *arguments, settings={**SETTINGS, "NETWORK_ALLOW": "127.0.0.0/8", "DOWNLOAD_DELAY": 0})


class Reserved(Site):
    """Robots may not go to /p/1 and what hangs on it; everything else is open."""

    def answer(self, path: str) -> tuple[int, bytes]:
        if path == "/robots.txt":
            return 200, b"User-agent: *\nDisallow: /p/1\n"
        return super().answer(path)


def test_a_live_sample_obeys_robots_stops_at_its_number_and_leaves_nothing_behind(monkeypatch, request):
    short = tempfile.TemporaryDirectory(prefix="d")  # the server's socket stands in it, and its path may not be long
    request.addfinalizer(short.cleanup)
    monkeypatch.setenv("TMPDIR", short.name)
    site = Reserved(address="127.0.31.5", pages=60).start()
    try:
        run = command("--live", f"url={site.url(0)}", "--sample", "8", "--json", "-s", f"NETWORK_PORTS={site.port}")
    finally:
        site.stop()
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    asked = [hit.path for hit in site.hits]
    assert not [path for path in asked if path.startswith("/p/1")]
    assert {reason["reason"] for reason in found["reasons"]} >= {"robots_disallowed"}
    assert found["total"] == 8
    assert list(Path(short.name).glob("diagnose-*")) == []


def test_what_is_wrong_is_said_with_a_remedy_and_exit_code_1(tmp_path):
    nothing = command(str(tmp_path))
    assert nothing.returncode == 1
    assert "no manifest.json; expected the CORPUS_DIR of a crawl" in nothing.stderr
    wrong = command("--live", "https://a.test/", "-s", "QUALITY_MIN_SCORE=3")
    assert wrong.returncode == 1
    assert "expected NAME=VALUE" in wrong.stderr
    assert "Traceback" not in nothing.stderr + wrong.stderr
