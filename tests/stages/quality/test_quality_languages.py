"""Rules in other languages: words of scripts without spaces, ends of sentences, limits of their own.

Texts are our own, or articles of the Universal Declaration of Human Rights (public domain).
"""

# sentences in other scripts
from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.config import QualityConfig, from_mapping
from crawler.dataset.cuts import without
from crawler.document import Document, Drop
from crawler.observe.diagnose.thresholds import Thresholds
from crawler.stages.extraction.verse import _lines
from crawler.stages.parse.embedded import prose_of
from crawler.stages.quality.punctuation import ends_a_sentence, has_an_end
from crawler.stages.quality.rules.base import Page, is_short_item, mostly_sentences
from crawler.stages.quality.rules.by_language import MOST, for_language, languages
from crawler.stages.quality.rules.c4 import C4
from crawler.stages.quality.rules.profiles import rules_for
from crawler.stages.quality.rules.refinedweb_lines import RefinedWebLines
from crawler.stages.quality.stage import QualityStage
from crawler.stages.quality.tokenizers import fast
from crawler.stages.text.words import count_words, is_short, recount, ruled_by
from crawler.storage.files.records import record_of

THAI = "ผู้ดูแลห้องสมุดเปิดประตูตอนแปดโมงเช้าและเดินไปที่โต๊ะริมหน้าต่าง"
CHINESE = "图书馆的管理员每天早上八点打开大门，然后走到窗边的桌子旁坐下来读信"
JAPANESE = "図書館の係の人は毎朝八時に扉を開けて、窓のそばの机まで歩いて行きます"


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("पुस्तकालय सुबह खुलता है।", "hi"),
        ("کتب خانہ صبح کھلتا ہے۔", "ur"),
        ("متى تفتح المكتبة؟", "ar"),
        ("បណ្ណាល័យបើកនៅពេលព្រឹក។", "km"),
        ("དཔེ་མཛོད་ཁང་ཞོགས་པ་སྒོ་ཕྱེ།", "bo"),
        ("འདི་ནི་མཇུག་ཡིན༎", "bo"),
        ("စာကြည့်တိုက်ကို မနက်တွင် ဖွင့်သည်။", "my"),
        ("ቤተ መጻሕፍቱ ጠዋት ይከፈታል።", "am"),
        ("Գրադարանը բացվում է առավոտյան։", "hy"),
        ("Πότε ανοίγει η βιβλιοθήκη;", "el"),
        ("「おはようございます」", "ja"),
        ("『朝だ。』", "ja"),
        ("他说：“门开了。”", "zh"),
    ],
)
def test_a_sentence_ends_at_the_mark_of_its_own_script(line, language):
    assert ends_a_sentence(line, language) and has_an_end(f"{line} …", language)


@pytest.mark.parametrize(
    ("line", "language"), [("Home; about", "el"), ("one; two;", "en"), ("《目录》", "zh"), ("", "th")]
)
def test_what_is_no_end_of_a_sentence_is_none(line, language):
    assert not ends_a_sentence(line, language)


@pytest.mark.parametrize(("text", "language"), [(THAI, "th"), (CHINESE + "。", "zh"), (JAPANESE + "。", "ja")])
def test_a_line_without_spaces_is_one_of_sentences(text, language):
    page = Page("\n".join(f"{text}{n}。" if language != "th" else f"{text}{n}" for n in range(20)), language)
    share, words = page.sentences
    assert share > 0.9 and words > 150
    assert mostly_sentences(page, 0.5)


def test_a_short_label_in_thai_is_no_sentence():
    assert Page("\n".join(["หน้าแรก", "ติดต่อเรา", "เกี่ยวกับ"] * 20), "th").sentences[1] == 0


def test_an_item_is_short_by_the_words_of_its_script():
    assert is_short_item("- 面粉五百克") and not is_short_item(f"- {CHINESE}")


def test_c4_and_refinedweb_keep_lines_without_spaces_but_not_as_the_papers_have_them():
    text = "\n".join(f"{CHINESE}第{n}天。" for n in range(8))
    assert C4(count_spaced=False).judge(Page(text, "zh")).text == text
    assert C4().judge(Page(text, "zh")).text == ""
    assert RefinedWebLines(count_spaced=False).judge(Page(text, "zh")).text == text
    assert rules_for("datatrove", ["c4"])["c4"] == C4()


