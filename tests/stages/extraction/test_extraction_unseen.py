"""Words in a line that no reader sees are not written out; the model still reads them."""

from __future__ import annotations

import pytest

from crawler.stages.extraction.learned.unseen import LEAST_CHARACTERS, MOST_VEILED, MOST_WORDS
from crawler.stages.extraction.learned.walk import Mark
from tests.stages.extraction.test_extraction_shown import text_of, walked

NINE = "one two three four five six seven eight nine"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("The harbour<span hidden> (edited)</span> is old.", "The harbour is old."),
        ('The harbour <span style="display: none">loading</span>is old.', "The harbour is old."),
        ("Answers <a href=/x style='color:red; Display:None'>Cancel</a>", "Answers"),
        ('Tags <a href=/a>tide</a><a href=/b style="visibility:hidden">moon</a>', "Tags tide"),
        (
            "so they say<sup>5</sup><span role=tooltip>In a letter that nobody has found</span>, and",
            "so they say5, and",
        ),
        ("now <span>EUR 17.19</span> <span aria-hidden=true>EUR17<sup>19</sup></span>", "now EUR 17.19"),
        ('<span aria-hidden="true">(108)</span><span>108 reviews</span>', "108 reviews"),
        ('for 12<span aria-hidden="true"> mo.</span><span> months</span>', "for 12 months"),
        ("<span hidden>New: <b>a</b> <i>b</i></span>Old", "Old"),
    ],
)
def test_what_nobody_sees_in_a_line_is_not_written_out(body: str, text: str) -> None:
    assert text_of(f"<p>{body}</p>") == text
    assert walked(f"<p>{body}</p>").texts != [text], "what the model reads has it"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Seen <span hidden=until-found>when searched for</span>", "Seen when searched for"),
        ("Three <span aria-hidden=true>stars</span>", "Three stars"),
        (f"A beginning <span style='display:none'>{NINE}</span>", f"A beginning {NINE}"),
        ("Step <span aria-hidden=true>1</span> of 21", "Step 1 of 21"),
        ("<span hidden>All that there is</span>", "All that there is"),
        ("<span style='display:inline'>Seen</span> <span role=note>and read</span>", "Seen and read"),
        ("<span aria-hidden=true>12 €</span> <span aria-hidden=true>12 €</span>", "12 € 12 €"),
        ("<span aria-hidden=false>Wind</span> Wind", "Wind Wind"),
    ],
)
def test_what_may_be_read_stays(body: str, text: str) -> None:
    assert text_of(f"<p>{body}</p>") == text


def test_a_click_opens_more_words_than_a_label_has() -> None:
    words = NINE.split()
    assert len(words) == MOST_WORDS + 1
    assert text_of(f"<p>Seen <span hidden>{' '.join(words[:-1])}</span></p>") == "Seen"


def test_whole_blocks_are_the_models_to_judge() -> None:
    page = walked("<p>Seen</p><div hidden><p>An answer</p></div><span hidden>tail<p>A tab</p>end</span><p>Last</p>")
    assert page.texts == ["Seen", "An answer", "tail", "A tab", "end", "Last"]
    assert page.shown == {}
    assert page.marks[page.holders[1]] & Mark.HIDDEN


def test_code_is_written_as_it_stands() -> None:
    assert text_of("<pre>x = <span hidden>1</span>2</pre>") == "x = 12"


def test_a_block_of_many_such_elements_is_left_as_it_is() -> None:
    one = f"<span aria-hidden=true>{'x' * LEAST_CHARACTERS}</span>"
    assert text_of(f"<p>{one * MOST_VEILED} {'x' * LEAST_CHARACTERS}</p>") == "x" * LEAST_CHARACTERS
    many = text_of(f"<p>{one * (MOST_VEILED + 1)} {'x' * LEAST_CHARACTERS}</p>")
    assert len(many) > LEAST_CHARACTERS * MOST_VEILED


def test_elements_apart_in_what_is_left_are_apart() -> None:
    assert text_of("<p><span>Wind</span><span hidden>x</span><span>Rain</span></p>") == "Wind Rain"
