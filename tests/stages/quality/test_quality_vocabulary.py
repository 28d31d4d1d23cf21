"""What the quality rules count by numbers is what a loop over tokens, lines and characters counts."""

import re
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.stages.quality import vocabulary
from crawler.stages.quality.characters import Characters
from crawler.stages.quality.code_lines import is_code
from crawler.stages.quality.ngrams import WINDOW, Runs, most_frequent
from crawler.stages.quality.punctuation import PUNCTUATION
from crawler.stages.quality.rules.base import Page
from crawler.stages.quality.score import _CITATION, _CITATION_OF_TEN_DIGITS, _URL, _URL_PARTS, _different
from crawler.stages.quality.tokenizers import FAST, PIECES, Tokenizer, fast
from crawler.stages.quality.vocabulary import Vocabulary

EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True)
PARTS = [
    "The",
    "the",
    "İstanbul",
    "don't",
    "no.",
    "...",
    "—",
    "3.14",
    "\x00",
    "界",
    "x(y)",
    "ΑΣ",
    "x-y",
    " ",
    "\n",
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=60).map("".join)
CODE = re.compile(
    r"[;{}]\s*+$|^\s*+(?:[$>#]\s|>>>|//|/\*|\}|import\s|def\s|return\b)|\w\([^()]*+\)\s*+[;{]?$|^\s{2,}\S|=>|::|->|\s==?\s"
)


@EXAMPLES
@given(TEXTS, st.sampled_from([FAST, PIECES, fast("fr"), Tokenizer("plain", str.split, len)]))
def test_a_page_by_numbers_has_the_tokens_of_its_tokenizer(text, tokenizer):
    page = Page(text, tokenizer=tokenizer)
    wanted = tokenizer.words(text)
    assert page.vocabulary.strings(page.numbers) == wanted
    assert page.joined == "".join(wanted)


@EXAMPLES
@given(TEXTS)
def test_what_is_known_of_a_token_is_what_is_asked_of_it(text):
    page, wanted = Page(text), FAST.words(text)
    known, numbers = page.vocabulary, page.numbers
    words = [token for token in wanted if not PUNCTUATION.issuperset(token)]
    assert known.strings(page.words) == words
    assert known.lengths[numbers].tolist() == list(map(len, wanted))
    assert known.lower_lengths[numbers].tolist() == [len(token.lower()) for token in wanted]
    assert known.have_letters[numbers].tolist() == [any(map(str.isalpha, token)) for token in wanted]
    assert len(set(known.lowers[numbers].tolist())) == len({token.lower() for token in wanted})
    assert known.times(page.words, {"the", "never seen"}) == [word.lower() for word in words].count("the")
    assert known.different(numbers, {"the", "The", "never seen"}) == len({"the", "The"} & set(wanted))


def test_a_full_vocabulary_is_begun_anew_and_a_page_keeps_its_own(monkeypatch):
    monkeypatch.setattr(vocabulary, "_vocabulary", Vocabulary())
    monkeypatch.setattr(vocabulary, "MOST_ENTRIES", 4)
    first = Page("one two three four five six")
    assert len(first.numbers) == 6
    second = Page("one six")
    assert second.vocabulary is not first.vocabulary
    assert second.vocabulary.strings(second.numbers) == ["one", "six"]
    assert first.vocabulary.strings(first.numbers)[0] == "one"


def test_long_chunks_do_not_stay_in_memory(monkeypatch):
    monkeypatch.setattr(vocabulary, "_vocabulary", Vocabulary())
    page = Page("x" * (vocabulary.MOST_CHARS + 1))
    assert len(page.numbers) == 1
    assert Page("y").vocabulary is not page.vocabulary


def test_a_tokenizer_that_leaves_characters_out_is_joined_by_its_tokens():
    loses = Tokenizer("loses", str.split, len, lambda chunks: [(chunk[1:],) for chunk in chunks])
    assert Vocabulary().read(loses, "abc def")[1] == "bcef"


@EXAMPLES
@given(st.lists(st.integers(0, 3), max_size=60), st.sets(st.integers(1, 6)))
def test_the_most_frequent_runs_are_those_of_a_counter(numbers, sizes):
    found = {top.n: (top.first, top.times) for top in most_frequent(np.array(numbers, dtype=np.int64), sizes)}
    for n in sizes:
        runs = [tuple(numbers[i : i + n]) for i in range(len(numbers) - n + 1)]
        expected = max(Counter(runs).items(), key=lambda item: item[1]) if runs else None
        assert found.get(n) == (expected and (runs.index(expected[0]), expected[1]))


@EXAMPLES
@given(
    st.lists(st.sampled_from(["a", "b", "ab", "é", "word", "w" * 9, "v" * 25]), max_size=60),
    st.lists(st.integers(1, 7), max_size=4),
)
def test_runs_that_stand_twice_are_found_however_their_characters_are_cut(words, sizes):
    runs = Runs("".join(words), np.array(list(map(len, words)), dtype=np.int64))
    found = list(runs.repeated(sizes))
    assert len(found) == len(sizes)
    for n, places in zip(sizes, found, strict=True):
        grams = ["".join(words[i : i + n]) for i in range(len(words) - n + 1)]
        times = Counter(grams)
        assert places.tolist() == [i for i, gram in enumerate(grams) if times[gram] > 1]
        assert max(map(len, grams), default=0) < n * 26 < 26 * WINDOW


@settings(EXAMPLES, max_examples=1500)
@given(
    st.lists(st.sampled_from([*"a_ \t;{}()=:->$#/*)", "import", "def", "return", "\xa0", ">>>", "é", "²"])).map("".join)
)
def test_a_line_is_code_where_one_expression_over_all_marks_says_so(line):
    assert is_code(line) == (CODE.search(line) is not None)
    assert not is_code(line.ljust(400))


@EXAMPLES
@given(st.text(st.sampled_from("a1٣,.、！\U0001f600§ \ud800\x07—")))
def test_marks_and_digits_are_counted_as_one_by_one(text):
    marks = {c for c in PUNCTUATION if (c.isprintable() and ord(c) < 0x3020) or c in "！？，、：；。"}
    characters = Characters(text)
    assert characters.marks() == sum(c in marks for c in text)
    assert characters.digits() == sum(c in "0123456789" for c in text)


@EXAMPLES
@given(st.lists(st.integers(0, 5)))
def test_different_numbers_are_those_of_a_set(numbers):
    assert _different(np.array(numbers, dtype=np.int64)) == len(set(numbers))


def test_no_digit_of_another_script_is_overlooked():
    others = [chr(code) for code in range(128, 0x110000) if chr(code).isdecimal()]
    assert all(Characters(digit).has_other_digits() for digit in others)
    assert not Characters("1, “2” and 三 → 4").has_other_digits()


@EXAMPLES
@given(
    st.lists(st.sampled_from(["347 U.S. 483", "§ 1", "Art 5", "v. Board", "No. 3", "Section 2", "a", "7", " "])).map(
        "".join
    )
)
def test_citations_in_ten_digits_are_counted_like_those_in_any(text):
    assert _CITATION.findall(text) == _CITATION_OF_TEN_DIGITS.findall(text)


@EXAMPLES
@given(st.lists(st.sampled_from(["http", "HTTPS", "://", "www", "WwW", ".", "a", " "])).map("".join))
def test_a_text_without_the_parts_of_a_url_has_none(text):
    assert any(part in text for part in _URL_PARTS) or not _URL.findall(text)
