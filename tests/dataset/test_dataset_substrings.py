"""Repeated passages in a corpus: found across documents and inside them, listed, cut with the first one kept."""

from __future__ import annotations

from crawler.dataset.substrings import find, remove
from crawler.dataset.verify import verify

MEMORY = 10**9
NOW = 1_800_000_000.0


def search(place, min_tokens=20, memory=MEMORY):
    return find(place, min_tokens=min_tokens, memory=memory)


def test_a_passage_of_several_documents_is_listed_with_its_counts_and_domains(shelf, prose):
    notice = prose(30, 1)
    place = shelf.fill(*(f"{prose(40, 10 + n)}\n\n{notice}\n\n{prose(40, 90 + n)}" for n in range(5)))
    found = search(place)
    [passage] = found.widest
    assert (passage.words, passage.times, passage.documents, passage.surplus) == (30, 5, 5, 120)
    assert passage.domains == {"site0.test": 3, "site1.test": 2}
    assert passage.first_url == "https://site0.test/0" and passage.example == notice
    assert (found.documents, found.words, found.repeated, found.surplus, found.touched) == (5, 550, 150, 120, 4)


def test_removal_keeps_the_first_occurrence_and_cuts_the_others(shelf, prose):
    notice = prose(30, 1)
    bodies = [(prose(40, 10 + n), prose(40, 90 + n)) for n in range(4)]
    place = shelf.fill(*(f"{before}\n\n{notice}\n\n{after}" for before, after in bodies))
    done = remove(place, search(place), min_words=50, now=NOW)
    assert (done.version, done.seen, done.changed, done.rejected) == (2, 4, 3, 0)
    first, *others = shelf.texts()
    assert first == f"{bodies[0][0]}\n\n{notice}\n\n{bodies[0][1]}"
    assert others == [f"{before}\n\n{after}" for before, after in bodies[1:]]
    [lineage] = place.manifest()["lineage"]
    assert lineage["operation"] == "dataset substrings --remove" and "20 words" in lineage["reason"]
    assert search(place).surplus == 0 and not verify(place).damage


def test_a_passage_inside_one_document_is_found_too(shelf, prose):
    refrain = prose(25, 1)
    place = shelf.fill(f"{refrain}\n{prose(60, 2)}\n{refrain}\n{prose(60, 3)}\n{refrain}")
    remove(place, search(place), min_words=10, now=NOW)
    assert shelf.texts() == [f"{refrain}\n{prose(60, 2)}\n{prose(60, 3)}"]


def test_one_word_less_than_the_minimum_is_no_passage(shelf, prose):
    for words, passages in ((19, 0), (20, 1)):
        folder = type(shelf)(shelf.path / str(words))
        place = folder.fill(f"{prose(words, 1)} {prose(30, 2)}", f"{prose(30, 3)} {prose(words, 1)}")
        assert search(place).passages == passages


def test_a_document_that_becomes_too_short_is_rejected_with_the_reason(shelf, prose):
    notice = prose(60, 1)
    place = shelf.fill(f"{notice} {prose(60, 2)}", f"{prose(20, 3)} {notice}")
    done = remove(place, search(place), min_words=50, now=NOW)
    assert (done.changed, done.rejected) == (0, 1)
    [rejected] = shelf.records("rejected")
    assert (rejected["url"], rejected["stage"], rejected["reason"]) == (
        "https://site1.test/1",
        "substrings",
        "too_short",
    )
    assert rejected["detail"] == "20 words without repeated passages, needs 50" and "text" not in rejected
    assert not verify(place).damage and not verify(place).surplus


def test_whole_copies_leave_one_document(shelf, prose):
    text = prose(200, 1)
    place = shelf.fill(text, text, text)
    remove(place, search(place), min_words=50, now=NOW)
    assert shelf.texts() == [text] and len(shelf.records("rejected")) == 2


def test_endless_repetition_inside_one_text_keeps_its_beginning(shelf):
    place = shelf.fill("la " * 100)
    remove(place, search(place), min_words=1, now=NOW)
    assert shelf.texts() == [" ".join(["la"] * 20)]


def test_passages_across_the_end_of_a_document_are_none(shelf, prose):
    left, right = prose(12, 1), prose(12, 2)
    place = shelf.fill(f"{prose(30, 3)} {left}", f"{right} {prose(30, 4)}", f"{left} {right}")
    assert search(place).passages == 0


def test_a_corpus_beyond_the_memory_is_searched_in_blocks_and_says_so(shelf, prose):
    notice = prose(30, 1)
    place = shelf.fill(*(f"{prose(40, 10 + n)} {notice}" for n in range(4)))
    found = search(place, memory=6_000)  # two documents a block
    assert (found.blocks, found.documents, found.surplus) == (2, 4, 60)
    remove(place, found, min_words=10, now=NOW)
    assert [notice in text for text in shelf.texts()] == [True, False, True, False], "each block keeps its first"


def test_two_searches_and_two_removals_are_the_same(shelf, prose, tmp_path):
    texts = [f"{prose(30, n % 3)} {prose(40, 50 + n)} {prose(30, n % 5)}" for n in range(12)]
    results = []
    for name in ("one", "two"):
        place = type(shelf)(tmp_path / name).fill(*texts)
        found = search(place)
        remove(place, found, min_words=1, now=NOW)
        results.append((found.as_dict(), [entry["sha256"] for entry in place.manifest()["files"]]))
    assert results[0] == results[1]


def test_an_empty_corpus_has_nothing_to_say(shelf):
    place = shelf.fill()
    found = search(place)
    assert (found.documents, found.words, found.widest) == (0, 0, [])
