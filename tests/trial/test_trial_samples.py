"""Samples take whole pages with their copies, no page in two seeds, and held-out texts are those that no side has."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.lifetimes import Lifetimes, remove_lapsed, wish_of
from crawler.dataset.select import Selection, select
from crawler.problems import InputError
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.trial import held_out
from crawler.trial.samples import PAGES, SIZE, pieces_of, samples
from crawler.trial.sides import Sides
from tests.support.corpus_folder import Folder, document
from tests.trial.made import pages, with_copies, with_menu, write

CLEAN = pages(120)
CONFIG = from_mapping({"STAGE_WORKERS": 0})


def read(*names: str) -> Sides:
    return Sides(names, CONFIG, lambda _: None)


def both(tmp_path: Path) -> Sides:
    copies = with_copies(CLEAN, 0.25)
    return read(write(tmp_path / "a.jsonl", CLEAN), write(tmp_path / "b.jsonl", copies))


@pytest.mark.parametrize("size", [3_000, 7_000, 12_000])
def test_a_budget_hides_no_copies(tmp_path, size):
    sides = both(tmp_path)
    found = [one for one in samples(sides.groups, 2, 4, size, same_pages=True) if (one.mode, one.side) == (SIZE, 1)]
    texts = sides.texts(pieces_of(found))
    taken = [[texts[piece] for piece in one.texts] for one in found]
    repeated = sum(len(some) - len(set(some)) for some in taken) / sum(map(len, taken))
    assert 0.15 < repeated < 0.4


def test_copies_lie_in_the_sample_of_their_page_also_where_only_one_side_has_them(tmp_path):
    sides = both(tmp_path)
    assert sorted({len(group) for group in sides.groups}) == [2, 3]
    assert all(len({sides_of.n for sides_of in group if sides_of.side == 0}) == 1 for group in sides.groups)


def test_no_page_is_in_two_seeds_and_every_side_takes_the_same_order(tmp_path):
    sides = both(tmp_path)
    found = samples(sides.groups, 2, 4, 10_000, same_pages=True)
    for mode in (SIZE, PAGES):
        for side in (0, 1):
            taken = [piece for one in found if (one.mode, one.side) == (mode, side) for piece in one.texts]
            assert len(taken) == len(set(taken)) > 0
    first = {one.seed: one.texts[0].n for one in found if (one.mode, one.side) == (SIZE, 0)}
    assert first == {one.seed: one.texts[0].n for one in found if (one.mode, one.side) == (PAGES, 1)}


def test_equal_size_is_equal_to_half_a_page_and_of_the_side_that_has_least(tmp_path):
    names = [write(tmp_path / f"{share}.jsonl", with_menu(CLEAN, share)) for share in (0.0, 0.6)]
    sides = read(*names)
    found = [one for one in samples(sides.groups, 2, 4, 10**9, same_pages=True) if one.mode == SIZE]
    longest = max(piece.size for group in sides.groups for piece in group)
    budget = min(one.size for one in found)
    assert all(abs(one.size - budget) <= longest for one in found)
    assert min(sum(p.size for g in sides.groups[seed::4] for p in g if p.side == 0) for seed in range(4)) >= budget


def test_sides_of_other_pages_get_equally_many(tmp_path):
    sides = read(write(tmp_path / "a.jsonl", CLEAN[:80]), write(tmp_path / "b.jsonl", CLEAN[80:]))
    assert not sides.same_pages
    found = [one for one in samples(sides.groups, 2, 3, 10**9, same_pages=False) if one.mode == PAGES]
    assert all(one.groups == other.groups for one in found for other in found if one.seed == other.seed)


def test_the_order_of_the_sides_does_not_change_what_is_sampled(tmp_path):
    one, other = write(tmp_path / "a.jsonl", CLEAN), write(tmp_path / "b.jsonl", with_menu(CLEAN, 0.3))
    taken = []
    for names, a in (((one, other), 0), ((other, one), 1)):
        sides = read(*names)
        found = samples(sides.groups, 2, 3, 8_000, same_pages=True)
        taken.append([[piece.n for piece in some.texts] for some in found if some.side == a])
    assert taken[0] == taken[1]


def test_a_side_that_changes_between_two_readings_is_an_error(tmp_path):
    sides = both(tmp_path)
    write(tmp_path / "b.jsonl", CLEAN[:100])
    with pytest.raises(StorageError, match=r"b\.jsonl: has changed while it was read"):
        sides.texts(piece for group in sides.groups for piece in group)


def test_withdrawn_documents_of_a_corpus_are_counted_and_not_learned_from(tmp_path):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number, one in enumerate(CLEAN[:6]):
        corpus.keep(record_of(document(number, url=one["url"], canonical_url=one["url"], text=one["text"])))
    corpus.close()
    place = Place(str(folder.path))
    withdraw(place, Wish(urls=(CLEAN[0]["url"],), reason="asked"), now=1.8e9)
    sides = read(str(folder.path), write(tmp_path / "b.jsonl", CLEAN[:6]))
    assert [side.texts for side in sides.found] == [5, 5]
    asked = {("withdrawn", str(folder.path)): 1}
    assert [side.counts.why for side in sides.found] == [{}, asked], "a person asked: it holds on every side"


def test_what_has_expired_in_one_corpus_stays_on_the_side_that_was_not_made_of_it(tmp_path):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number, one in enumerate(CLEAN[:6]):
        corpus.keep(record_of(document(number, url=one["url"], canonical_url=one["url"], text=one["text"])))
    corpus.close()
    place, chosen = Place(str(folder.path)), tmp_path / "chosen"
    select(place, Place(str(chosen)), Selection(), max_bytes=10**6, now=1.79e9)
    old = frozenset(one["url"] for one in CLEAN[:2])
    remove_lapsed(place, wish_of(old, Lifetimes({"*": 1.0}), now=1.8e9), now=1.8e9)
    plain = write(tmp_path / "b.jsonl", CLEAN[:6])
    assert [side.texts for side in read(str(folder.path), plain).found] == [4, 6]
    made_of_it, other = read(str(chosen), plain).found
    assert (made_of_it.texts, made_of_it.counts.why) == (4, {("expired", str(folder.path)): 2})
    assert (other.texts, other.counts.why) == (6, {})


# --- held-out texts --------------------------------------------------------------------------------------------------
def test_what_a_side_has_and_what_is_of_its_domains_is_left_out_and_counted(tmp_path):
    sides = read(write(tmp_path / "a.jsonl", CLEAN[:20]), write(tmp_path / "b.jsonl", CLEAN[20:40]))
    fresh = pages(5, first=9_000)
    nearly = CLEAN[30]["text"].replace(CLEAN[30]["text"].split()[50], "elsewhere", 1)
    records = [
        *fresh,
        {"text": fresh[0]["text"]},
        {"text": CLEAN[3]["text"]},
        {"text": nearly},
        {"url": "https://other.site7.example/x", "text": pages(1, first=9_100)[0]["text"]},
        {"text": ""},
    ]
    (tmp_path / "held").mkdir()
    write(tmp_path / "held" / "web.jsonl", records)
    (kind,) = held_out.read([str(tmp_path / "held")], sides)
    assert (kind.name, kind.read, len(kind.asked)) == ("web", 10, 5)
    assert (kind.repeats, kind.of_a_side, kind.of_a_domain, kind.empty) == (1, 2, 1, 1)


def test_text_files_are_one_kind_and_one_that_is_no_utf8_is_named(tmp_path):
    sides = read(write(tmp_path / "a.jsonl", CLEAN[:20]), write(tmp_path / "b.jsonl", CLEAN[20:40]))
    folder = tmp_path / "held" / "letters"
    folder.mkdir(parents=True)
    (folder / "good.txt").write_text(pages(1, first=9_000)[0]["text"])
    (folder / "bad.txt").write_bytes(b"caf\xe9")
    (folder / "empty.txt").write_text(" \n")
    (kind,) = held_out.read([str(folder)], sides)
    assert (len(kind.asked), kind.unreadable, kind.empty, kind.no_domain) == (1, ["bad.txt"], 1, 1)


def test_of_a_long_text_the_begin_is_asked_up_to_the_end_of_a_line(tmp_path):
    sides = read(write(tmp_path / "a.jsonl", CLEAN[:20]), write(tmp_path / "b.jsonl", CLEAN[20:40]))
    (tmp_path / "book.txt").write_text("\n".join(one["text"] for one in pages(40, first=9_000)))
    folder = tmp_path / "held"
    folder.mkdir()
    (tmp_path / "book.txt").rename(folder / "book.txt")
    (kind,) = held_out.read([str(folder)], sides)
    (asked,) = kind.asked
    assert kind.shortened == 1
    assert 0.5 * held_out.LONGEST < len(asked.text) <= held_out.LONGEST
    assert (folder / "book.txt").read_text().startswith(asked.text + "\n")


def test_held_out_texts_that_are_all_of_a_side_are_an_error_with_the_name(tmp_path):
    a, b = write(tmp_path / "a.jsonl", CLEAN[:20]), write(tmp_path / "b.jsonl", CLEAN[20:40])
    with pytest.raises(InputError, match="a: no text is left that no side has"):
        held_out.read([a], read(a, b))
    with pytest.raises(InputError, match="none: no such file or folder"):
        held_out.read([str(tmp_path / "none")], read(a, b))
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="nothing: has no file that ends in"):
        held_out.read([str(tmp_path / "nothing")], read(a, b))
