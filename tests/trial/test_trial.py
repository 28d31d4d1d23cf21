"""A trial tells apart what differs, not what is equal, says which it was, and says the same twice."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import Wish, withdraw
from crawler.operations.answer import Schema, encoded
from crawler.operations.trial import NOT_SHOWN, WORK
from crawler.problems import InputError
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.trial import instrument
from crawler.trial.difference import BETTER, EQUAL, WORSE, Held, difference
from crawler.trial.samples import PAGES, SIZE
from crawler.trial.trial import ALL, Trial, run
from tests.support.corpus_folder import Folder, document
from tests.support.operations import answer_of
from tests.trial.made import held_out, pages, with_copies, with_menu, write

CLEAN = pages(240)
CONFIG = from_mapping({"STAGE_WORKERS": 0})
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 400)]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> str:
    return held_out(tmp_path_factory.mktemp("held") / "out")


def verdicts(found: Trial, by: str = SIZE) -> dict[str, str]:
    """Over all kinds, by the name of the side."""
    return {
        Path(one.side).stem: one.found.verdict for one in found.compared if one.by == by and one.kind == ALL
    }  # fmt: skip


def test_raw_text_copies_and_navigation_are_each_worse_and_a_copy_of_the_first_side_is_not(tmp_path, texts):
    sides = {
        "clean": CLEAN,
        "raw": with_menu(CLEAN, 0.4),
        "copies": with_copies(CLEAN, 0.25),
        "navigation": with_menu(CLEAN, 0.2),
        "same": CLEAN,
    }
    names = [write(tmp_path / f"{name}.jsonl", records) for name, records in sides.items()]
    found = run(names, [texts], CONFIG, seeds=5)
    assert verdicts(found) == {"raw": WORSE, "copies": WORSE, "navigation": WORSE, "same": EQUAL}
    assert [one.found.value for one in found.compared if one.side.endswith("same.jsonl")] == [0.0] * 6
    assert found.same_pages


def test_halves_of_one_corpus_differ_no_more_often_than_chance_allows(tmp_path, texts):
    alarms = 0
    for number in range(8):
        records = random.Random(number).sample(CLEAN, len(CLEAN))
        names = [write(tmp_path / f"{n}{number}.jsonl", records[n::2]) for n in (0, 1)]
        found = run(names, [texts], CONFIG, seeds=4, size=15_000)
        assert not found.same_pages
        alarms += set(verdicts(found).values()) != {EQUAL}
    assert alarms <= 2


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng, sizes = np.random.default_rng(5), np.full(40, 1000.0)
    kind = Held(np.arange(40), sizes, np.arange(40))
    missed = 0
    for _ in range(600):
        more = rng.normal(0, 40, (5, 1)) + rng.normal(0, 200, 40) + rng.normal(0, 60, (5, 40))
        found = difference(more, np.zeros((5, 40)), [kind])
        missed += not found.low <= 0 <= found.high
    assert 6 <= missed <= 42, "5 % of 600 are 30"


def test_an_interval_of_seeds_alone_would_miss_what_other_held_out_texts_say():
    rng = np.random.default_rng(6)
    more = rng.normal(0, 200, 30) + rng.normal(0, 1, (5, 30))
    found = difference(more, np.zeros((5, 30)), [Held(np.arange(30), np.full(30, 1000.0), np.arange(30))])
    assert found.half > 20 * float(np.std(more.mean(axis=1))) / 1000


def test_texts_of_one_site_count_as_one():
    rng = np.random.default_rng(7)
    more = np.repeat(rng.normal(0, 200, 6), 10) + rng.normal(0, 1, (5, 60))
    sizes, apart, by_site = np.full(60, 1000.0), np.arange(60), np.repeat(np.arange(6), 10)
    one, other = (difference(more, np.zeros((5, 60)), [Held(apart, sizes, sites)]) for sites in (apart, by_site))
    assert other.half > 2 * one.half


def test_the_same_answer_twice_to_the_byte(tmp_path, texts):
    names = [write(tmp_path / "a.jsonl", CLEAN[:60]), write(tmp_path / "b.jsonl", with_menu(CLEAN[:60], 0.2))]
    schema = Schema("dataset-trial", WORK.fields)
    one, other = (encoded(schema, answer_of(WORK, "--held-out", texts, "--seeds", 3, *names)) for _ in range(2))
    assert one == other
    assert set(answer_of(WORK, "--held-out", texts, "--seeds", 3, *names).facts) == set(WORK.fields)


def test_more_text_of_the_same_pages_is_worth_something_only_by_equal_pages(tmp_path, texts):
    halves = [one | {"text": one["text"][: len(one["text"]) // 2]} for one in CLEAN]
    names = [write(tmp_path / "whole.jsonl", CLEAN), write(tmp_path / "half.jsonl", halves)]
    found = run(names, [texts], CONFIG)
    assert verdicts(found, PAGES) == {"half": WORSE}
    sizes = {(one.by, Path(one.side).stem): sum(one.sizes) for one in found.figures}
    assert sizes[PAGES, "half"] < 0.55 * sizes[PAGES, "whole"]
    assert sizes[SIZE, "half"] == pytest.approx(sizes[SIZE, "whole"], rel=0.05)


def test_a_text_is_recited_the_more_the_more_often_it_was_there(tmp_path, texts):
    names = [write(tmp_path / "clean.jsonl", CLEAN), write(tmp_path / "b.jsonl", with_copies(CLEAN, 0.08))]
    found = run(names, [texts], CONFIG, seeds=3, memory=True)
    clean, copies = found.recited
    assert 0 < clean.planted[1] < clean.planted[4] < clean.planted[16] < 1
    assert clean.several_times is None and clean.repeated == 0
    assert copies.once is not None and copies.several_times is not None
    assert 0 < copies.once < copies.several_times < 1


def test_the_text_says_how_many_of_each_side_are_left_out_and_why(tmp_path, texts, capsys):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number, one in enumerate(CLEAN[:30]):
        corpus.keep(record_of(document(number, url=one["url"], canonical_url=one["url"], text=one["text"])))
    corpus.close()
    withdraw(Place(str(folder.path)), Wish(urls=(CLEAN[0]["url"],), reason="asked"), now=1.8e9)
    plain = write(tmp_path / "b.jsonl", [*CLEAN[:30], {"url": "https://empty.example/", "text": ""}])
    found = answer_of(WORK, "--held-out", texts, "--seeds", 2, str(folder.path), plain)
    out = capsys.readouterr().out
    assert f"(left out: 1 withdrawn in {folder.path}; 1 without a text)\n" in out
    assert found.facts["sides"][1]["why"] == [{"why": "withdrawn", "corpus": str(folder.path), "documents": 1}]


def test_one_text_is_told_as_one(tmp_path, capsys):
    one, other = (write(tmp_path / f"{n}.jsonl", CLEAN[n : n + 8]) for n in (0, 8))
    held = tmp_path / "one"
    (held / "poem").mkdir(parents=True)
    (held / "poem" / "a.txt").write_text("A poem that nobody has learned from so far. " * 30)
    answer_of(WORK, "--held-out", str(held / "poem"), "--seeds", 2, one, other)
    assert "held out, poem: 1 text, " in capsys.readouterr().out


# --- gate ------------------------------------------------------------------------------------------------------------
def test_the_gate_holds_for_what_is_no_worse_and_ends_with_3_for_what_is_or_may_be(tmp_path, texts):
    clean, same = (write(tmp_path / f"{name}.jsonl", CLEAN) for name in ("clean", "same"))
    dirty = write(tmp_path / "dirty.jsonl", with_menu(CLEAN, 0.4))
    good = answer_of(WORK, "--held-out", texts, "--not-worse-than", "0.01", clean, same)
    assert (good.code, good.problems) == (0, [])
    bad = answer_of(WORK, "--held-out", texts, "--not-worse-than", "0.01", clean, dirty)
    assert bad.code == NOT_SHOWN
    assert f"{dirty}: is worse than {clean} by more than 0.01: +" in bad.problems[0]
    one, other = (write(tmp_path / f"{n}.jsonl", CLEAN[n:16:2]) for n in (0, 1))
    unsure = answer_of(WORK, "--held-out", texts, "--seeds", 2, "--not-worse-than", "0.001", one, other)
    assert unsure.code == NOT_SHOWN
    assert any("is not shown to be worse" in problem for problem in unsure.problems)


# --- other scripts ---------------------------------------------------------------------------------------------------
def test_every_script_is_spelled_without_loss_and_the_side_in_its_language_is_better(tmp_path):
    rng = random.Random(3)
    words = ["".join(rng.choices(HAN, k=2)) for _ in range(300)]

    def text() -> str:
        return "。".join("".join(rng.choices(words, k=20)) for _ in range(30))

    latin = write(tmp_path / "latin.jsonl", CLEAN[:60])
    han = write(tmp_path / "han.jsonl", [{"url": f"https://h{n}.example/", "text": text()} for n in range(60)])
    asked = tmp_path / "held"
    asked.mkdir()
    write(asked / "chinese.jsonl", [{"text": text()} for _ in range(20)])
    found = run([latin, han], [str(asked)], CONFIG, seeds=3)
    assert verdicts(found) == {"han": BETTER}
    assert any(one.startswith("chinese:") for one in found.weak)


def test_a_character_that_one_sample_lacks_is_spelled_as_its_bytes_for_all():
    spelling = instrument.Spelling.of([["plain é"], ["plain é Ж"]])
    assert spelling.spelled("É") == "é"
    zhe = spelling.spelled("Жж")
    assert len(zhe) == 4 and zhe[:2] == zhe[2:] and not set(zhe) & spelling.alphabet
    text = spelling.spelled("Plain é, жж  ------\nplain")
    assert instrument.sizes([text]).tolist() == [len("plain é, жж ---\nplain\n".encode())]


# --- what cannot be used ---------------------------------------------------------------------------------------------
def test_a_side_without_texts_and_one_that_is_too_small_are_named(tmp_path, texts):
    clean = write(tmp_path / "clean.jsonl", CLEAN[:40])
    empty = write(tmp_path / "empty.jsonl", [{"url": "https://a.example/", "text": ""}])
    small = write(tmp_path / "small.jsonl", CLEAN[:3])
    with pytest.raises(StorageError, match=r"empty\.jsonl: has no document with a text"):
        run([clean, empty], [texts], CONFIG)
    with pytest.raises(InputError, match=r"small\.jsonl: has too few pages for 5 seeds"):
        run([clean, small], [texts], CONFIG)


def test_a_record_without_a_text_is_told_in_words_of_a_trial(tmp_path, texts):
    clean = write(tmp_path / "clean.jsonl", CLEAN[:40])
    without = write(tmp_path / "notext.jsonl", [{"url": "https://a.example/", "body": "x"}])
    with pytest.raises(
        StorageError, match=r"notext\.jsonl:1: the field 'text' has to be there.*there is: body, url"
    ) as caught:
        run([clean, without], [texts], CONFIG)
    assert "sources." not in str(caught.value)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(StorageError, match=r"^\S+nothing: no file that ends in"):
        run([clean, str(tmp_path / "nothing")], [texts], CONFIG)


def test_a_side_given_twice_is_an_error(tmp_path, texts):
    clean = write(tmp_path / "clean.jsonl", CLEAN[:40])
    with pytest.raises(StorageError, match="is named twice"):
        run([clean, clean], [texts], CONFIG)
