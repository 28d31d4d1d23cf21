"""What a classifier's card says to hold waits in `held/classifier/`: in replay, batch job and every later version."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.held import Choice, confirm, release, waiting
from crawler.dataset.rewrite import records_in
from crawler.dataset.verify import verify
from crawler.frontier.rejudged import judge_again
from crawler.observe.report.summary import summarise
from crawler.operations.export import WORK as EXPORT
from crawler.spark.inputs import ARCHIVED, Input
from crawler.spark.partition import finish, is_read, judge
from crawler.stages.classify.model import open_classifier
from crawler.storage.files.place import HELD, Place
from tests.classify.conftest import SOLD, line_of, text_of
from tests.support import corpus_crawl
from tests.support.corpus_folder import Folder
from tests.support.operations import answer_of
from tests.support.process import scrapy

PAGES = 8
NOW = 1.8e9
SETTINGS = corpus_crawl.SETTINGS | {"EXTRACTION_MIN_WORDS": 20}


def url_of(number: int) -> str:
    return f"https://site{number}.example/{number}"


def page_of(number: int) -> bytes:
    lines = [line for line in text_of(number % 2 == 0, 500 + number).split("\n") if line]
    body = "".join(f"<p>{line}</p>" for line in lines)
    return f"<html lang=en><title>Page {number}</title><body><article>{body}</article></body></html>".encode()


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """below.npz holds what is not worth keeping, above.npz what is; loose.npz nothing."""
    folder = tmp_path_factory.mktemp("models")
    labels = folder / "labels.jsonl"
    labels.write_bytes(b"".join(orjson.dumps(line_of(good, n)) + b"\n" for n in range(30) for good in (True, False)))
    cards = {
        "below": ("--action", "hold"),
        "above": ("--side", "above"),
        "loose": ("--side", "below", "--threshold", "0"),
    }
    done = scrapy("classify", "train", "below", "--labels", labels, "--out", folder, *cards.pop("below"))
    assert done.returncode == 0, done.stderr
    for name, changes in cards.items():
        done = scrapy("classify", "card", folder / "below.npz", *changes, "--out", folder / f"{name}.npz")
        assert done.returncode == 0, done.stderr
    return folder


def with_model(models: Path, name: str) -> dict[str, object]:
    return SETTINGS | {"CLASSIFIERS": f"toxic:{models / name}.npz"}


@pytest.fixture
def corpus(folder: Folder, exchange, models) -> Place:
    """Eight archived pages, half of them held."""
    made = folder.opened()
    for n in range(PAGES):
        made.archive(exchange(n, page_of(n), url=url_of(n)))
    made.close()
    done = corpus_crawl.replay(folder.path / "archive", folder.path, **with_model(models, "below"))
    assert done.returncode == 0, done.log
    return Place(str(folder.path))


def kept(place: Place) -> set[str]:
    return {record["url"] for record in records_in(place)}


def held(place: Place) -> dict[str, dict]:
    return {record["url"]: record for record in waiting(place, Choice("classifier"))}


EVEN, ODD = ({url_of(n) for n in range(PAGES) if n % 2 == odd} for odd in (0, 1))


def healthy(place: Place) -> bool:
    found = verify(place)
    return not (found.damage or found.surplus or found.beside.strangers or found.beside.unfinished)


def test_it_is_counted_by_itself_with_its_text_and_is_in_no_product(corpus, tmp_path):
    assert kept(corpus) == EVEN and set(held(corpus)) == ODD
    for record in held(corpus).values():
        assert (record["stage"], record["reason"]) == ("classify", "held_classifier") and record["text"]
        assert record["detail"] == f"toxic: {record['classifier_scores']['toxic']:.4f} is below 0.5"
    manifest = corpus.manifest()
    assert (manifest["counts"]["kept"], manifest["counts"]["held"], manifest["counts"]["rejected"]) == (4, 4, 0)
    assert {entry["path"].rpartition("/")[0] for entry in manifest["files"] if entry["kind"] == HELD} == {
        "held/classifier"
    }
    summary = summarise(corpus.url)
    assert (summary.kept, summary.withheld, summary.rejected) == (4, 4, 0)
    assert not answer_of(EXPORT, corpus.url, "--out", tmp_path / "export", "--to", "jsonl").problems
    written = b"".join(corpus_crawl.unpacked(path) for path in (tmp_path / "export").rglob("*") if path.is_file())
    assert {url for url in EVEN | ODD if f'"{url}"'.encode() in written} == EVEN
    assert healthy(corpus)


def test_other_cards_send_other_pages_there_and_bring_these_back(corpus, models):
    def again(name: str) -> None:
        config = from_mapping(with_model(models, name) | {"CORPUS_DIR": corpus.url})
        judge_again(corpus, config, now=NOW)
        assert healthy(corpus)

    again("above")
    assert kept(corpus) == ODD and set(held(corpus)) == EVEN
    again("loose")
    assert kept(corpus) == EVEN | ODD and not held(corpus)
    again("below")
    assert kept(corpus) == EVEN and set(held(corpus)) == ODD


def test_word_lists_hold_in_a_room_of_their_own(corpus, tmp_path):
    (tmp_path / "sales.txt").write_text("\n".join(SOLD))
    (tmp_path / "safety.yaml").write_text("categories:\n  sales: {words: sales.txt, languages: en, density: 0.5}\n")
    setting = {"CLASSIFIERS": f"safety:{tmp_path / 'safety.yaml'}"}
    judge_again(corpus, from_mapping(SETTINGS | setting | {"CORPUS_DIR": corpus.url}), now=NOW)
    assert kept(corpus) == EVEN and not held(corpus)
    found = {record["url"]: record for record in waiting(corpus, Choice("safety"))}
    assert set(found) == ODD and {record["reason"] for record in found.values()} == {"held_safety"}
    assert all(record["classifier_scores"]["safety_sales"] >= 0.5 for record in found.values())
    confirm(corpus, Choice("safety"), now=NOW, reason="so it is")
    rejected = list(records_in(corpus, ("rejected",)))
    assert {record["reason"] for record in rejected} == {"safety_confirmed"}
    assert not any(record.get("text") for record in rejected)
    assert healthy(corpus)


def test_a_person_releases_some_and_confirms_the_others(corpus):
    one, *others = sorted(ODD)
    release(corpus, Choice("classifier", urls=frozenset({one})), now=NOW, reason="an old tale")
    assert kept(corpus) == EVEN | {one}
    confirm(corpus, Choice("classifier"), now=NOW, reason="so it is")
    assert not held(corpus)
    rejected = {record["url"]: record for record in records_in(corpus, ("rejected",))}
    assert set(rejected) == {*others}
    assert {(record["reason"], record.get("text")) for record in rejected.values()} == {("classifier_confirmed", None)}
    assert healthy(corpus)


def test_a_withdrawal_reaches_it(corpus):
    gone = sorted(ODD)[0]
    withdraw(corpus, Wish("letter", frozenset({gone.split("/")[2]})), now=NOW)
    assert set(held(corpus)) == ODD - {gone}


def test_a_batch_job_says_the_same(corpus, models):
    archives = [f"{corpus.url}/archive/{name}" for name in corpus.listing("archive") if name.endswith(".gz")]
    config = from_mapping(with_model(models, "below") | {"WORKER_ID": "w"})
    files = [(number, Input(ARCHIVED, path)) for number, path in enumerate(archives)]
    done = [finish(config, one) for one in judge(config, files) if not is_read(one)]
    found = {orjson.loads(one.json)["url"]: one for one in done}
    assert {url for url, one in found.items() if one.kind == "held/classifier"} == ODD
    assert {url: orjson.loads(found[url].json)["detail"] for url in ODD} == {
        url: record["detail"] for url, record in held(corpus).items()
    }


def test_a_card_that_names_no_side_is_of_an_older_version_and_means_below(models, tmp_path):
    from crawler.stages.classify.words import PROBE, computed
    from crawler.stages.models.file import ModelError, write

    model = open_classifier(str(models / "above.npz"))
    said = model.stored.card["classifier"]
    for side, sentence in ((None, ""), ("beside", "not those of a classifier")):
        card = model.stored.card | {"classifier": {k: v for k, v in said.items() if k != "side"}}
        if side:
            card["classifier"]["side"] = side
        write(tmp_path / "made.npz", card, {"weights": model.weights}, PROBE.encode(), computed)
        if sentence:
            with pytest.raises(ModelError, match=sentence):
                open_classifier(str(tmp_path / "made.npz"))
        else:
            found = open_classifier(str(tmp_path / "made.npz"))
            assert found.is_wrong(0.1) and not found.is_wrong(0.9)
