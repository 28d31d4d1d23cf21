"""Officials in office, figures of fiction, casts and what is no name stay; a private person's name goes."""

import pytest

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.pii.page import Hit
from crawler.stages.pii.public_life import PublicLife
from crawler.stages.pii.stage import PiiStage, check_models

needs_english = pytest.mark.skipif(bool(check_models(from_mapping({}).pii)), reason="the English model is missing")


def keeps(text, name, *, is_told_of=True):
    start = text.index(name)
    return PublicLife(text).keeps(Hit(start, start + len(name), "PERSON", name.lower()), is_told_of=is_told_of)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("President Anna Bergstrom was diagnosed with cancer.", "Anna Bergstrom"),
        ("Her pension, said Sen. Anna Bergstrom, is small.", "Anna Bergstrom"),
        ("Anna Bergstrom (D-Ohio) was fined.", "Anna Bergstrom"),
        ("Anna Bergstrom, the mayor of Leeds, and her husband left.", "Anna Bergstrom"),
        ("In the novel Anna Bergstrom is sentenced to death.", "Anna Bergstrom"),
        ("A drama about a woman (Anna Bergstrom) and her daughter.", "Anna Bergstrom"),
        ("Oscar winner Anna Bergstrom is pregnant.", "Anna Bergstrom"),
        ("The multi-Anna Bergstrom winning composer married.", "Anna Bergstrom"),
        ("He won the Anna Bergstrom Prize for his work on cancer.", "Anna Bergstrom"),
        ('The wine "Dark Angel" cost nine dollars.', "Dark Angel"),
        ("Broken windows are seen when things are broken in Broken Arrow.", "Broken Arrow"),
    ],
)
def test_a_name_of_public_life_or_fiction_and_what_is_no_name_stays(text, name):
    assert keeps(text, name)


@pytest.mark.parametrize(
    "text",
    [
        "Anna Bergstrom earns 84,000 dollars and was diagnosed with cancer.",
        "Nurse Anna Bergstrom was fined.",
        "He will leave. Will Bergstrom and Anna Bergstrom were fined; write to anna@example.net.",
    ],
)
def test_a_private_persons_name_goes(text):
    assert not keeps(text, "Anna Bergstrom")


def test_beside_an_identifier_a_film_makes_nobody_public():
    assert not keeps("Anna Bergstrom, film club, anna@fernbank.net", "Anna Bergstrom", is_told_of=False)


@needs_english
def test_the_plot_of_a_novel_stays_whole_and_its_like_in_life_does_not():
    plot = "Laura Bennett suffers from depression and was sentenced to prison for theft. "
    filler = "The meadow is cut twice a year. " * 20
    about = "The novel is a thriller. The protagonist has a sister. The film has another plot, and the film is short. "
    kept = Document(url="http://a.example/", language="en", text=f"{about}\n{plot}\n{filler}")
    gone = Document(url="http://a.example/", language="en", text=f"{filler}\n{plot}\n{filler}")
    stage = PiiStage(from_mapping({}).pii)
    stage(kept), stage(gone)
    assert "Laura Bennett" in kept.text
    assert "Bennett" not in gone.text