def test_c4_counts_no_sentences_where_nothing_marks_their_end():
    text = "\n".join([THAI] * 8)
    found = C4(count_spaced=False).judge(Page(text, "th"))
    assert found.failure is None and "c4_too_few_sentences" in found.skipped


def test_an_ethiopic_mark_between_words_is_a_space():
    text = "የሰው፡ልጅ፡ሁሉ፡ሲወለድ፡ነጻና፡በክብርና፡በመብትም፡እኩልነት፡ያለው፡ነው።"
    assert count_words(text) == 10
    assert Page(text, "am").number_of_words == 10
    assert "".join(fast("am").words(text)) in (text, text.replace("፡", ""))


def test_running_text_in_data_is_known_by_the_words_of_its_script():
    assert prose_of({"a": CHINESE + "。", "b": "目录。", "c": THAI, "d": "หน้าแรก"}) == [CHINESE + "。", THAI]


@pytest.mark.parametrize("language", sorted(languages()))
def test_a_limit_of_a_language_is_never_stricter_than_the_profile_and_bounded(language):
    for profile in ("prose", "technical"):
        ours, theirs = (rules_for(profile, ["gopher_repetition", "fineweb"], code) for code in ("", language))
        ngrams, others = (rules["gopher_repetition"].duplicate_n_grams for rules in (ours, theirs))
        assert all(a <= b <= a * MOST + 1e-3 for (_, a), (_, b) in zip(ngrams, others, strict=True))
        assert theirs["fineweb"].min_punctuated_lines <= ours["fineweb"].min_punctuated_lines


def test_the_papers_limits_hold_in_every_language_under_the_profile_datatrove():
    names = ["gopher_repetition", "gopher_quality", "fineweb"]
    assert rules_for("datatrove", names, "th") == rules_for("datatrove", names)


def test_a_limit_that_somebody_set_is_not_loosened():
    base = rules_for("prose", ["fineweb"])
    own = {"fineweb": replace(base["fineweb"], min_punctuated_lines=0.5)}
    assert for_language(own, "th", base)["fineweb"].min_punctuated_lines == 0.5
    assert for_language(base, "th", base)["fineweb"].min_punctuated_lines == 0


def test_thai_lines_without_marks_are_kept_and_diagnose_says_why():
    text = "\n".join(f"{THAI} {word}" for word in ["หนึ่ง", "สอง", "สาม", "สี่", "ห้า", "หก", "เจ็ด", "แปด", "เก้า", "สิบ"])
    varied = text.replace("แปดโมง", "เก้าโมง", 3).replace("หน้าต่าง", "ทางเดิน", 4)
    doc = Document("https://example.org/", text=varied, language="th", language_script="Thai")
    found = QualityStage(QualityConfig(rules=("fineweb",), min_score=0.0))(doc)
    assert not isinstance(found, Drop)
    limits = {limit.setting: limit.limit for limit in Thresholds(from_mapping({})).of_record(vars_of(doc))}
    assert limits["fineweb.min_punctuated_lines"] == 0


def vars_of(doc: Document) -> dict[str, object]:
    return {"language": doc.language, "language_script": doc.language_script, "quality_signals": doc.quality_signals}


@pytest.mark.parametrize(
    ("language", "script", "ruled"),
    [("und", "Tibt", "bo"), ("und", "Mymr", "my"), ("und", "Latn", "und"), ("zh", "Hant", "zh"), (None, None, "")],
)
def test_a_language_that_nobody_knows_is_judged_by_its_script(language, script, ruled):
    assert ruled_by(language, script) == ruled


def test_fifty_words_are_enough_and_under_a_hundred_are_short():
    assert [is_short(n) for n in (0, 50, 99, 100)] == [False, True, True, False]
    doc = Document("https://example.org/", text="word " * 60)
    recount(doc)
    assert doc.short and not without(record_of(doc) | {"text": "word " * 120}, [(0, 2)])["short"]
    assert from_mapping({}).extraction.min_words == 50


def test_a_poem_in_short_lines_of_wide_characters_is_verse():
    from lxml import html

    from crawler.stages.extraction.verse import verse_chars

    poem = "<p>" + "<br>".join(["春の川を渡る舟", "夕日に光る水の音", "遠い山は静かなり"]) + "</p>"
    tree = html.fromstring(f"<div>{poem}</div>")
    assert len(_lines(tree[0])) == 3
    assert verse_chars(tree) == 23
