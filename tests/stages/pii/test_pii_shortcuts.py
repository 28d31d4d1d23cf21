"""What is told at once to be nowhere in a text is not found by the full search either."""

import re

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.quality.pii_prescan import OfflineEmailRecognizer
from bench.quality.pii_set import passages
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.pii import checks, names, phone_words, private_life, recognise, scan
from crawler.stages.pii.context_words import just_before, word_before
from crawler.stages.pii.ids import TRIGGERS
from crawler.stages.pii.needles import Needles
from crawler.stages.pii.outline import Outline
from crawler.stages.pii.page import Page, lower_keeping_offsets
from crawler.stages.pii.presidio import recogniser
from crawler.stages.pii.private_words import PRIVATE_WORDS
from crawler.stages.pii.scan import Candidate, plain_marks
from crawler.stages.pii.stage import PiiStage
from crawler.stages.text.words import counts, recount

WORDS = tuple(TRIGGERS)
EMAIL = OfflineEmailRecognizer()
ODD = [
    *" \n.-_(x7é٣İſ\u212a\u2028\x1c",
    "  ",
    "\u00a0",
    "[",
    "]",
    "dot",
    "testing",
    "1234567",
    "a1b2",
    "ABC123456",
    "“",
]


def text_of(*parts, max_size=8):
    return st.lists(st.sampled_from([*parts, *ODD]), max_size=max_size).map("".join)


def triggers_by_the_full_search(text):
    lower = lower_keeping_offsets(text)
    parts, done = [], 0
    for match in scan._CLUSTER.finditer(lower):
        start = max(done, match.start() - 120)
        parts.append((" " if start > done else "") + lower[start : match.end() + 40])
        done = min(len(lower), match.end() + 40)
    around, anywhere = "".join(parts), Candidate("", 0, len(lower))
    return {word for word in WORDS if word in around and recognise._is_word(lower, word, anywhere)}


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(text_of(*WORDS), st.booleans())
def test_a_trigger_beside_digits_that_the_full_search_finds_is_found(text, capitals):
    text = text.upper() if capitals else text
    expected = triggers_by_the_full_search(text)
    found = set(scan.triggers_near_digits(text, Outline(text), WORDS))
    assert expected <= found
    assert {word for word in found if len(word) > 8} == {word for word in expected if len(word) > 8}


@pytest.mark.parametrize("mark", ["", "“", "(", "\n", "é", "x", "_", "\u0663", "1", "«"])
def test_each_trigger_is_found_behind_a_mark_and_before_a_digit(mark):
    for word in WORDS:
        for text in (f"a {mark}{word} 1234567", f"a {mark}{word.upper()}1234567", f"{mark}{word}é 1234567"):
            found = set(scan.triggers_near_digits(text, Outline(text), WORDS))
            assert triggers_by_the_full_search(text) <= found


def test_a_trigger_far_from_digits_or_inside_a_word_is_not_looked_for():
    for text in ("passport " + "- " * 200 + "1234567", "testing 1234567", "no passport"):
        assert scan.triggers_near_digits(text, Outline(text), WORDS) == []


AT_WORDS = ["at", "ät", "@", "Arroba", "arobase", "arobas", "CHIOCCIOLA", "apenstaartje", "małpa", "MALPA"]
AT_WORDS += ["snabel-a", "snabela", "Snabel-a"]


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(text_of(*AT_WORDS, *"([{<>})]", " dot com", " DOT org", "ſnabela", "chİocciola", "chıocciola", max_size=6))
def test_a_masked_address_is_possible_wherever_its_expression_finds_one(text):
    folded = Outline(text).folded
    assert not scan._MASKED_AT.search(text) or scan._MAYBE_MASKED_AT.search(folded)
    assert not scan._SPOKEN_DOT.search(text) or scan._MAYBE_SPOKEN_DOT in folded


def test_each_way_to_mask_an_address_is_possible():
    for word in AT_WORDS:
        for text in (f"jane ({word}) x", f"jane[ {word} ]x", f"jane{{\u00a0{word}\u2009}} x", f"<\x1c{word}>"):
            assert scan._MASKED_AT.search(text) and scan._MAYBE_MASKED_AT.search(Outline(text).folded), text


