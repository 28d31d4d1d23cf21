"""A text that repeats an evaluation set is found wherever and however it repeats it; another text is not."""

from __future__ import annotations

import random
import unicodedata

import pytest

from crawler.document import Document, Drop, DropReason
from crawler.stages.contamination.stage import ContaminationStage
from tests.stages.contamination.conftest import page
from tests.support.syllables import prose

EXAMPLE = prose(40, seed=1)


def overlap(stage, text):
    [found] = stage.overlaps(text)
    return found


def test_without_evaluation_sets_nothing_is_dropped(stage):
    doc = page(EXAMPLE)
    assert stage()(doc) is doc


def test_a_repeated_example_is_dropped_with_the_sets_name_and_the_place(stage):
    before = prose(100, seed=2)
    verdict = stage([{"q": prose(20, 8)}, {"question": EXAMPLE}])(page(f"{before} {EXAMPLE} {prose(30, 3)}"))
    assert isinstance(verdict, Drop)
    assert (verdict.stage, verdict.reason) == ("contamination", DropReason.CONTAMINATED)
    start, end = len(before) + 1, len(before) + 1 + len(EXAMPLE)
    expected = f"set 'quiz': 28 n-grams; first passage: words 100-140, characters {start}-{end}, example 1"
    assert verdict.detail == expected


@pytest.mark.parametrize("words", [0, 1, 57, 5_000])
def test_a_passage_is_found_at_every_position_of_a_long_text(stage, words):
    found = overlap(stage([{"q": EXAMPLE}]), f"{prose(words, 4)} {EXAMPLE} {prose(5_000 - words, 5)}".strip())
    assert found.words == (words, words + 40)


def test_planted_passages_are_all_found_and_clean_texts_never(stage):
    chance = random.Random(6)
    planted = [{"question": prose(chance.randint(13, 60), seed)} for seed in range(1_000, 1_200)]
    judge = stage(planted)
    for number, record in enumerate(planted):
        words = prose(300, number).split()
        assert judge.overlaps(" ".join(words)) == []
        position = chance.randint(0, 300)
        words[position:position] = disguised(record["question"], chance).split()
        found = overlap(judge, " ".join(words))
        assert found.example == number and found.words[0] == position


def disguised(text: str, chance: random.Random) -> str:
    """The same words in other clothes: letter case, punctuation, accents, line breaks, invisible spaces."""
    words = []
    for word in text.split():
        cased = chance.choice([str.upper, str.title, str.lower])(word.replace("e", "é"))
        marked = chance.choice(["{}", "{},", "“{}”", "({})", "{}…", "{}:"]).format(cased)
        words.append(unicodedata.normalize(chance.choice(["NFC", "NFD"]), marked))
        words.append(chance.choice([" ", "\n", "\u00a0 ", "\t", " — "]))
    return "".join(words)


@pytest.mark.parametrize("word", ["Straße", "ısı", "İzmir", "Σίσυφος"])
def test_letters_that_change_with_their_case_are_found_in_either(stage, word):
    example = f"{prose(6, 1)} {word} {prose(6, 2)}"
    assert overlap(stage([{"q": example}]), example.upper()).grams == 1


def test_numbers_are_all_alike(stage):
    example = f"{prose(8, 1)} in 1984 there were 1,234.5 of {prose(8, 2)}"
    assert overlap(stage([{"q": example}]), example.replace("1984", "7").replace("1,234.5", "99"))


def test_a_changed_word_in_every_dozen_is_another_text(stage):
    words = EXAMPLE.split()
    words[6::12] = ["other"] * len(words[6::12])
    assert stage([{"q": EXAMPLE}]).overlaps(" ".join(words)) == []


def test_a_question_is_found_together_with_its_short_answers(stage):
    question, answers = prose(8, 1), [prose(3, 2), prose(3, 3)]
    judge = stage([{"question": question, "choices": answers}])
    assert overlap(
        judge, f"{prose(9, 7)} {question} A) {answers[0]} B) {answers[1]}".replace(" A)", "").replace(" B)", "")
    )
    assert judge.overlaps(f"{question} {prose(20, 9)}") == [], "eight words say nothing"


def test_template_phrases_of_many_examples_are_not_evidence(stage):
    template = prose(15, 1)
    records = [{"q": f"{template} {prose(20, 100 + n)}"} for n in range(11)]
    judge = stage(records)
    assert judge.overlaps(f"{prose(50, 2)} {template} {prose(50, 3)}") == []
    assert overlap(judge, records[4]["q"]).example == 4
    assert overlap(stage(records, DECONTAMINATION_MAX_EXAMPLES=11), template)


def test_one_context_of_many_questions_is_no_template(stage):
    context = prose(50, 1)
    judge = stage([{"context": context, "q": prose(12, 100 + n)} for n in range(30)])
    assert overlap(judge, context).grams == 38


