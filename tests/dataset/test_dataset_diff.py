"""What two corpora, or two versions of one, make of the same URLs."""

from __future__ import annotations

import json

import pytest

from crawler.dataset.diff import Change, compare, side_of
from crawler.dataset.supersede import supersede
from crawler.document import DropReason
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder
from tests.support.process import scrapy


def url(number: int) -> str:
    return f"https://example.org/{number}"


@pytest.fixture
def pair(tmp_path, kept, rejected):
    """A: 0 to 4 kept, 5 to 7 rejected. B: 0 the same, 1 with another text, 2 rejected, 3 absent, 4 the same, 5 kept, 6
    rejected for another reason, 7 the same, 8 new."""
    a, b = Folder(tmp_path / "a"), Folder(tmp_path / "b")
    corpus = a.opened()
    for number in range(5):
        corpus.keep(kept(number, doc_id=f"id-{number}", text=f"first line\nline of {number}\nlast line"))
    for number in (5, 6, 7):
        corpus.reject(rejected(number))
    corpus.close()
    corpus = b.opened()
    corpus.keep(kept(0, doc_id="id-0"))
    corpus.keep(kept(1, doc_id="id-1b", text="first line\nanother line\nlast line"))
    corpus.reject(rejected(2, DropReason.GONE, "fetch"))
    corpus.keep(kept(4, doc_id="id-4"))
    corpus.keep(kept(5, doc_id="id-5"))
    corpus.reject(rejected(6, DropReason.TOO_SHORT, "extraction"))
    corpus.reject(rejected(7))
    corpus.keep(kept(8, doc_id="id-8"))
    corpus.close()
    return a, b


def test_every_kind_of_difference_is_told_by_url(pair):
    found = compare(*(side_of(str(folder.path)) for folder in pair))
    assert found.same == 2
    assert found.gained == [Change(url(5), "quality/low_quality", "id-5"), Change(url(8), "absent", "id-8")]
    assert found.lost == [Change(url(2), "id-2", "fetch/gone"), Change(url(3), "id-3", "absent")]
    assert found.texts == [Change(url(1), "id-1", "id-1b")]
    assert found.reasons == [Change(url(6), "quality/low_quality", "extraction/too_short")]
    assert found.samples == {url(1): ["@@ -2 +2 @@", "-line of 1", "+another line"]}
    assert found.kinds("lost") == {"fetch/gone": 1, "absent": 1}


def test_a_corpus_does_not_differ_from_itself(pair):
    side = side_of(str(pair[0].path))
    found = compare(side, side)
    assert (found.same, found.gained, found.lost, found.texts, found.reasons, found.samples) == (5, [], [], [], [], {})


def test_no_sample_is_read_where_none_is_wanted(pair):
    found = compare(*(side_of(str(folder.path)) for folder in pair), samples=0)
    assert found.samples == {}
    assert len(found.texts) == 1


def test_two_versions_of_one_corpus_are_compared(pair, kept):
    folder = pair[0]
    corpus = folder.opened("w2")
    corpus.keep(kept(1, doc_id="id-1c", crawled_at="2026-02-01T00:00:00Z"))
    corpus.close()
    supersede(Place(str(folder.path)), now=1_800_000_000.0)
    found = compare(side_of(f"{folder.path}@1"), side_of(f"{folder.path}@2"))
    assert (found.same, found.texts) == (5, [])  # version 1 resolves to the latest record, too
    with pytest.raises(StorageError, match="no version 3; expected 1 to 2"):
        side_of(f"{folder.path}@3")


def test_the_record_that_stands_is_compared_and_not_the_last_line(pair, rejected):
    folder = pair[0]
    corpus = folder.opened("w2")
    corpus.reject(rejected(0, DropReason.UNCHANGED, "fetch", crawled_at="2026-02-01T00:00:00Z"))
    corpus.close()
    assert compare(side_of(str(folder.path)), side_of(str(pair[1].path))).same == 2


def test_a_long_difference_is_cut(tmp_path, kept):
    sides = []
    for name in ("a", "b"):
        folder = Folder(tmp_path / name)
        corpus = folder.opened()
        corpus.keep(kept(1, doc_id=name, text="\n".join(f"{name} {n} " + "x" * 500 for n in range(100))))
        corpus.close()
        sides.append(side_of(str(folder.path)))
    (sample,) = compare(*sides).samples.values()
    assert len(sample) == 17
    assert sample[-1] == "… 185 more lines"
    assert max(map(len, sample)) <= 200


def test_the_command_prints_json_and_ends_with_nought(pair):
    done = scrapy("dataset", "diff", "--json", *(folder.path for folder in pair))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["same"] == 2
    assert told["gained"][0] == {"url": url(5), "before": "quality/low_quality", "after": "id-5"}


def test_the_command_needs_two_sides(pair):
    done = scrapy("dataset", "diff", pair[0].path)
    assert done.returncode == 2
    assert "scrapy dataset diff [-h] [--json] [--show N] A B" in done.stderr + done.stdout


@pytest.mark.parametrize("at", [0, 150, 199, 250, 400, 999])
def test_of_two_long_lines_the_place_is_shown_where_they_differ(tmp_path, kept, at):
    line = "".join(chr(ord("a") + n % 26) for n in range(1000))
    sides = []
    for name, text in (("a", line), ("b", line[:at] + "#" + line[at + 1 :])):
        folder = Folder(tmp_path / name)
        corpus = folder.opened()
        corpus.keep(kept(1, doc_id=name, text=text))
        corpus.close()
        sides.append(side_of(str(folder.path)))
    (sample,) = compare(*sides).samples.values()
    _, gone, come = sample
    assert (gone[0], come[0], come.count("#"), gone.count("#")) == ("-", "+", 1, 0)
    place = come.index("#")
    assert gone[1:place] == come[1:place] and gone[place] == line[at]
    assert max(map(len, sample)) <= 200
    assert (come[1] == "…") == (at > 60) and come.endswith("…") == (at < 900)


def test_a_line_that_only_grew_is_shown_at_its_end(tmp_path, kept):
    sides = []
    for name, text in (("a", "x" * 500), ("b", "x" * 500 + " and more")):
        folder = Folder(tmp_path / name)
        corpus = folder.opened()
        corpus.keep(kept(1, doc_id=name, text=text))
        corpus.close()
        sides.append(side_of(str(folder.path)))
    (sample,) = compare(*sides).samples.values()
    assert sample[1].endswith("xxx") and sample[2].endswith("xxx and more")