@settings(derandomize=True)
@given(st.text("abİIıΣσΑ \u212a", max_size=30))
def test_small_letters_are_those_of_each_character(text):
    each = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    assert lower_keeping_offsets(text) == (each if "İ" in text else text.lower())


def test_one_character_has_a_longer_small_form():
    assert [c for c in map(chr, range(0x110000)) if len(c.lower()) != 1] == ["İ"]


LABELS = (phone_words.PHONE_LABEL, phone_words.CALL_LABEL, phone_words.PHONE_CUE, phone_words.NOT_A_PHONE)
LABEL_WORDS = sorted(
    {
        *f"{phone_words._NOUNS} {phone_words._VERBS} {phone_words._DESKS}".split(),
        *f"{phone_words._WORDS['other_numbers']} {phone_words._FILLERS}".split(),
        *("n°", "nº", "n.º", "id", "de", "the", "is", "under", "me", "you", "an", "t", "f", "tels", "my", "nummer"),
        *("number", "番号", "-moi", "-te"),
        *phone_words._PHONE_NO_SPACES,
    }
)
MARKS = ["", " ", "  ", ". ", ": ", ".:", "：", " = ", "# ", "-", ", ", "\u00a0", "\n", "(", "/", "   ", " .: ", "    "]


@pytest.mark.parametrize("word", LABEL_WORDS)
def test_a_label_that_an_expression_finds_is_a_word_before_the_number(word):
    for before in ("", "call ", "my ", "x "):
        for mark in MARKS:
            lower = f"{before}{word}{mark}"
            if any(just_before(label, Page(lower, (), None), len(lower), 60) for label in LABELS):
                assert word_before(lower, len(lower)), lower


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.sampled_from([*LABEL_WORDS, *MARKS]), st.text(max_size=3)), max_size=5).map("".join))
def test_no_label_is_found_where_no_word_stands_before_the_number(text):
    if any(just_before(label, Page(text, (), None), len(text), 60) for label in LABELS):
        assert word_before(text, len(text))


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(
    text_of("jane", "@", "mail.com", " DOT ", "(at)", "[AT]", "〔at〕", "\uff20", "\uff11", "٣", "passport", "555-0142")
)
def test_a_text_without_the_sign_of_a_candidate_has_none(text):
    plain = plain_marks(text)
    outline = Outline(plain)
    if list(scan.shapes(plain, outline)) or scan.triggers_near_digits(plain, outline, WORDS):
        assert scan.may_have_candidates(plain)


@pytest.mark.parametrize(
    "line", ["© 2021 {}", "Copyright (c) {}, {}", "SPDX-FileCopyrightText: {}", "{}. All rights reserved"]
)
def test_the_model_is_not_asked_about_a_short_line_with_a_notice(line, monkeypatch):
    asked = []
    monkeypatch.setattr(
        names.NameFinder, "_read", lambda _, text, spans: asked.extend(text[a:b] for a, b in spans) or []
    )
    stage = PiiStage(from_mapping({}).pii)
    holder = "Jane Doe <jane.doe@acme-brand.com>"
    assert next(hit.entity for hit in stage.hits(f"x\n{line.format(holder, holder)}\ny", "en")) == "EMAIL_ADDRESS"
    assert asked == []
    long = line.format(holder, holder) + ", of the mill behind the meadow" * 6
    stage.hits(f"{long}\n{holder}", "en")
    assert asked == [long, holder]


def anchors_by_splitting(text, words):
    marks = ("", ",", ".", ";", ":", ")", "!", "?", "'s", "’s")
    tokens = set(text.split())
    return {word for word in words.anchors.needles if tokens & {word + mark for mark in marks}}


LONG = "\n" + "." * 2 * private_life._SHORT
"""Behind a text: then it is outlined, and not split."""
PRIVATE = sorted({word for words in PRIVATE_WORDS.values() for word in words.anchors.needles})


