"""The quick form of spaCy's entity recogniser finds what spaCy finds."""

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.quality.pii_set import passages
from crawler.stages.pii import quick_names, quick_vectors
from crawler.stages.pii.names import installed_name, pipeline
from crawler.stages.pii.quick_names import PlainReader, QuickReader, reader

MODELS = [
    pytest.param(model, marks=pytest.mark.skipif(not installed_name(model), reason=f"{model} is missing"))
    for model in ("en_core_web_sm", "fr_core_news_sm")
]
needs_english = pytest.mark.skipif(not installed_name("en_core_web_sm"), reason="en_core_web_sm is missing")
PARTS = [
    *("Jane Doe", "Dr. van der Berg", "O'Reilly’s", "the Dutch", "Catholic", "Acme Inc.", "Paris", "María-José Ñúñez"),
    *(
        "earns",
        "and",
        "of",
        "to",
        "on 3 May 2021",
        "jane@doe.com",
        "(555) 010-9999",
        "10%",
        "[PERSON_2]",
        "€ 5",
        "cannot",
    ),
    *("  ", "\t", "\n", "\u00a0", "\u200b", "\u2028", "\ufeff", ". ", ", ", '"', "(", "--", "/", "_" * 80, "a" * 300),
    *("草地の花", "เมือง", "Москва", "محمد علي", "👩‍👩‍👧", "é", "e\u0301", "İ", "ß", "Ⅷ", "\x00"),
]
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=4), min_size=1, max_size=30).map(" ".join)


@pytest.fixture(params=MODELS)
def nlp(request):
    return pipeline(request.param)


def test_the_installed_release_and_its_models_are_those_that_are_known(nlp):
    assert type(reader(nlp)) is QuickReader


@pytest.mark.parametrize("set_", ["persons", "context", "known", "contact"])
def test_the_labelled_passages_have_the_entities_that_spacy_finds(nlp, set_):
    texts = [case.text for case in passages(set_)]
    found = list(reader(nlp).read(texts))
    assert found == list(PlainReader(nlp).read(texts))
    assert sum(map(len, found)) > 20


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_odd_passages_have_the_entities_that_spacy_finds(texts):
    for model in ("en_core_web_sm", "fr_core_news_sm"):
        if installed_name(model):
            nlp = pipeline(model)
            assert list(reader(nlp).read(texts)) == list(PlainReader(nlp).read(texts))


def test_no_passages_have_no_entities(nlp):
    assert list(reader(nlp).read([])) == []


def test_passages_that_are_not_read_together_have_the_same_entities(nlp, monkeypatch):
    texts = [case.text for case in passages("persons")]
    together = list(reader(nlp).read(texts))
    monkeypatch.setattr(quick_names, "_AT_ONCE", 200)
    assert len(list(quick_names._batches(texts))) > 5
    assert list(reader(nlp).read(texts)) == together


def test_spacy_itself_reads_a_passage_in_which_two_moves_are_as_good_as_equal(nlp, monkeypatch):
    texts = [case.text for case in passages("persons")]
    expected, asked = list(PlainReader(nlp).read(texts)), []
    monkeypatch.setattr(PlainReader, "read", lambda _, some: asked.extend(some) or iter([[] for _ in some]))
    for bound in (1e-3, 1.0, 1e9):
        monkeypatch.setattr(quick_names, "_AS_GOOD_AS_EQUAL", bound)
        asked.clear()
        found = list(QuickReader(nlp).read(texts))
        assert [
            one if text in asked else two for text, one, two in zip(texts, expected, found, strict=True)
        ] == expected
        assert len(asked) / len(texts) <= 0.1 or bound > 1e-3
    assert asked == texts


def test_the_scores_are_those_of_spacy_but_for_the_order_of_the_sum(nlp):
    quick = QuickReader(nlp)
    texts = [case.text for case in passages("persons")]
    docs = [nlp.make_doc(text) for text in texts]
    ner = nlp.get_pipe("ner")
    theirs = ner.model.predict(docs).predict(ner.moves.init_batch(docs))
    vectors = quick._vectors.of(docs)
    firsts = np.cumsum([0, *map(len, docs)])[:-1]
    hidden = quick.squeezed(vectors[firsts] @ quick._parts[0].T + quick._bias_outside)
    ours = hidden @ quick._weights_outside.T + quick._biases_outside
    names = [ner.moves.get_class_name(number) for number in range(ner.moves.n_moves)]
    same = [names.index(kind if kind == "O" else f"{kind}-{label}") for kind, label in quick._outside]
    assert np.abs(ours - theirs[:, same]).max() < quick_names._AS_GOOD_AS_EQUAL / 100


def test_the_vectors_of_tokens_are_those_of_spacy_but_for_the_order_of_the_sum(nlp):
    model = nlp.get_pipe("ner").model.get_ref("tok2vec")
    quick = quick_vectors.vectors_of(model)
    assert type(quick) is quick_vectors.QuickVectors
    texts = [*(case.text for case in passages("persons")), *PARTS, " ".join(PARTS * 5), "", "x"]
    for some in (texts, texts[:1], [" ".join(texts)], ["", "x", ""]):
        docs = [nlp.make_doc(text) for text in some]
        ours, theirs = quick.of(docs), model.predict(docs)
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() < 1e-4


def test_the_vectors_of_a_passage_do_not_hang_on_its_neighbours(nlp):
    quick = quick_vectors.vectors_of(nlp.get_pipe("ner").model.get_ref("tok2vec"))
    docs = [nlp.make_doc(text) for text in ("Jane Doe", "x", "the Dutch of Paris", "Dr. van der Berg earns 10%")]
    assert np.abs(quick.of(docs) - np.concatenate([quick.of([doc]) for doc in docs])).max() < 1e-4


@needs_english
@pytest.mark.parametrize(
    ("layer", "attribute", "value"),
    [("expand_window", "window_size", 2), ("hashembed", "column", 7), ("with_", "pad", 1)],
)
def test_vectors_that_are_made_in_another_way_are_asked_for(layer, attribute, value):
    nlp = spacy.load(installed_name("en_core_web_sm"), exclude=["tok2vec", "parser", "tagger", "attribute_ruler"])
    model = nlp.get_pipe("ner").model.get_ref("tok2vec")
    assert type(quick_vectors.vectors_of(model)) is quick_vectors.QuickVectors
    for found in model.walk():
        if found.name.startswith(layer):
            found.attrs[attribute] = value
    assert type(quick_vectors.vectors_of(model)) is quick_vectors.Vectors
    assert type(quick_vectors.vectors_of(model.layers[0])) is quick_vectors.Vectors


@needs_english
def test_another_release_is_asked_as_it_is(monkeypatch):
    nlp = pipeline("en_core_web_sm")
    monkeypatch.setattr(quick_names, "RELEASE", "0.0.")
    assert type(reader.__wrapped__(nlp)) is PlainReader


@needs_english
def test_a_pipeline_that_is_built_in_another_way_is_asked_as_it_is():
    nlp = spacy.load(installed_name("en_core_web_sm"), exclude=["tok2vec", "parser", "tagger", "attribute_ruler"])
    assert type(reader(nlp)) is PlainReader  # has a lemmatizer
    nlp.remove_pipe("lemmatizer")
    assert type(reader.__wrapped__(nlp)) is QuickReader
    nlp.get_pipe("ner").cfg["beam_width"] = 4
    assert type(reader.__wrapped__(nlp)) is PlainReader
    assert type(reader(spacy.blank("en"))) is PlainReader
