"""People judge a sample; what they said stays, and says how good the pipeline is."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.document import DropReason
from crawler.explore.judge import sample, sizes
from crawler.explore.labels import (
    FILE,
    Label,
    Stratum,
    agreements,
    append,
    interval,
    precision,
    read,
    recall,
    strata_of,
)
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.explore.conftest import Desk
from tests.support.corpus_folder import Folder


@pytest.fixture
def mixed(folder: Folder, kept, rejected, serve: Callable[..., Desk]) -> Desk:
    """Thirty kept documents, ten of low quality, five too short, and duplicates and refusals that nobody judges."""
    corpus = folder.opened()
    for n in range(30):
        corpus.keep(kept(n))
    reasons = [DropReason.LOW_QUALITY] * 10 + [DropReason.TOO_SHORT] * 5
    for n, reason in enumerate(
        [*reasons, DropReason.NEAR_DUPLICATE, DropReason.OPTOUT, DropReason.HOLD_PAUSED], start=100
    ):
        corpus.reject(rejected(n, reason))
    corpus.close()
    return serve(folder.path)


def key_on(page: str) -> str:
    found = re.search(r'name="key" value="(\d+)"', page)
    return found[1] if found else ""


def test_the_sample_has_so_many_of_each_verdict_and_is_the_same_for_everybody(mixed: Desk) -> None:
    chosen = sample(mixed.catalogues[0], 7)
    states = {row[0]: row[1] for row in mixed.catalogues[0].rows("SELECT id, coalesce(reason, 'kept') FROM records")}
    assert Counter(states[key] for key, _ in chosen) == {"kept": 7, "low_quality": 7, "too_short": 5}
    assert chosen == sample(mixed.catalogues[0], 7)
    assert sizes(mixed.catalogues[0]) == {"kept": 30, "low_quality": 10, "too_short": 5}
    names = [states[key] for key, _ in chosen]
    assert names != sorted(names), "mixed, so that the order does not tell the verdict"


def test_the_verdict_is_not_shown_before_the_judgement(mixed: Desk) -> None:
    page = mixed.page("/0/judge", ("judge", "Ada"))
    assert key_on(page)
    assert "low_quality" not in page
    assert 'class="state' not in page


def test_labels_are_on_the_disk_at_once_and_survive_a_restart(
    mixed: Desk, folder: Folder, serve: Callable[..., Desk]
) -> None:
    seen = []
    for turn in range(4):
        page = mixed.page("/0/judge", ("judge", "Ada"), ("each", "2"))
        seen.append(key_on(page))
        said = mixed.post("/0/judge", judge="Ada", each="2", key=seen[-1], answer=("keep", "reject")[turn % 2])
        assert (said.status, said.headers["location"]) == (303, "/0/judge?judge=Ada&each=2")
        lines = (folder.path / FILE).read_text().splitlines()
        assert len(lines) == turn + 1
        assert json.loads(lines[-1])["answer"] == ("keep", "reject")[turn % 2]
    assert len(set(seen)) == 4
    again = serve(folder.path)
    page = again.page("/0/judge", ("judge", "Ada"), ("each", "2"))
    assert "4 of 6" in page
    assert key_on(page) not in seen
    assert "0 of 6" in again.page("/0/judge", ("judge", "Bo"), ("each", "2"))


def test_the_last_document_ends_it(mixed: Desk) -> None:
    for _ in range(3):
        key = key_on(mixed.page("/0/judge", ("judge", "Ada"), ("each", "1")))
        mixed.post("/0/judge", judge="Ada", each="1", key=key, answer="keep")
    page = mixed.page("/0/judge", ("judge", "Ada"), ("each", "1"))
    assert "all 3 documents of the sample are judged" in page
    assert "What 3 labels say" in page
    assert "gristmill classify train NAME --labels" in page


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"answer": "maybe"}, 400),
        ({"judge": ""}, 400),
        ({"judge": "<b>"}, 400),
        ({"key": "../../x"}, 400),
        ({"key": "5"}, 404),
        ({"each": "0"}, 400),
    ],
)
def test_what_is_no_label_is_refused_and_nothing_is_written(mixed: Desk, folder: Folder, values, status: int) -> None:
    key = key_on(mixed.page("/0/judge", ("judge", "Ada")))
    given = {"judge": "Ada", "each": "5", "key": key, "answer": "keep"} | values
    assert mixed.post("/0/judge", **given).status == status
    assert not (folder.path / FILE).exists()


def test_a_label_of_another_page_is_refused(mixed: Desk, folder: Folder) -> None:
    key = key_on(mixed.page("/0/judge", ("judge", "Ada")))
    body = f"judge=Ada&each=5&key={key}&answer=keep"
    assert mixed.ask("/0/judge", "POST", body, Origin=mixed.base).status == 403
    assert not (folder.path / FILE).exists()


def label(url: str, answer: str = "keep", judge: str = "Ada", stratum: str = "kept") -> Label:
    return Label(url, "", judge, answer, stratum, "", "2026-01-01T00:00:00Z")


def test_a_line_that_a_crash_has_cut_costs_that_line_only(tmp_path: Path) -> None:
    place = Place(str(tmp_path))
    append(place, label("https://example.org/1"))
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"url": "https://exam')
    append(place, label("https://example.org/2", "reject"))
    append(place, label("https://example.org/1", "reject"))
    assert [(found.url[-1], found.answer) for found in read(place)] == [("1", "reject"), ("2", "reject")]


def test_a_remote_corpus_takes_no_labels() -> None:
    with pytest.raises(StorageError, match="local folder only"):
        append(Place("memory://labels", "spool"), label("https://example.org/1"))


def test_the_interval_is_that_of_wilson() -> None:
    assert [round(end, 4) for end in interval(81, 263)] == [0.2553, 0.3662]  # Newcombe 1998, table I
    assert [round(end, 4) for end in interval(15, 148)] == [0.0624, 0.1605]
    assert [round(end, 4) for end in interval(0, 20)] == [0.0, 0.1611]
    assert interval(0, 0) == (0.0, 1.0)


def test_recall_weights_each_verdict_by_its_size() -> None:
    strata = [Stratum("kept", 800, 20, 18), Stratum("low_quality", 200, 10, 5), Stratum("too_short", 1000, 10, 1)]
    found = recall(strata)
    assert found.value == pytest.approx(720 / (720 + 100 + 100))
    assert found.low < found.value < found.high
    assert precision(strata).value == 0.9
    nothing = recall([Stratum("kept", 5, 0, 0), Stratum("low_quality", 5, 0, 0)])
    assert (nothing.value, nothing.low, nothing.high) == (None, 0.0, 1.0)


def test_of_recall_nothing_is_said_where_one_side_alone_was_judged() -> None:
    only_kept = recall([Stratum("kept", 100, 25, 25), Stratum("low_quality", 50, 0, 0)])
    assert only_kept.value is None and only_kept.low < 0.9 and only_kept.high == 1.0
    assert recall([Stratum("kept", 100, 0, 0), Stratum("low_quality", 50, 5, 1)]).value is None
    assert recall([Stratum("kept", 100, 25, 25)]).value == 1.0  # nothing was rejected


def test_two_judges_agree_as_cohen_counts() -> None:
    """Cohen's kappa of a table of 20, 5, 10, 15 is 0.4."""
    answers = (
        [("keep", "keep")] * 20 + [("keep", "reject")] * 5 + [("reject", "keep")] * 10 + [("reject", "reject")] * 15
    )
    found = [
        label(f"u{n}", said, judge) for n, both in enumerate(answers) for judge, said in zip("AB", both, strict=True)
    ]
    (agreement,) = agreements([*found, label("alone", judge="C")])
    assert (agreement.both, agreement.agree, agreement.judges) == (50, 35, ("A", "B"))
    assert agreement.kappa is not None
    assert math.isclose(agreement.kappa, 0.4)
    assert agreements([label("x", judge="A"), label("x", judge="B")])[0].kappa is None


def test_of_several_judges_most_decide() -> None:
    found = [label("x", "keep", "A"), label("x", "reject", "B"), label("x", "reject", "C"), label("y", "keep", "A")]
    assert strata_of(found, {"kept": 9}) == [Stratum("kept", 9, 2, 1)]
