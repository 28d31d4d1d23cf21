"""*Learn* makes a model of the labels, shows what it would do, and *Apply* makes the version that it has judged."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path

import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.rejudge import Rejudged
from crawler.explore.apply import apply_of
from crawler.explore.labels import FILE
from crawler.explore.learn import curve
from crawler.explore.learning import learning_of
from crawler.stages.classify.model import open_classifier
from crawler.storage.files.shards import read_lines
from tests.classify.conftest import SAID, SOLD, text_of
from tests.explore.conftest import LIMIT, Desk, links
from tests.support import corpus_crawl
from tests.support.corpus_folder import Folder
from tests.trial.made import held_out

PAGES = 60
"""Half of them to be kept; twelve sites of each kind."""
SETTINGS = corpus_crawl.SETTINGS | {"EXTRACTION_MIN_WORDS": 20}


def url_of(number: int) -> str:
    return f"https://site{number % 24}.example/{number}"


def is_good(number: int) -> bool:
    return number % 2 == 0


def page_of(number: int) -> bytes:
    body = "".join(f"<p>{line}</p>" for line in text_of(is_good(number), number).split("\n") if line)
    return f"<html lang=en><title>Page {number}</title><body><article>{body}</article></body></html>".encode()


@pytest.fixture
def own(folder: Folder, exchange) -> Callable[..., Path]:
    """Makes a corpus of archived pages by a replay into its own folder."""

    def make(**settings: object) -> Path:
        corpus = folder.opened()
        for n in range(PAGES):
            corpus.archive(exchange(n, page_of(n), url=url_of(n)))
        corpus.close()
        done = corpus_crawl.replay(folder.path / "archive", folder.path, **SETTINGS | settings)
        assert done.returncode == 0, done.log
        return folder.path

    return make


def records_in(corpus: Path, kind: str) -> dict[str, dict]:
    found = [orjson.loads(line) for path in sorted((corpus / kind).glob("*.jsonl*")) for line in read_lines(path)]
    return {record["url"]: record for record in found}


def judge(corpus: Path, numbers: range, *, stratum: str = "kept") -> None:
    """Labels as the page *Judge* writes them."""
    records = records_in(corpus, "shards") | records_in(corpus, "rejected")
    with (corpus / FILE).open("ab") as file:
        for n in numbers:
            line = {"url": url_of(n), "doc_id": records[url_of(n)].get("doc_id") or "", "judge": "ann",
                    "answer": "keep" if is_good(n) else "reject", "stratum": stratum,
                    "config_digest": "", "at": "2026-11-20T10:00:00Z"}  # fmt: skip
            file.write(orjson.dumps(line) + b"\n")


def settled(desk: Desk) -> str:
    """The page once nothing goes on."""
    end = time.monotonic() + LIMIT
    while (shown := desk.ask("/0/learn")).status == 503 or "data-again" in shown.body:
        assert time.monotonic() < end, shown.body
    assert desk.catalogues[0].wait(LIMIT)
    return unescape(desk.page("/0/learn"))


def applied(desk: Desk) -> None:
    """As *Apply* leaves it."""
    job = apply_of(desk.catalogues[0])
    job.done, job.config = Rejudged(version=2, judged=18, lost=3), from_mapping({})


def learned(desk: Desk) -> str:
    assert desk.post("/0/learn").status == 303
    return settled(desk)


def test_from_labels_to_a_version_that_the_model_has_judged_and_on(own, serve, tmp_path):
    corpus = own()
    judge(corpus, range(PAGES))
    desk = serve(corpus, held_out=[held_out(tmp_path / "texts")], **SETTINGS)
    page = learned(desk)
    assert "Does a model learn more" not in page and desk.post("/0/learn/trial").status == 400
    auc = re.search(r"<dd>([\d.]+) <span[^>]*>([\d.]+) to ([\d.]+)", page)
    assert auc and 0.9 < float(auc[1]) <= float(auc[3])
    keep, reject = (set(re.findall(r"<code>(\w+)</code>", part)) for part in page.split("pulled towards")[1:3])
    assert keep & {*SAID} and not keep & {*SOLD} and reject & {*SOLD} and not reject & {*SAID}
    shown = links(page, "/documents/")
    assert shown and desk.page(shown[0])
    strict = desk.page("/0/learn", ("threshold", "0.99"))
    assert strict.count("<polyline") == 2 and strict != page
    assert desk.post("/0/learn/apply", threshold="0.5").status == 303
    page = settled(desk)
    assert "Version" in page and "is complete" in page and "This view goes on with these settings" in page
    setting = re.search(r"CLASSIFIERS = judged:(\S+\.npz)", page)
    assert setting and Path(setting[1]).parent == (corpus / "models").resolve()
    assert "Does a model learn more from version 2 than from version 1?" in page and "Compare them" in page
    assert desk.post("/0/learn/trial").status == 303
    page = settled(desk)
    rows = re.findall(r"<td>equal (size|pages)</td>" + 3 * r'<td class="n">([\d.+-]+)[^\n]*?</td>', page)
    assert [by for by, *_ in rows] == ["size", "pages"]
    assert all(float(after) - float(before) == pytest.approx(float(more), abs=2e-4) for _, before, after, more in rows)
    assert "A sample of " in page, "the weaknesses are told, too"
    model = open_classifier(setting[1])
    assert (model.threshold, model.action) == (0.5, "drop")
    kept, gone = records_in(corpus, "shards"), records_in(corpus, "rejected")
    assert set(kept) == {url_of(n) for n in range(PAGES) if is_good(n)}
    assert {record["reason"] for record in gone.values()} == {"low_classifier_score"}
    assert all(record["classifier_scores"]["judged"] == model.score(record["text"]) for record in kept.values())
    # the model has scored documents of the version before: it is not applied to this one
    assert "learn again" in page and desk.post("/0/learn/apply", threshold="0.4").status == 400
    again = learned(desk)
    assert "left out" not in again and "Apply: make the next version" in again, "labels hold whatever the verdict is"
    assert desk.post("/0/learn/apply", threshold="0.01").status == 303
    settled(desk)
    back = {*records_in(corpus, "shards")} - {*kept}
    assert back == {url for url, record in gone.items() if model.score(record["text"]) >= 0.01} != set()
    learned(desk)
    assert desk.post("/0/learn/apply", threshold="0.5", action="burn").status == 400
    assert desk.post("/0/learn/apply", threshold="0.5", action="hold").status == 303
    assert f"{len(gone)} wait for a person" in settled(desk)
    assert {*records_in(corpus, "held/classifier")} == {*gone}


def test_texts_of_rejected_pages_come_from_the_archive(own, serve):
    corpus = own(EXTRACTION_MIN_WORDS=5_000, YIELD_MIN_SHARE=0)
    found = records_in(corpus, "rejected")
    assert {record["reason"] for record in found.values()} == {"too_short"} and not any(map(has_text, found.values()))
    judge(corpus, range(PAGES), stratum="too_short")
    desk = serve(corpus, **SETTINGS | {"EXTRACTION_MIN_WORDS": 5_000, "YIELD_MIN_SHARE": 0})
    page = learned(desk)
    assert f"<dd>{PAGES}</dd>" in page and "left out" not in page
    assert ">of 0 kept documents would go<" in page


def has_text(record: dict) -> bool:
    return bool(record.get("text"))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (range(0), "0 texts to keep and 0 to reject: at least 10 of each are needed"),
        (range(6), "3 texts to keep and 3 to reject: at least 10 of each are needed"),
        (range(0, PAGES, 2), "30 texts to keep and 0 to reject: at least 10 of each are needed"),
    ],
    ids=["none", "few", "one answer only"],
)
def test_labels_of_which_nothing_can_be_learned_are_a_sentence(own, serve, numbers, said):
    corpus = own()
    if numbers:
        judge(corpus, numbers)
    desk = serve(corpus, **SETTINGS)
    page = learned(desk)
    assert "Nothing was learned:</b>" in page and said in page
    assert "Apply: make" not in page and desk.post("/0/learn/apply", threshold="0.5").status == 400
    assert not (corpus / "models").exists()


def test_a_corpus_without_an_archive_shows_its_model_and_says_why_nothing_is_applied(folder, document, serve):
    from crawler.storage.files.records import record_of

    corpus = folder.opened()
    for n in range(PAGES):
        url = url_of(n)
        site = url.split("/")[2]
        made = document(n, url=url, canonical_url=url, domain=site, text=text_of(is_good(n), n), doc_id=f"sha256:{n}")
        corpus.keep(record_of(made))
    corpus.close()
    judge(folder.path, range(PAGES))
    desk = serve(folder.path, **SETTINGS)
    page = learned(desk)
    assert "has no archive" in page and "Apply: make" not in page and "would go" in page
    refused = desk.post("/0/learn/apply", threshold="0.5")
    assert refused.status == 400 and "has no archive" in refused.body
    assert not (folder.path / "models").exists()


def test_a_corpus_that_is_being_written_is_not_judged_and_the_page_says_so(own, folder, serve):
    corpus = own()
    judge(corpus, range(PAGES))
    desk = serve(corpus, **SETTINGS)
    learned(desk)
    writer = folder.opened("w2")
    manifest = (corpus / "manifest.json").read_bytes()
    assert desk.post("/0/learn/apply", threshold="0.5").status == 303
    page = settled(desk)
    assert "Nothing was applied:</b>" in page and "w2" in page
    assert (corpus / "manifest.json").read_bytes() == manifest
    writer.close()


def test_records_that_were_judged_with_other_settings_are_not_judged_by_chance(own, serve):
    corpus = own()
    judge(corpus, range(PAGES))
    desk = serve(corpus, **SETTINGS | {"EXTRACTION_MIN_WORDS": 21})
    learned(desk)
    refused = desk.post("/0/learn/apply", threshold="0.5")
    assert refused.status == 400 and "judged with other settings" in refused.body


@pytest.mark.parametrize("value", ["0", "1", "x", "nan", "-1"])
def test_a_threshold_that_is_none_is_told(desk, value):
    answer = desk.ask(f"/0/learn?threshold={value}")
    assert (answer.status, "expected a number between 0 and 1" in answer.body) == (400, True)


def test_without_held_out_texts_the_page_says_how_a_trial_is_had(desk):
    applied(desk)
    page = unescape(desk.page("/0/learn"))
    assert "Does a model learn more from version 2 than from version 1?" in page
    assert "Start explore with <code>--held-out PLACE</code>" in page and "Compare them" not in page
    refused = desk.post("/0/learn/trial")
    assert refused.status == 400 and "start explore with it" in refused.body


def test_a_trial_that_cannot_be_made_says_why(serve, folder, tmp_path):
    folder.filled(range(3))
    desk = serve(folder.path, held_out=[held_out(tmp_path / "texts", stories=1)])
    applied(desk)
    assert desk.post("/0/learn/trial").status == 303
    assert re.search(r"They could not be compared:</b> \d+ pages? (is|are) too few for 5 seeds", settled(desk))


def test_without_a_model_nothing_is_applied(desk):
    assert desk.post("/0/learn/apply", threshold="0.5").status == 400
    assert learning_of(desk.catalogues[0]).done is None


def test_the_curve_leaves_out_where_nothing_is_kept():
    from crawler.classify.measures import Cut

    found = curve([Cut(0.25, 1.0, 0.5, 1.0), Cut(0.75, 0.0, None, 0.0)])
    assert found == {"kept": "25.0,0.0 75.0,100.0", "precision": "25.0,50.0"}
