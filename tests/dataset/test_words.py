"""A name in a text: which forms are found, which are in doubt, and which are another's. Own sentences."""

from __future__ import annotations

import pytest

from crawler.dataset.words import AROUND, Words, plain

SURE, PERHAPS, NOT = True, False, None


def found(name: str, text: str) -> bool | None:
    """True where the name stands there for sure, False where perhaps, None where not."""
    passages = Words(name).passages(plain(text))
    return any(each.sure for each in passages) if passages else None


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Ada Quillfeather", "So ADA  quill\u00adfeather spoke.", SURE),
        ("Ada Quillfeather", "Ada Quillfeather's mill, Ada Quillfeathers Haus", SURE),
        ("Ada Quillfeather", "Index: Quillfeather, Ada, 12", SURE),
        ("Ada Quillfeather", "QUILLFEATHER Ada", SURE),
        ("Ada Quillfeather", "A. Quillfeather wrote it", PERHAPS),
        ("Ada Quillfeather", "Quillfeather, A. (ed.)", PERHAPS),
        ("Ada Quillfeather", "Ada Mary Quillfeather wrote it", PERHAPS),
        ("Ada Quillfeather", "Anna Quillfeather wrote it", NOT),
        ("Ada Quillfeather", "B. Quillfeather wrote it", NOT),
        ("Ada Quillfeather", "Mrs Quillfeather wrote it", NOT),
        ("Ada Quillfeather", "Ada and Quillfeather", NOT),
        ("Ada Smith", "Nevada Smith", NOT),
        ("Ada Smith", "Ada Smithson", PERHAPS),
        ("José Peña", "Jose Pena", SURE),
        ("Jose Pena", "José Pen\u0303a", SURE),
        ("Jörg Müller", "Joerg Mueller", SURE),
        ("Joerg Mueller", "Jörg Müller", PERHAPS),
        ("Tomáš Novák", "s Tomášem Novákem", PERHAPS),
        ("Karel Novák", "s Karlem Novákem", NOT),  # the name changes inside
        ("Karel Novák", "o Karel Novákovi", SURE),
        ("Jan Kowalski", "Jana Kowalskiego", PERHAPS),
        ("Иван Петров", "об ИВАН ПЕТРОВЕ", SURE),
        ("Γιώργος Παπάς", "ΓΙΩΡΓΟΣ ΠΑΠΑΣ", SURE),
        ("Vincent van Gogh", "van Gogh, Vincent", SURE),
        ("Vincent van Gogh", "Gogh, Vincent van", SURE),
        ("Anne-Marie O’Neil", "anne marie o'neil", SURE),
        ("田中 太郎", "昨日、田中太郎さんは", SURE),
        ("田中太郎", "田中 太郎", SURE),
        ("דוד לוי", "ודוד לוי אמר", SURE),
        ("محمد علي", "قال مُحَمَّد علي", SURE),
        ("Ada Quillfeather", '{"by": "x\\nAda Quillfeather"}', SURE),
        ("ada@mill.example", "to ada@mill.example.", SURE),
        ("ada@mill.example", "to bada@mill.example.", NOT),
        ("Quillfeather", "Mrs Quillfeather wrote", SURE),
    ],
)
def test_a_name_is_found_for_sure_or_perhaps_or_not(name, text, expected):
    assert found(name, text) is expected


def test_a_passage_has_the_name_as_it_stands_there_with_what_is_around_it():
    text = f"{'before ' * 40}José  Peña{' after' * 40}"
    (passage,) = Words("jose pena").passages(plain(text))
    assert passage.name == "José Peña" and passage.sure
    assert len(passage.before) == len(passage.after) == AROUND
    assert passage.before.endswith("before ") and passage.after.startswith(" after")


def test_words_that_are_nothing_are_an_error():
    with pytest.raises(ValueError, match="expected words"):
        Words(" \u00ad")
