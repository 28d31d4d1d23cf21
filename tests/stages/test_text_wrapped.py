"""Wrapped paragraphs become one line each; verse, listings, tables and addresses keep theirs."""

from __future__ import annotations

import textwrap

import pytest

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain
from crawler.stages.text.wrapped import unwrapped

PROSE = (
    "The harbour was built in three stages, the last of which was finished only after the war had ended and the timber "
    "that the masons had asked for was at last brought up the river. Nobody remembers who drew the plans, but the "
    "accounts of the guild name a carpenter, two smiths and a widow who sold the stone at half the usual price."
)
MORE = (
    "In later years the quay was used for salt alone, because the larger ships could no longer pass the bar, and the "
    "customs house stood empty until a school was opened in its upper rooms with eleven children and one teacher."
)


def filled(text: str, width: int = 72, first: str = "", rest: str = "") -> str:
    """The text as an editor fills it."""
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest)


def test_a_paragraph_wrapped_at_72_columns_becomes_one_line() -> None:
    assert unwrapped(f"{filled(PROSE)}\n\n{filled(MORE)}") == f"{PROSE}\n\n{MORE}"


WRITTEN = {
    "hi": "चक्की के मालिक ने पड़ोसियों को बताया कि नदी जमने के बाद से पहिया रुका हुआ है और वह वसंत तक प्रतीक्षा करेगा।",
    "ta": "ஆலை உரிமையாளர் அண்டை வீட்டாரிடம் நதி உறைந்ததிலிருந்து சக்கரம் நின்றுவிட்டது என்று கூறினார்.",
    "ar": "أخبر صاحب الطاحونة جيرانه أن العجلة توقفت منذ أن تجمد النهر وأنه سينتظر حتى الربيع قبل أن يبدأ من جديد.",
    "ru": "Мельник рассказал соседям, что колесо стоит с тех пор, как замёрзла река, и что он подождёт до весны.",
}


@pytest.mark.parametrize("language", WRITTEN)
def test_a_paragraph_is_one_whose_letters_are_marks_in_part(language: str) -> None:
    said = " ".join([WRITTEN[language]] * 4)
    assert unwrapped(f"{filled(said)}\n\n{filled(said)}") == f"{said}\n\n{said}"


def test_indented_and_listed_paragraphs_keep_their_first_indentation() -> None:
    listed = filled(MORE, first=" - ", rest="   ")
    quoted = filled(PROSE, first="    ", rest="    ")
    assert unwrapped(f"{listed}\n{quoted}\n{filled(MORE, first='   ')}") == f" - {MORE}\n    {PROSE}\n   {MORE}"


def test_a_quoted_paragraph_keeps_one_sign_of_quotation() -> None:
    mail = f"{filled(PROSE, 70, '> ', '> ')}\n>\n{filled(MORE, 66, '> > ', '> > ')}\n\n{filled(MORE)}"
    assert unwrapped(mail) == f"> {PROSE}\n>\n> > {MORE}\n\n{MORE}"


def test_lines_that_a_person_has_broken_near_the_width_are_joined() -> None:
    by_hand = (
        "If your new filter supports it, this provides a test by which you\n"
        "can verify that the filter is installed correctly and is finding incoming\n"
        "spam. You can send yourself a test mail containing the following string of\n"
        "characters, in upper case and without any line breaks:"
    )
    assert unwrapped(by_hand) == by_hand.replace("\n", " ")


def test_a_line_under_a_title_without_an_empty_line_between_is_joined_with_its_paragraph_alone() -> None:
    text = f"THE HARBOUR\n{filled(PROSE)}\nTHE QUAY\n{filled(MORE)}"
    assert unwrapped(text) == f"THE HARBOUR\n{PROSE}\nTHE QUAY\n{MORE}"


@pytest.mark.parametrize(
    "kept",
    [
        "April is the cruellest month, breeding\nLilacs out of the dead land, mixing\nMemory and desire, stirring\n"
        "Dull roots with spring rain.",
        "    def total(rows):\n        return sum(row.price * row.number\n                   for row in rows)",
        "Name            Age   Town\nAnna Schmidt     41   Kiel\nBo Larsen        38   Aarhus",
        "-- \nAnna Schmidt\nHarbour Street 4\n24103 Kiel",
        "From: Anna Schmidt, who writes from the office of the harbour master\nSubject: the accounts of the guild",
        "| name | what it does with the text of a page once it was read |\n| other | something else |",
    ],
)
def test_verse_code_tables_signatures_and_fields_keep_their_lines(kept: str) -> None:
    text = f"{filled(PROSE)}\n\n{kept}\n\n{filled(MORE)}"
    assert unwrapped(text) == f"{PROSE}\n\n{kept}\n\n{MORE}"


def test_a_text_whose_lines_are_no_wrapped_ones_stays_as_it_is() -> None:
    poem = "\n\n".join(
        "The woods are lovely and the road is long,\nand we have miles to go before we sleep,\n"
        "a bird is singing somewhere out of sight,\nand nobody knows what it means to say"
        for _ in range(9)
    )
    assert unwrapped(poem) == poem


def test_the_comments_of_a_program_keep_their_lines() -> None:
    comment = filled(PROSE, 72, rest="    ")
    body = "    b = a() + 1\n    c = b.d()\n    e[c] = b\n    f = y()\n    g = x\n"
    program = "".join(f'def name_{n}(a):\n    """{comment}"""\n{body}' for n in range(4))
    assert unwrapped(program) == program


def test_scripts_without_spaces_are_joined_without_one() -> None:
    text = (
        "計算機科学における文字列の正規化は、同じ意味を持つ文字列を同じ形に揃える処理であり、検索や重複の除去に用いられる。"
        * 3
    )
    lines = "\n".join(text[at : at + 36] for at in range(0, len(text), 36))
    assert unwrapped(lines) == text


def test_a_hyphen_at_a_line_end_stays_where_the_text_divides_no_words_and_goes_where_it_does() -> None:
    text = PROSE.replace("carpenter", "well-known carpenter")
    ended = next(one for size in range(45, 110) if "well-\n" in (one := filled(text, size)))
    assert unwrapped(ended) == text
    divided = "\n\n".join(
        "The commission of the harbour had been asked to give an infor-\nmation about the price of all the stone "
        "that was brought up the ri-\nver in the years before the war, and it gave one."
        for _ in range(4)
    )
    assert "information about" in unwrapped(divided)
    assert "river in" in unwrapped(divided)


def test_any_number_of_short_lines_stays_as_it_is() -> None:
    lines = "ab cd ef\n" * 200_000
    assert unwrapped(lines) == lines


@pytest.mark.parametrize("kind", ["text/plain", "message/rfc822"])
def test_a_text_and_a_mail_reach_the_record_by_paragraphs(kind: str) -> None:
    head = "From: a@b.example\nSubject: s\nMessage-ID: <1@b.example>\n\n" if kind.startswith("message") else ""
    doc = Document("https://h.example/a", html=f"{head}{filled(PROSE)}\n\n{filled(MORE)}\n".encode(), content_type=kind)
    Chain(from_mapping({}), ("parse", "optout", "extraction")).run(doc)
    assert doc.text == f"{PROSE}\n\n{MORE}"
    assert [doc.text[start:end] for start, end, _ in doc.parts] == [PROSE, MORE]
