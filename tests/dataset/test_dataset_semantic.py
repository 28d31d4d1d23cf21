"""Heavily edited copies: found by their words, one better text stays, nobody goes for a neighbour's neighbour."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from bench.quality.edited import edited
from bench.web.prose import prose
from crawler.dataset import semantic, tfidf
from crawler.dataset.annotate import Annotations
from crawler.dataset.rewrite import records_in
from crawler.dataset.semantic import _decide, _Document, find
from crawler.dataset.tfidf import Bar, Near, Vectors
from crawler.dataset.verify import verify
from crawler.operations.semantic import WORK
from crawler.problems import InputError
from crawler.stages.fingerprint import exact_id
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import Folder, document
from tests.support.operations import answer_of

NOW = 1.8e9
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 900)]
THAI = [chr(code) for code in range(0x0E01, 0x0E2F)]


def story(seed: object) -> str:
    """Prose with names of its own, as pages have them."""
    rnd = random.Random(f"names {seed}")
    names = ["".join(rnd.choice("bdfgklmnprst") + rnd.choice("aeiou") for _ in range(3)) for _ in range(60)]
    return "\n".join(
        f"{line} {rnd.choice(names)} {rnd.choice(names)}." for line in ". ".join(prose(seed, 500)).split(".")
    )


def unspaced(seed: object, letters: list[str], most: int) -> str:
    rnd = random.Random(f"unspaced {seed}")
    words = ["".join(rnd.choice(letters) for _ in range(rnd.randint(2, most))) for _ in range(400)]
    return "。".join("".join(rnd.choice(words) for _ in range(12)) for _ in range(40))


def corpus_of(path, texts: dict[str, str], **values: dict[str, object]) -> Folder:
    """URLs end in the name of the text; values: more of its record."""
    folder = Folder(path)
    corpus = folder.opened()
    for number, (name, text) in enumerate(texts.items()):
        url = f"https://{name}.example/{name}"
        made = document(number, url=url, canonical_url=url, text=text, doc_id=exact_id(text), **values.get(name, {}))
        corpus.keep(record_of(made))
    corpus.close()
    return folder


def place_of(folder: Folder) -> Place:
    return Place(str(folder.path))


def pairs(found: semantic.Semantic) -> set[tuple[str, str]]:
    return {(pair.kept.rpartition("/")[2], pair.copy.rpartition("/")[2]) for pair in found.pairs}


@pytest.fixture
def folder(tmp_path) -> Folder:
    """Twelve stories, and of two of them a thinned copy; that of `s3` is the better text by its score."""
    texts = {f"s{n}": story(n) for n in range(12)}
    texts |= {"c1": edited(texts["s1"], 0.4, random.Random(1)), "c3": edited(texts["s3"], 0.2, random.Random(3))}
    return corpus_of(tmp_path / "corpus", texts, c1={"quality_score": 0.5}, c3={"quality_score": 0.9})


def test_copies_are_found_and_the_better_text_is_named_first(folder):
    found = find(place_of(folder))
    assert (found.documents, found.copies, pairs(found)) == (14, 2, {("s1", "c1"), ("c3", "s3")})
    assert all(pair.goes and 0.65 <= pair.cosine < 1 for pair in found.pairs)


def test_they_go_into_a_version_without_them_and_say_for_whom(folder):
    place = place_of(folder)
    answer = answer_of(WORK, place.url, "--remove")
    assert answer.facts["rewritten"]["rejected"] == 2 and not answer.problems
    assert {record["url"].rpartition("/")[2] for record in records_in(place)} == {
        *(f"s{n}" for n in range(12)),
        "c3",
    } - {"s3"}
    gone = {record["url"].rpartition("/")[2]: record for record in records_in(place, ("rejected",))}
    assert {name: record["dup_of"][-2:] for name, record in gone.items()} == {"c1": "s1", "s3": "c3"}
    assert {(record["stage"], record["reason"], record.get("text")) for record in gone.values()} == {
        ("semantic", "edited_copy", None)
    }
    sound = verify(place)
    assert not (sound.damage or sound.surplus)
    again = answer_of(WORK, place.url, "--remove")
    assert again.facts["copies"] == 0 and again.facts["rewritten"] is None
    assert place.manifest()["version"] == 2


def test_annotations_say_it_beside_the_documents_and_change_none(folder):
    place = place_of(folder)
    answer = answer_of(WORK, place.url, "--annotate", "edited")
    assert answer.facts["annotated"] == 2
    rows = {row["canonical_url"][-2:]: row for row in Annotations(place).read("edited")}
    assert {name: row["of"][-2:] for name, row in rows.items()} == {"c1": "s1", "s3": "c3"}
    assert len(list(records_in(place))) == 14
    with pytest.raises(InputError, match="annotation called"):
        answer_of(WORK, place.url, "--annotate", "no name")


@pytest.mark.parametrize(
    "made", [lambda n: unspaced(n, HAN, 2), lambda n: unspaced(n, THAI, 6), story], ids=["Han", "Thai", "spaced"]
)
def test_any_script_has_copies_and_no_copy_where_there_is_none(made):
    texts = [made(n) for n in range(30)]
    both = [*texts, *(edited(text, 0.2, random.Random(n)) for n, text in enumerate(texts[:10]))]
    with Vectors() as vectors:
        for text in both:
            vectors.add(text)
        found = {(pair.first, pair.second) for pair in vectors.near(semantic.bars(semantic.COSINE))}
    assert found == {(n, 30 + n) for n in range(10)}


def test_what_is_near_does_not_depend_on_the_order_or_on_the_size_of_blocks(monkeypatch):
    texts = {n: story(n) for n in range(8)} | {8 + n: edited(story(n), 0.3, random.Random(n)) for n in range(4)}

    def near(order) -> dict[frozenset[int], float]:
        with Vectors() as vectors:
            for n in order:
                vectors.add(texts[n])
            bars = semantic.bars(semantic.COSINE)
            return {frozenset((order[p.first], order[p.second])): round(p.cosine, 9) for p in vectors.near(bars)}

    plain = near(list(texts))
    assert len(plain) == 4
    assert near(list(reversed(texts))) == plain
    monkeypatch.setattr(tfidf, "_AT_ONCE", 3)
    monkeypatch.setattr(tfidf, "_PAIRS_AT_ONCE", 1)
    assert near(list(texts)) == plain


def test_the_cosine_is_the_one_of_the_definition():
    import math

    texts = ["rain rain roof rain village road", "rain roof roof village road snow", "snow road lake", "lake bird"]
    df = {word: sum(word in text.split() for text in texts) for text in texts for word in text.split()}

    def vector(text: str) -> dict[str, float]:
        weights = {
            word: (1 + math.log(text.split().count(word))) * (math.log(5 / (1 + df[word])) + 1)
            for word in set(text.split())
            if df[word] >= 2
        }
        length = math.sqrt(sum(weight**2 for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()}

    one, two = vector(texts[0]), vector(texts[1])
    with Vectors() as vectors:
        for text in texts:
            vectors.add(text)
        [pair] = list(vectors.near([Bar(0.0, 0.0)]))
    assert (pair.first, pair.second) == (0, 1)
    assert pair.cosine == pytest.approx(sum(one[word] * two.get(word, 0.0) for word in one))


def test_texts_without_words_and_corpora_without_texts_have_no_copies(tmp_path):
    with Vectors() as vectors:
        assert list(vectors.near([Bar(0.0, 0.0)])) == []
        for text in ("", "…", "a", ""):
            vectors.add(text)
        assert list(vectors.near([Bar(0.0, 0.0)])) == [] and len(vectors) == 4
    found = find(place_of(corpus_of(tmp_path / "corpus", {"one": "a b c", "two": "…"})))
    assert (found.documents, found.copies) == (2, 0)


def decided(near: list[tuple[int, int, float]], ranks: str, most: int = 100) -> semantic.Semantic:
    """ranks: a letter for each document, the best first in the alphabet."""
    found = semantic.Semantic(0.8, most)
    documents = [_Document((letter,), letter, letter.encode(), (letter, "")) for letter in ranks]
    _decide(found, documents, [Near(*pair) for pair in near])
    return found


def test_nobody_goes_for_a_neighbour_of_a_neighbour():
    chain = decided([(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9)], "abcd")
    assert {copy.decode(): of for copy, (of, _) in chain.gone.items()} == {"b": "a", "d": "c"}
    assert [(pair.kept, pair.copy, pair.goes) for pair in chain.pairs] == [
        ("a", "b", True),
        ("b", "c", False),
        ("c", "d", True),
    ]


def test_for_one_text_go_so_many_and_the_nearest_first():
    star = [(0, 1, 0.81), (0, 2, 0.95), (0, 3, 0.9)]
    found = decided(star, "abcd", most=2)
    assert {copy.decode() for copy in found.gone} == {"c", "d"} and (found.copies, found.spared) == (2, 1)
    assert decided(star, "abcd").spared == 0


@pytest.mark.parametrize("ranks", ["".join(each) for each in permutations("abc")])
def test_the_best_text_stays_wherever_it_stands(ranks):
    found = decided([(0, 1, 0.9), (0, 2, 0.9), (1, 2, 0.9)], ranks)
    assert {copy.decode(): of for copy, (of, _) in found.gone.items()} == {"b": "a", "c": "a"}


def test_two_records_of_one_page_are_no_copies_of_each_other(tmp_path):
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number in range(2):
        made = document(number, url="https://a.example/", canonical_url="https://a.example/", text=story(1))
        corpus.keep(record_of(made) | {"doc_id": f"sha256:{number}"})
    corpus.close()
    assert find(place_of(folder)).pairs == []
