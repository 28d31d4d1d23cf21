"""Perplexity: the estimate is the published one, ARPA goes out and comes in, and damage is a sentence."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict

import numpy as np
import orjson
import pytest

from crawler.classify import arpa
from crawler.classify.kneser_ney import _discounts, sentences, train
from crawler.document import Document
from crawler.operations.annotate import WORK as ANNOTATE
from crawler.operations.classify_perplexity import WORK
from crawler.operations.classify_train import WORK as TRAIN
from crawler.problems import InputError
from crawler.storage.files.records import record_of
from tests.classify.conftest import SAID, SOLD, text_of
from tests.support.corpus_folder import Folder
from tests.support.operations import answer_of

TEXTS = [text_of(number % 3 > 0, number) for number in range(40)]


def by_definition(order: int):  # noqa: C901  # the formula as it is printed
    """Modified Kneser-Ney as Chen and Goodman write it, one n-gram after the other."""
    lines = [["<s>", *said, "</s>"] for text in TEXTS for said in sentences(text, "words")]
    raw = [Counter[tuple[str, ...]]() for _ in range(order + 1)]
    for line in lines:
        for n in range(1, order + 1):
            raw[n].update(tuple(line[i : i + n]) for i in range(len(line) - n + 1))
    counts = [Counter[tuple[str, ...]](), *(Counter[tuple[str, ...]]() for _ in range(order))]
    counts[order] = raw[order]
    for n in range(1, order):
        for gram in raw[n + 1]:
            counts[n][gram[1:]] += 1
        counts[n].update({gram: count - counts[n][gram] for gram, count in raw[n].items() if gram[0] == "<s>"})
    counts[1][("<s>",)] = 0
    vocabulary = {word for line in lines for word in line} | {"<unk>"}
    discount = [()] + [(0.0, *_discounts(np.array(list(counts[n].values())))) for n in range(1, order + 1)]
    following = [defaultdict(list) for _ in range(order + 1)]
    for n in range(1, order + 1):
        for gram, count in counts[n].items():
            if count:
                following[n][gram[:-1]].append(count)

    def chance(gram: tuple[str, ...]) -> float:
        n = len(gram)
        if n == 0:
            return 1 / (len(vocabulary) - 1)
        found = following[n].get(gram[:-1], [])
        if not found:
            return chance(gram[1:])
        total = sum(found)
        given = sum(discount[n][min(count, 3)] for count in found) / total
        count = counts[n][gram]
        return (count - discount[n][min(count, 3)]) / total + given * chance(gram[1:])

    return raw, chance


@pytest.mark.parametrize("order", [2, 3, 4])
def test_every_n_gram_has_the_probability_of_the_published_definition(order):
    model, (raw, chance) = train(TEXTS, order, least=1), by_definition(order)
    size, names, seen = len(model.words), list(model.words), 0
    for n, grams in enumerate(model.orders, 1):
        if n > 1:
            names = [f"{names[key // size]} {model.words[key % size]}" for key in grams.keys.tolist()]
        for name, logp in zip(names, grams.logp.tolist(), strict=True):
            gram = tuple(name.split(" "))
            if gram == ("<s>",):
                continue
            assert logp == pytest.approx(math.log10(chance(gram)), abs=1e-9), gram
            seen += gram != ("<unk>",)
    assert seen == sum(len(raw[n]) for n in range(1, order + 1)) - 1


def test_a_text_scores_as_the_definition_says_with_unknown_words_and_contexts():
    model, (_, chance) = train(TEXTS, 3, least=1), by_definition(3)
    for text in ("the rain fell on cart price", "zebra the zebra", "sale sale sale\nthe the"):
        wanted = 0.0
        for said in sentences(text, "words"):
            line = ["<s>", *(word if word in model.words else "<unk>" for word in said), "</s>"]
            wanted += sum(math.log10(chance(tuple(line[max(0, at - 2) : at + 1]))) for at in range(1, len(line)))
        assert model.score(text).logp == pytest.approx(wanted, abs=1e-6)
    assert model.score("zebra the").unknown == 1
    assert model.score("").units == 0 and model.score("").perplexity == math.inf


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_what_is_written_as_arpa_is_read_as_the_same_model(tmp_path, unit):
    model, path = train(TEXTS, 3, unit), tmp_path / "model.arpa"
    arpa.write(path, model)
    again = arpa.read(path)
    assert again.unit == unit and set(again.words) == set(model.words)
    for text in (*TEXTS[:3], "unknown zebra", ""):
        assert again.score(text).logp == pytest.approx(model.score(text).logp, abs=1e-4)
    arpa.write(tmp_path / "again.arpa", again)
    assert (tmp_path / "again.arpa").read_bytes() == path.read_bytes()


def test_good_text_is_likelier_under_the_good_model_than_under_the_bad_one():
    good, bad = train([text_of(True, n) for n in range(40)]), train([text_of(False, n) for n in range(40)])
    rnd = random.Random(5)
    for words, sign in ((SAID, 1), (SOLD, -1)):
        text = " ".join(rnd.choice(words) for _ in range(60))
        assert sign * (good.score(text).logp - bad.score(text).logp) > 0


DAMAGES = {
    "empty": lambda _: b"",
    "bytes": lambda _: b"\xff\xfe\x00" * 50,
    "another text": lambda _: b"once upon a time\n",
    "cut in the middle": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data.replace(b"\\end\\", b""),
    "counts of a billion": lambda data: data.replace(b"ngram 2=", b"ngram 2=9999999999", 1),
    "a count too small": lambda data: data.replace(b"\nngram 1=", b"\nngram 1=1\nngram x=", 1),
    "no number": lambda data: data.replace(b"\n-", b"\nnan", 1),
    "a word that is not there": lambda data: data.replace(b"\tthe rain", b"\tthe zebra", 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_arpa_file_is_one_sentence(tmp_path, damage):
    path = tmp_path / "model.arpa"
    arpa.write(path, train(TEXTS, 3))
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.raises(InputError) as caught:
        arpa.read(path)
    [sentence] = caught.value.problems
    assert sentence.startswith(f"{path}: ") and "\n" not in sentence


def test_discounts_are_those_of_the_paper_and_fixed_ones_where_counts_are_too_few():
    times = np.array([1] * 40 + [2] * 15 + [3] * 8 + [4] * 5)
    y = 40 / 70
    assert _discounts(times) == pytest.approx((1 - 2 * y * 15 / 40, 2 - 3 * y * 8 / 15, 3 - 4 * y * 5 / 8))
    assert _discounts(np.array([1, 1, 2])) == (0.5, 1.0, 1.5)


def test_a_corpus_is_parted_into_thirds_by_its_own_perplexities_and_its_rows_can_be_annotated(tmp_path):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number in range(33):
        url, text = f"https://e{number}.example/", text_of(number < 20, number)
        language = "fr" if number in (5, 6) else "en"
        corpus.keep(
            record_of(Document(url, canonical_url=url, doc_id=f"sha256:{number}", text=text, language=language))
        )
    corpus.close()
    for name, good in (("keep", True), ("drop", False)):
        lines = [{"url": f"https://t{n}.example/", "text": text_of(good, n), "language": "en"} for n in range(100, 140)]
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    texts = ("--keep", tmp_path / "keep.jsonl", "--drop", tmp_path / "drop.jsonl", "--out", tmp_path)
    made = answer_of(TRAIN, "prose", "--perplexity", *texts)
    assert made.facts["file"] == str(tmp_path / "prose.arpa")
    models = (made.facts["file"], folder.path, "--bad", tmp_path / "prose.bad.arpa")
    said = answer_of(WORK, *models, "--language", "en", "--out", tmp_path / "rows.jsonl")
    assert said.facts["rows"] == 31 and said.facts["left_out"] == {"in fr": 2}
    assert all(10 <= count <= 11 for count in said.facts["thirds"].values())
    rows = [orjson.loads(line) for line in (tmp_path / "rows.jsonl").read_bytes().splitlines()]
    for row in rows:
        good = int(row["doc_id"].removeprefix("sha256:")) < 20
        assert (row["good_over_bad"] > 0) == good
        assert good or row["third"] != "head"
    noted = answer_of(ANNOTATE, folder.path, "--name", "perplexity", "--file", tmp_path / "rows.jsonl")
    assert noted.facts["rows"] == 31 and not noted.problems