WORDS = EXAMPLE.split()
CELLS = [" ".join(WORDS[at : at + 2]) for at in range(0, 40, 2)]
LAYOUTS = {
    "rows": "\n".join(" | ".join(CELLS[at : at + 4]) for at in range(0, 20, 4)),
    "Markdown table": f"| {' | '.join(CELLS[:10])} |\n|{' --- |' * 10}\n| {' | '.join(CELLS[10:])} |",
    "bars that touch": f"|{'|'.join(CELLS)}|",
    "list": "\n".join(f"- {cell}" for cell in CELLS),
    "headings": "\n\n".join(f"## {cell}" for cell in CELLS),
    "quote": "\n".join(f"> {cell}" for cell in CELLS),
    "list in a quote": "\n".join(f"> - {cell}" for cell in CELLS),
    "code": "\n".join(f"```\n{cell}\n```" for cell in CELLS),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_signs_of_our_own_layout_hide_no_passage_in_a_page_or_in_a_set(stage, layout):
    text = f"{prose(30, 2)}\n\n{layout}\n\n{prose(30, 3)}"
    for record, passage in ((EXAMPLE, text), (layout, f"{prose(30, 2)} {EXAMPLE}"), (layout, text)):
        found = overlap(stage([{"q": record}]), passage)
        assert found.grams == 28 and found.words == (30, 70)
        assert passage[slice(*found.characters)].split()[-1].strip("|") == WORDS[-1]


def test_seven_cells_that_many_tables_have_are_no_thirteen_words(stage):
    week = f"| {' | '.join(prose(7, 1).split())} |\n|{' --- |' * 7}\n"
    judge = stage([{"q": week + " ".join(prose(30, 2).split())}])
    assert judge.overlaps(week + prose(30, 3)) == []


def test_tables_and_repetition_are_not_evidence(stage):
    rows = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 yes no yes no yes no yes no yes no yes no yes no yes no"
    judge = stage([{"q": rows}, {"q": EXAMPLE}])
    assert judge.overlaps(rows) == []


def test_fewer_shared_passages_than_the_minimum_are_let_pass(stage):
    text = f"{prose(30, 2)} {' '.join(EXAMPLE.split()[:15])} {prose(30, 3)}"  # three n-grams
    assert isinstance(stage([{"q": EXAMPLE}], DECONTAMINATION_MIN_OVERLAP=3)(page(text)), Drop)
    assert isinstance(stage([{"q": EXAMPLE}], DECONTAMINATION_MIN_OVERLAP=4)(page(text)), Document)


def test_a_passage_said_twice_counts_once(stage):
    once = " ".join(EXAMPLE.split()[:13])
    assert overlap(stage([{"q": EXAMPLE}]), f"{once} {prose(20, 2)} {once}").grams == 1


@pytest.mark.parametrize(
    "example",
    [
        "图书馆在每天早上九点开门并且在晚上八点关门所以学生们可以在下课以后来这里安静地读书",
        "พระอาทิตย์ขึ้นทางทิศตะวันออกและตกทางทิศตะวันตกเสมอไม่ว่าเราจะอยู่ที่ไหนบนโลกใบนี้ก็ตามทุกวัน",
    ],
)
def test_scripts_without_spaces_are_compared_by_characters(stage, example):
    judge = stage([{"q": example}])
    assert overlap(judge, f"{example[::-1]}。{example}").grams >= 1
    assert judge.overlaps(example[::-1]) == []


def test_a_passage_of_one_script_is_found_in_a_page_of_another(stage):
    chinese = "图书馆在每天早上九点开门并且在晚上八点关门所以学生们可以在下课以后来这里安静地读书"
    judge = stage([{"q": EXAMPLE}, {"q": chinese}])
    assert overlap(judge, f"{chinese[::-1] * 20} {EXAMPLE} {chinese[::-1] * 20}").example == 0
    assert overlap(judge, f"{prose(300, 2)} {chinese} {prose(300, 3)}").example == 1


def test_one_letter_of_another_script_makes_no_short_passage_of_words_a_repetition(stage):
    judge = stage([{"q": f"中 ก {EXAMPLE}"}])
    few = " ".join(EXAMPLE.split()[:12])
    assert judge.overlaps(f"中 ก {prose(50, 2)} {few} {prose(50, 3)}") == []


def test_the_set_with_most_in_common_is_named_first(stage, tmp_path):
    for name, text in (("small", " ".join(EXAMPLE.split()[:14])), ("large", EXAMPLE)):
        (tmp_path / f"{name}.txt").write_text(text)
    made = stage(EVAL_SETS=f"{tmp_path}/small.txt,{tmp_path}/large.txt")
    assert made.overlaps(EXAMPLE)[0].set_name == "large"


def test_the_verdict_holds_no_text(stage):
    verdict = stage([{"q": EXAMPLE}])(page(EXAMPLE))
    assert not any(word in verdict.detail for word in EXAMPLE.split())


def test_an_empty_text_passes(stage):
    judge: ContaminationStage = stage([{"q": EXAMPLE}])
    assert isinstance(judge(page("")), Document)
