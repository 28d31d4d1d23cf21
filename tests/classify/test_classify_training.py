"""Training: what is learned, from which texts, and that the same labels always give the same model."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import orjson
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from crawler.classify.examples import Examples, read_labels, read_texts
from crawler.classify.fit import fit
from crawler.classify.groups import folds, groups
from crawler.classify.measures import alone, auc, auc_interval, calibration_error
from crawler.classify.train import usable
from crawler.dataset import exclude
from crawler.dataset.export import export
from crawler.document import Document, Drop, DropReason
from crawler.operations.classify_model import EVAL
from crawler.operations.classify_train import WORK
from crawler.operations.declared import WrongCall
from crawler.problems import InputError
from crawler.stages.classify.model import open_classifier
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of, rejection_of
from tests.classify.conftest import line_of, text_of
from tests.support.corpus_folder import Folder
from tests.support.operations import answer_of

ONES = np.ones(4)


def read(*paths: object) -> Examples:
    found = Examples()
    read_labels(map(str, paths), found)
    return found


def test_the_command_learns_from_labels_and_says_what_it_is_worth_on_sites_not_seen(labels, tmp_path):
    answer = answer_of(WORK, "worth", "--labels", labels(), "--out", tmp_path / "models")
    assert not answer.problems and answer.facts["auc"] > 0.99 and answer.facts["languages"] == ["en"]
    model = open_classifier(answer.facts["file"])
    assert model.score(text_of(True, 1_000)) > 0.7 and model.score(text_of(False, 1_000)) < 0.3
    assert max(model.stored.card["classifier"]["changed_by_layout"].values()) <= 0.01
    assert "village" in answer.facts["pulls"]["keep"] and "village" not in str(model.stored.card), "no word is stored"


def test_the_same_labels_give_the_same_bytes_whatever_the_number_of_threads(labels, tmp_path):
    path, digests = labels(), set()
    for threads in ("1", "4"):
        out = tmp_path / threads
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        words = ["-c", "from crawler.commands.gristmill import main; main()", "classify", "train", "worth"]
        words += ["--labels", str(path), "--out", str(out)]
        done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        digests.add(hashlib.sha256((out / "worth.npz").read_bytes()).hexdigest())
    assert len(digests) == 1


def test_the_fit_is_where_another_optimiser_ends():
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(80, 30))
    goal, weight = (rng.random(80) < 0.5).astype(float), rng.random(80) + 0.5

    def loss(at):
        odds = dense @ at[:-1] + at[-1]
        return 2.0 * (weight * (np.logaddexp(0, odds) - goal * odds)).sum() + 0.5 * (at[:-1] ** 2).sum()

    found = fit(csr_array(dense), goal, weight, 2.0)
    other = minimize(loss, np.zeros(31), method="BFGS").x
    assert np.abs(found - other).max() < 2e-3


def test_of_one_judge_the_later_answer_counts_and_several_judges_make_a_share(labels):
    again = line_of(True, 0, answer="reject")
    other = line_of(True, 1, answer="reject", judge="ben")
    found = {one.url: one for one in read(labels(again, other)).found}
    assert found[again["url"]].good == 0.0
    assert (found[other["url"]].good, found[other["url"]].judges) == (0.5, 2)


def test_what_cannot_be_used_is_counted_and_named_and_spoils_nothing_else(labels):
    path = labels(line_of(True, 900, text=""), line_of(True, 901, answer="maybe"), line_of(True, 902, language="fr"))
    with path.open("ab") as file:
        file.write(b'{"cut": \n')
    found = read(path)
    kept = usable(found, "judge more")
    assert len(kept) == 60
    said = " ".join(found.sentences())
    assert "no text" in said and "needs url" in said and "no JSON object (" in said and "in fr" in said
    assert "902" in said and ":64" in said


def test_a_file_that_is_given_twice_counts_once(labels):
    found = read(labels(), labels())
    assert len(usable(found, "judge more")) == 60 and found.left_out == {"given twice, the first counts": 60}


def test_a_language_with_one_answer_only_is_not_learned(labels):
    found = usable(read(labels(*(line_of(True, number, language="ru") for number in range(100, 130)))), "judge more")
    assert {one.language for one in found} == {"en"}


def test_too_few_labels_or_sites_are_a_sentence(labels, tmp_path):
    with pytest.raises(InputError, match=r"at least 10 of each"):
        answer_of(WORK, "worth", "--labels", labels(many=4), "--out", tmp_path)
    found = [line_of(good, n, domain="one.example", url=f"https://one.example/{n}{good}")
             for n in range(30) for good in (True, False)]  # fmt: skip
    with pytest.raises(InputError, match="of one site"):
        usable(read(labels(*found, many=0)), "judge more")
    with pytest.raises(InputError, match=r"(?s)at least 10 of each.*of one site") as both:
        usable(read(labels(*found[:6], many=0)), "judge more")
    assert len(both.value.problems) == 2, "who judges more pages learns at once of the sites"


def test_texts_of_one_site_and_near_copies_are_never_parted():
    long = text_of(True, 5)
    copy = long.replace("rain", "hail", 1)
    of = groups([long, copy, text_of(False, 1), text_of(True, 7)], ["a", "b", "c", "c"])
    assert of[0] == of[1] != of[2] == of[3]
    made = folds([0, 0, 1, 1, 2, 3], [1, 1, 0, 0, 1, 0], 5)
    assert made.many == 2 and made.of[0] == made.of[1]


def test_keep_and_drop_files_stand_for_answers(tmp_path, labels):
    path = labels(name="texts.jsonl")
    found = Examples()
    read_texts([str(path)], 0.0, found, most=10)
    assert [one.good for one in found.found] == [0.0] * 10
    assert found.left_out.total() == 50


def test_a_page_that_was_withdrawn_teaches_nothing_though_the_withdrawal_was_cut_off(tmp_path, monkeypatch):
    """Neither by its label, nor among kept documents, nor from the files of an export that was made before."""
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number in range(6):
        url = f"https://k{number}.example/"
        text = text_of(True, number)
        corpus.keep(record_of(Document(url, url, language="en", text=text, doc_id=f"sha256:{number}")))
    corpus.close()
    export(Place(str(folder.path)), tmp_path / "release", "jsonl.gz", max_bytes=10**6, now=1.8e9)
    judged = [line_of(True, n, url=f"https://k{n}.example/", text="") for n in range(6)]
    (folder.path / "labels.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in judged))

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(exclude, "rewrite", killed)
    with pytest.raises(KeyboardInterrupt):
        wish = exclude.Wish("asked", urls=frozenset({"https://k2.example/"}))
        exclude.withdraw(Place(str(folder.path)), wish, now=1.9e9)
    (shard,) = (tmp_path / "release" / "data").glob("*.jsonl.gz")
    for source in (str(folder.path), str(shard)):
        found = Examples()
        read_texts([source], 1.0, found, most=10)
        assert {one.url for one in found.found} == {f"https://k{n}.example/" for n in (0, 1, 3, 4, 5)}
        assert found.left_out["the page was withdrawn, is gone, or says no"] == 1
    found = read(folder.path)
    assert {one.url for one in found.found} == {f"https://k{n}.example/" for n in (0, 1, 3, 4, 5)}
    assert b"k2.example" not in (folder.path / "labels.jsonl").read_bytes(), "its label went with the page"


def test_auc_counts_ties_as_half_and_weights_as_copies():
    goal = np.array([1.0, 1.0, 0.0, 0.0])
    assert auc(goal, np.array([0.9, 0.5, 0.5, 0.1]), ONES) == 0.875
    assert auc(goal, np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 3.0, 1.0, 1.0])) == (2 + 3 * 1.5) / 8
    assert auc(np.ones(4), np.arange(4.0), ONES) is None
    assert calibration_error(goal, np.array([1.0, 1.0, 0.0, 0.0]), ONES) == 0.0


def test_an_interval_draws_sites_and_not_texts():
    rng = np.random.default_rng(1)
    goal = np.repeat((rng.random(20) < 0.5).astype(float), 30)
    score = np.repeat(rng.random(20), 30) + goal * 0.3
    sites = [str(number // 30) for number in range(600)]
    by_site = auc_interval(goal, score, np.ones(600), sites)
    by_text = auc_interval(goal, score, np.ones(600), [str(number) for number in range(600)])
    assert by_site.high - by_site.low > 3 * (by_text.high - by_text.low)


def test_a_name_that_decides_is_seen_and_one_that_does_not_is_not():
    goal = np.array([float(number % 2) for number in range(400)])
    assert alone(goal, np.ones(400), [str(number % 2) for number in range(400)]) > 0.99
    assert alone(goal, np.ones(400), ["x"] * 400) == pytest.approx(0.5)


def test_eval_gives_no_score_to_another_language_and_says_so(labels, tmp_path):
    made = answer_of(WORK, "worth", "--labels", labels(), "--out", tmp_path)
    judged = labels(*(line_of(True, number, language="fr") for number in range(40, 44)), name="judged.jsonl")
    said = answer_of(EVAL, made.facts["file"], "--labels", judged)
    assert said.facts["texts"] == 60 and said.facts["auc"] > 0.99
    assert any(line.startswith("4 texts in fr have no score") for line in said.facts["left_out"])


def test_labels_of_a_corpus_take_its_texts_and_count_what_each_verdict_stands_for(tmp_path):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number in range(40):
        kept = Document(
            f"https://k{number}.example/", language="en", text=text_of(True, number), doc_id=f"sha256:{number}"
        )
        corpus.keep(record_of(kept))
    for number in range(10):
        drop = Document(
            f"https://r{number}.example/", language="en", text=text_of(False, number), doc_id=f"sha256:r{number}"
        )
        drop.text_allowed, drop.done = True, ["pii"]
        corpus.reject(rejection_of(drop, Drop("quality", DropReason.LOW_QUALITY)))
    corpus.close()
    judged = [line_of(True, n, url=f"https://k{n}.example/", text="", language="") for n in range(10)]
    judged += [line_of(False, n, url=f"https://r{n}.example/", doc_id=f"sha256:r{n}", text="", stratum="low_quality")
               for n in range(10)]  # fmt: skip
    judged.append(line_of(True, 0, url="https://k20.example/", doc_id="sha256:older", text=""))
    (folder.path / "labels.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in judged))
    found = read(folder.path)
    assert len(found.found) == 20 and {one.language for one in found.found} == {"en"}
    by_stratum = {one.stratum: one.weight for one in found.found}
    assert by_stratum["kept"] / by_stratum["low_quality"] == pytest.approx(4.0)
    assert sum(one.weight for one in found.found) == pytest.approx(20.0)
    assert found.left_out == {"the label has no text, and the corpus has none of what was judged": 1}
    with pytest.raises(InputError, match="give the folder of the corpus"):
        read(folder.path / "labels.jsonl")


def written(path, lines):
    path.write_bytes(b"".join(orjson.dumps({"url": line["url"], "text": line["text"]}) + b"\n" for line in lines))
    return path


def test_twenty_examples_among_a_background_of_any_texts_make_a_score_of_relevance(tmp_path):
    """The background holds the examples themselves, and others of their kind that nobody has named."""
    examples = [line_of(True, number) for number in range(20)]
    others = [line_of(False, number) for number in range(200)]
    background = written(tmp_path / "all.jsonl", examples + others + [line_of(True, 100 + n) for n in range(10)])
    told = ["--keep", written(tmp_path / "some.jsonl", examples), "--background", background, "--out", tmp_path]
    answer = answer_of(WORK, "rain", *told)
    assert not answer.problems
    assert answer.facts["texts"] == 230 and answer.facts["base_rate"] == 20 / 230
    assert answer.facts["precision_of_first_20"] >= 0.5
    assert any("of the first twenty are examples, 8.7% of all" in line for line in answer.lines)
    model = open_classifier(answer.facts["file"])
    assert model.score(text_of(True, 900)) > 0.5 > model.score(text_of(False, 900))
    assert model.stored.card["classifier"]["relevance"] and "background" in model.stored.card["what"]


def test_a_score_of_relevance_does_not_fall_with_the_size_of_the_background(tmp_path):
    found = []
    for many in (40, 400):
        examples = written(tmp_path / "some.jsonl", [line_of(True, number) for number in range(20)])
        background = written(tmp_path / "all.jsonl", [line_of(False, number) for number in range(many)])
        answer = answer_of(WORK, "rain", "--keep", examples, "--background", background, "--out", tmp_path)
        found.append(open_classifier(answer.facts["file"]).score(text_of(True, 900)))
    assert min(found) > 0.7


@pytest.mark.parametrize("more", [["--drop"], ["--labels"], []])
def test_a_background_stands_beside_examples_and_nothing_else(labels, tmp_path, more):
    texts = written(tmp_path / "all.jsonl", [line_of(False, number) for number in range(20)])
    told = ["--background", texts, *(["--keep", texts, *more, labels()] if more else [])]
    with pytest.raises(WrongCall, match=r"--background: expected --keep beside it"):
        answer_of(WORK, "rain", *told, "--out", tmp_path)
