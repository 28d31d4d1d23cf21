"""A name known is a name gone: wherever it stands in the record, in every form, and not where it is something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.pii.known import Known, fold
from crawler.stages.pii.page import Hit
from crawler.stages.pii.redact import Placeholders, redact, resolve
from crawler.stages.pii.stage import PiiStage, check_models

needs_english = pytest.mark.skipif(bool(check_models(from_mapping({}).pii)), reason="the English model is missing")


def spread(known, text, entity="PERSON"):
    found = Known([(known, Hit(0, len(known), entity, known.lower()))])
    return redact(text, resolve(found.among(text)), Placeholders())[0]


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("Tom Baker", ["Tom Baker", "TOM BAKER", "tom baker", "T. Baker", "Baker, Tom", "Tom J. Baker", "tom-baker"]),
        ("Jan Novák", ["Jana Nováka", "Janu Novákovi", "Janem Novákem", "JAN NOVAK", "J. Novák", "Novákovi"]),
        ("Anna Kowalska", ["Anny Kowalskiej", "Annę Kowalską", "Kowalską"]),
        ("Jürgen Müller", ["Jürgen Müllers", "Juergen Mueller", "Jurgen Muller", "Müllers"]),
        ("Juergen Mueller", ["Jürgen Müller", "J. Müller"]),
        ("Matti Virtanen", ["Matti Virtasen", "Virtaselle", "M. Virtanen"]),
        ("Иван Петров", ["Ивана Петрова", "Петрову", "И. Петров", "ИВАН ПЕТРОВ"]),
        ("T. Baker", ["Tom Baker", "T Baker", "Tom Baker"]),
        ("Sean O'Brien", ["S. O’Brien", "SEAN O'BRIEN"]),
        ("Pieter van der Berg", ["P. van der Berg", "Pieter van der Berg"]),
    ],
)
def test_a_name_is_gone_in_every_form(name, forms):
    for form in forms:
        assert spread(name, f"and {form} came") == "and [PERSON] came", form


@pytest.mark.parametrize("text", ["Baker's pay rose.", "As Mr Baker said.", "When Baker came.", "Then Baker left."])
def test_the_surname_alone_is_the_persons(text):
    assert "Baker" not in spread("Tom Baker", text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Tom Baker", "The baker on Baker Street bakes."),
        ("Tom Baker", "Lucy Baker sang."),
        ("Tom Baker", "Baker College opened."),
        ("George Washington", "He lived in Washington for years."),
        ("Neil Young", "Young people are young for a while."),
        ("Lisa May", "It rained in May."),
        ("Jürgen Müller", "Korn mahlt der Müller."),
        ("Tom Baker", "The Bakerloo line and bakers."),
        ("Tom Baker", "Tom went home."),
        ("Tom Baker", "Tom saw Lucy Baker."),
    ],
)
def test_a_word_a_place_and_another_person_stay(name, text):
    assert spread(name, text) == text


def test_the_forms_of_one_person_share_a_placeholder_and_another_has_his_own():
    text = "Tom Baker, Mr Baker, Eva Lang and E. Lang"
    known = Known([("Tom Baker", Hit(0, 9, "PERSON", "tom baker")), ("Eva Lang", Hit(0, 8, "PERSON", "eva lang"))])
    redacted, _ = redact(text, resolve(known.among(text)), Placeholders())
    assert redacted == "[PERSON], Mr [PERSON], [PERSON_2] and [PERSON_2]"


def test_a_number_that_was_told_once_is_gone_in_another_writing():
    assert spread("020 7946 0018", "Order 02079460018 now", "PHONE_NUMBER") == "Order [PHONE_NUMBER] now"
    assert spread("020 7946 0018", "Order 020794600189 now", "PHONE_NUMBER") == "Order 020794600189 now"


@needs_english
def test_what_one_field_shows_goes_in_text_title_description_and_author():
    text = (
        "Tom Baker earns 84,000 dollars and was diagnosed with cancer.\n"
        + "The meadow is cut twice a year. " * 30
        + "\nBefore that Tom Baker taught at a school. Baker's pupils liked him."
    )
    doc = Document(
        url="http://a.example/", text=text, language="en", title="The life of Tom Baker", description="On T. Baker",
        author="Tom Baker",
    )  # fmt: skip
    PiiStage(from_mapping({}).pii)(doc)
    assert not [field for field in (doc.text, doc.title, doc.description, doc.author) if "Baker" in field]
    assert doc.text.count("[PERSON]") == 3
    assert all(doc.text[start:end] == "[PERSON]" for start, end, _ in doc.pii_spans)


@given(st.text(max_size=200))
def test_folding_keeps_every_character_at_its_place(text):
    assert len(fold(text)) == len(text)


@given(st.text(alphabet="Tom Bker.'-’,\n", max_size=80))
def test_what_is_found_lies_in_the_text(text):
    known = Known([("Tom Baker", Hit(0, 9, "PERSON", "tom baker"))])
    assert all(0 <= hit.start < hit.end <= len(text) for hit in known.among(text))


@given(
    st.lists(
        st.sampled_from(["Tom Baker came", "and Baker left", "bakers bake", "T. Baker", "The house", ""]), max_size=9
    )
)
def test_a_long_text_that_is_read_in_lines_loses_the_names_that_it_loses_at_once(lines):
    text = "\n".join(lines)
    known = Known([("Tom Baker", Hit(0, 9, "PERSON", "tom baker"))])
    expected = list(known.among(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.stages.pii.known.AT_ONCE", 8)
        assert list(known.among(text)) == expected
