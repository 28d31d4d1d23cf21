"""A corpus is held against its tagged version: what is worse fails, what cannot be told apart passes and is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawler.commands.plan_words import wrong_with
from crawler.config import from_mapping
from crawler.dataset.deduplication.prints import sources_of
from crawler.dataset.diff import side_of
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.supersede import supersede
from crawler.observe.report import gates
from crawler.operations.registry import TAG
from crawler.plan.check import problems_of
from crawler.plan.read import read
from crawler.problems import InputError
from crawler.runtime import known_settings
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.trial import earlier
from crawler.trial.difference import EQUAL, WORSE
from crawler.trial.earlier import Bound, check
from tests.support.corpus_folder import Folder, document
from tests.support.operations import answer_of
from tests.trial.made import held_out, pages, with_menu

CONFIG = from_mapping({"STAGE_WORKERS": 0})
GOOD = pages(240)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> str:
    return held_out(tmp_path_factory.mktemp("held") / "out")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "corpus")


def grown(folder: Folder, worker: str, records: list[dict[str, Any]], **more: Any) -> Place:
    """One more run, which keeps these."""
    corpus = folder.opened(worker)
    for n, one in enumerate(records):
        corpus.keep(record_of(document(n, url=one["url"], canonical_url=one["url"], text=one["text"], **more)))
    corpus.close()
    return Place(str(folder.path))


def tagged(place: Place) -> Place:
    answer_of(TAG, place.url, "released")
    return place


def texts_of(name: str) -> list[str]:
    return [record["text"] for record in Sources(sources_of([name])).read(0, Counts())]


def test_the_gate_fails_for_a_version_with_menus_and_passes_for_more_of_the_same(tmp_path, texts):
    bound, found = Bound("released", (texts,), 0.01), {}
    for name, more in (("same", GOOD[120:]), ("menus", with_menu(GOOD[120:], 0.6))):
        folder = Folder(tmp_path / name)
        tagged(grown(folder, "w1", GOOD[:120]))
        found[name] = check(grown(folder, "w2", more), bound, CONFIG)
    same, menus = found["same"], found["menus"]
    assert same.compared is not None and menus.compared is not None
    assert same.problems == [] and same.compared.found.verdict == EQUAL
    assert same.said[0].startswith("trial beside ") and same.said[0].endswith(" not separable")
    assert menus.compared.found.verdict == WORSE
    (problem,) = menus.problems
    assert problem.endswith(" worse, by more than 0.01 bits a byte")
    lenient = check(Place(str(tmp_path / "menus")), Bound("released", (texts,), 1.0), CONFIG)
    assert lenient.problems == [] and lenient.said[0].endswith(" worse, not shown to be by more than 1")


def test_without_an_earlier_version_nothing_is_compared_and_that_is_said(folder, texts):
    place = grown(folder, "w1", GOOD[:3])
    first = check(place, Bound("released", (texts,), 0.0), CONFIG)
    assert (first.compared, first.problems) == (None, [])
    assert first.said == [f"trial: no version of {place.url} has the tag released yet: nothing is compared"]
    again = check(tagged(place), Bound("released", (texts,), 0.0), CONFIG)
    assert again.said == [f"trial: {place.url} is the version with the tag released: nothing is compared"]


def test_a_version_that_a_withdrawal_removed_fails_with_a_sentence_instead_of_passing(folder, texts):
    place = tagged(grown(folder, "w1", GOOD[:30]))
    withdraw(place, Wish(urls=frozenset([GOOD[0]["url"]]), reason="asked"), now=1.8e9)
    with pytest.raises(StorageError, match="a later withdrawal removed that version; give a later one"):
        check(place, Bound("released", (texts,), 0.0), CONFIG)


def test_too_few_pages_for_a_trial_fail_with_a_sentence_instead_of_passing(folder, texts):
    tagged(grown(folder, "w1", GOOD[:3]))
    with pytest.raises(InputError, match="4 pages are too few for 5 seeds"):
        check(grown(folder, "w2", GOOD[3:4]), Bound("released", (texts,), 0.0), CONFIG)


def test_of_a_large_corpus_the_same_share_of_both_versions_is_looked_at_and_that_is_said(folder, texts, monkeypatch):
    monkeypatch.setattr(earlier, "MOST_PAGES", 100)
    tagged(grown(folder, "w1", GOOD[:120]))
    found = earlier.beside(grown(folder, "w2", GOOD[120:200]), "released", [texts], CONFIG, lambda _: None)
    before, after = found.sides
    assert 70 < after.texts < 130 and before.pages < after.pages
    assert (before.counts.read, after.counts.read) == (120, 200)
    assert "50.00% of the pages were looked at: copies of a page at other addresses are seen in part" in found.weak


# --- versions by name ------------------------------------------------------------------------------------------------
def test_a_tag_names_a_version_also_of_a_corpus_that_only_grew(folder):
    place = tagged(grown(folder, "w1", GOOD[:3]))
    assert side_of(f"{place.url}@released").noted == ""
    grown(folder, "w2", GOOD[3:5])
    assert texts_of(f"{place.url}@released") == [one["text"] for one in GOOD[:3]]
    side = side_of(f"{place.url}@released")
    assert texts_of(f"{place.url}@{side.sha256[:12]}") == texts_of(f"{place.url}@released")
    with pytest.raises(StorageError, match=r"no version or tag 'relased'; expected a tag \(released\)"):
        side_of(f"{place.url}@relased")


def test_a_folder_whose_name_looks_like_a_tag_is_that_folder(tmp_path):
    place = grown(Folder(tmp_path / "corpus@home"), "w1", GOOD[:2])
    assert side_of(place.url).place.url == place.url


def test_an_earlier_version_has_the_latest_record_of_a_page_and_none_that_was_held(folder):
    grown(folder, "w1", GOOD[:2])
    later = [GOOD[0] | {"text": GOOD[5]["text"]}]
    place = grown(folder, "w2", later, crawled_at="2026-02-01T00:00:00Z", doc_id="later", crawl_id="again")
    corpus = folder.opened("w3")
    corpus.hold(record_of(document(7, text="waits for a person")), "pii")
    corpus.close()
    supersede(place, now=1.8e9)
    wanted = sorted([GOOD[1]["text"], GOOD[5]["text"]])
    assert sorted(texts_of(f"{place.url}@1")) == sorted(texts_of(place.url)) == wanted


# --- the file --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("trial: {than: released, worse: 0.01}", "trial.held_out: is missing, as in {than: released,"),
        ("trial: {than: released, held_out: nowhere, worse: 0}", "trial.held_out: nowhere: no such file or folder"),
        ("trial: {than: abcdef, held_out: ., worse: 0}", "trial.than: expected a tag"),
        ("trial: {than: a, held_out: ., worse: -1}", "trial.worse: expected a number from 0 and at most 8"),
        ("trial: 0.01", "trial: expected a mapping with the keys than, held_out, worse"),
    ],
)
def test_a_gate_that_cannot_be_used_is_named_with_its_place(tmp_path, monkeypatch, text, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text("a text")
    (tmp_path / "gates.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        gates.read(Path("gates.yaml"))
    assert any(sentence in problem for problem in caught.value.problems), caught.value.problems


def test_a_plan_whose_gates_name_texts_that_are_not_there_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "gates.yaml").write_text("trial: {than: released, held_out: [texts], worse: 0.01}")
    plan = tmp_path / "plan.yaml"
    plan.write_text("name: a\ncorpus: c\nseeds: [https://example.org/]\ngates: gates.yaml\n")

    def problems() -> list[str]:
        found = read(plan, known_settings())
        return problems_of(found, wrong_with, lambda values: from_mapping(dict(values)))

    (problem,) = problems()
    assert problem.endswith("gates.yaml:1:35: trial.held_out: texts: no such file or folder")
    held_out(tmp_path / "texts", stories=1)
    assert problems() == []