@settings(max_examples=500, deadline=None, derandomize=True)
@given(text_of(*PRIVATE[::40], *",.;:)!?", "'s", "’s", "\t", "\u3000", "\x1f", "\uff11"))
def test_the_anchor_words_are_those_of_the_text_split_at_white_space(text):
    for long in (text, text + LONG):
        for words in PRIVATE_WORDS.values():
            expected = anchors_by_splitting(long, words)
            assert set(private_life._anchors(long, words, Outline(long))) == expected
            assert set(private_life._anchors(long, words, Outline(plain_marks(long)))) == expected


def test_an_anchor_word_is_found_with_one_mark_behind_it_and_no_more():
    for word in PRIVATE[::12]:
        for mark in ("", ",", ".", ";", ":", ")", "!", "?", "'s", "’s", "..", "’", "s", "-", "1"):
            for text in (f"{word}{mark}", f"x\u00a0{word}{mark}\ny", f"({word}{mark}", f"{word}{mark}{LONG}"):
                for words in PRIVATE_WORDS.values():
                    assert set(private_life._anchors(text, words, Outline(text))) == anchors_by_splitting(text, words)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.lists(st.text("abcdé ", min_size=1, max_size=9), min_size=1, max_size=20, unique=True), st.text("abcdé "))
def test_needles_that_are_in_a_haystack_are_possible(words, text):
    needles = Needles({word: word.encode() for word in words}, width=1 + len(text) % 5)
    assert {word for word in words if word in text} <= set(needles.possible(text.encode()))


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 399).map(str) | st.sampled_from(["00", "08", "٣"]), min_size=4, max_size=4))
def test_presidio_reads_four_public_numbers_as_a_whole_and_nothing_less_of_others(numbers):
    raw = ".".join(numbers)
    if re.fullmatch(scan.NUMERIC["ipv4"], raw):
        found = {(one.start, one.end) for one in recogniser("IpRecognizer").analyze(raw, ["IP_ADDRESS"], None)}
        assert found <= {(0, len(raw))}
        assert found or not checks.is_public_address(raw)


def test_the_model_finds_the_same_names_without_the_vectors_that_nobody_reads():
    name = names.installed_name("en_core_web_sm")
    if name is None:
        pytest.skip("en_core_web_sm is not installed")
    whole, lean = spacy.load(name, exclude=names._NEEDLESS), names.pipeline("en_core_web_sm")
    assert "tok2vec" not in lean.pipe_names
    texts = [case.text for set_ in ("persons", "context") for case in passages(set_) if case.language == "en"]
    assert len(texts) > 20
    for one, other in zip(whole.pipe(texts), lean.pipe(texts), strict=True):
        assert [(e.start_char, e.end_char, e.label_) for e in one.ents] == [
            (e.start_char, e.end_char, e.label_) for e in other.ents
        ]


def test_a_text_is_counted_again_where_it_changed_or_where_nobody_counted_it():
    stage = PiiStage(from_mapping({"PII_PERSON": "off"}).pii)
    plain, personal = "The mill stands at the brook.", "Write to jane.doe@mail-company.com today, please do so now." * 3
    for text, done in ((plain, []), (plain, ["extraction"]), (personal, ["extraction"])):
        doc = Document("u", text=text, language="en", done=done)
        if done:
            recount(doc)
        stage(doc)
        assert {name: getattr(doc, name) for name in counts("")} == counts(doc.text)
    cut = Document("u", text=plain, language="en", done=["extraction"], char_count=500, word_count=90)
    stage(cut)
    assert cut.word_count == 6


@settings(max_examples=500, deadline=None, derandomize=True)
@given(
    text_of(
        "jane", ".", "@", "mail", "-", "com", "co.uk", "x.zzz", "+", "!", "é", "_", "1", "%", "'", "＠", max_size=12
    )
)
def test_addresses_of_mail_are_those_that_presidio_reads(text):
    at = Candidate("email", 0, len(text))
    read = {(one.start, one.end) for one in EMAIL.analyze(text, ["EMAIL_ADDRESS"], None)}
    found = set(recognise._mail_addresses(Page(text, (), None), at))
    assert {(a, b) for a, b in found if EMAIL.validate_result(text[a:b])} == read
