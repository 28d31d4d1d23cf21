"""Script and open set: a language that nobody here knows is "und", and names in another script decide nothing.

The sentences are from the Universal Declaration of Human Rights (public domain) or our own, as each says.
"""

# ruff: noqa: E501  # sentences in other scripts, which are wider than they are long
from __future__ import annotations

from functools import cache

import pytest

from crawler.config import LanguageConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.language.check import check_identifier
from crawler.stages.language.codes import Scores, Tag, tag
from crawler.stages.language.scripts import Script, chinese, only, script_of
from crawler.stages.language.stage import LanguageStage


@cache
def stage() -> LanguageStage:
    return LanguageStage(LanguageConfig())


def identified(text: str, **config) -> tuple[Document | Drop, Document]:
    doc = Document("https://example.org/", text=text)
    return (LanguageStage(LanguageConfig(**config)) if config else stage())(doc), doc


ARTICLES = {  # Universal Declaration of Human Rights, articles 1 and 3
    "yi Hebr": "יעדער מענטש װערט געבױרן פֿרײַ און גלײַך אין כּבֿוד און רעכט. יעדער װערט באַשאָנקן מיט פֿאַרשטאַנד און געװיסן; "
    "יעדער זאָל זיך פֿירן מיט אַ צװײטן אין אַ געמיט פֿון ברודערשאַפֿט. יעדער מענטש האָט דאָס רעכט אױף לעבן, פֿרײַהײט און "
    "פּערזענלעכער זיכערקײט.",
    "bo Tibt": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང༌། ཐོབ་ཐངགི་རང་དབང་འདྲ་མཉམ་དུ་ཡོད་ལ། ཁོང་ཚོར་རང་བྱུང་གི་བློ་"
    "རྩལ་དང་བསམ་ཚུལ་བཟང་པོ་འདོན་པའི་འོས་བབས་ཀྱང་ཡོད། དེ་བཞིན་ཕན་ཚུན་གཅིག་གིས་གཅིག་ལ་བུ་སྤུན་གྱི་འདུ་ཤེས་འཛིན་པའི་བྱ་སྤྱོད་ཀྱང་ལག་ལེན་"
    "བསྟར་དགོས་པ་ཡིན༎",
    "mi Latn": "Ko te katoa o nga tangata i te whanaungatanga mai e watea ana i nga here katoa; e tauriterite ana hoki nga "
    "mana me nga tika. E whakawhiwhia ana hoki ki a ratou te ngakau whai whakaaro me te hinengaro mohio ki te tika me te "
    "he, a e tika ana kia meinga te mahi a tetahi ki tetahi me ma roto atu i te wairua o te noho tahi.",
    "haw Latn": "Hānau kūʻokoʻa ʻia nā kānaka apau loa, a ua kau like ka hanohano a me nā pono kīvila ma luna o kākou "
    "pākahi. Ua kau mai ka noʻonoʻo pono a me ka ʻike pono ma luna o kākou, no laila, e aloha kākou kekahi i kekahi.",
}


@pytest.mark.parametrize("language", ARTICLES)
def test_a_language_that_no_identifier_knows_gets_no_neighbours_name(language):
    _, doc = identified(ARTICLES[language])
    assert (doc.language, doc.language_script) == ("und", language.split()[1])
    assert doc.language_score is None and doc.languages == [{"language": "und", "share": 1.0}]


def test_a_script_that_no_known_language_is_written_in_is_unknown_and_named():
    _, doc = identified("ᎾᏍᎩ ᎯᎠ ᏧᏓᎴᏅᏓ ᎢᎦᎢ ᎤᎾᏓᏤᎵᎦᏯ ᏚᏙᎥ ᎤᎾᏓᏅᏖᏗ ᎨᏒ ᎠᎴ ᎤᎾᏓᏅᏘ")
    assert (doc.language, doc.language_script) == ("und", "Cher")


def test_an_unknown_language_is_kept_unless_languages_are_named():
    assert isinstance(identified(ARTICLES["mi Latn"])[0], Document)
    left = identified(ARTICLES["mi Latn"], languages=("en",))[0]
    assert isinstance(left, Drop) and left.reason is DropReason.LANGUAGE_NOT_WANTED
    assert isinstance(identified(ARTICLES["mi Latn"], languages=("en", "und"))[0], Document)


MIXED = {  # our own
    "zh": "我们使用 Kubernetes 和 Docker Compose 部署服务，然后用 Prometheus 与 Grafana 监控。新的 iPhone 15 Pro Max 采用 "
    "Apple A17 Pro 芯片，比 Samsung Galaxy S24 Ultra 更快。",
    "ja": "この記事では Visual Studio Code と GitHub Copilot の設定を説明します。MacBook Pro で Docker Desktop を使う場合は "
    "Apple Silicon 版を選んでください。",
    "ko": "이 글에서는 Visual Studio Code와 GitHub Copilot 설정을 설명합니다. MacBook Pro에서 Docker Desktop을 쓰는 경우 "
    "Apple Silicon 버전을 고르세요.",
    "th": "บทความนี้อธิบายการตั้งค่า Visual Studio Code และ GitHub Copilot บน MacBook Pro รุ่น Apple Silicon และ Windows 11",
    "ar": "يشرح هذا المقال إعداد Visual Studio Code و GitHub Copilot على جهاز MacBook Pro مع Docker Desktop و Apple Silicon",
    "ru": "В этой статье объясняется настройка Visual Studio Code и GitHub Copilot на MacBook Pro с Docker Desktop",
}


@pytest.mark.parametrize("code", MIXED)
def test_latin_names_do_not_make_a_page_english(code):
    _, doc = identified(MIXED[code])
    assert doc.language == code and doc.languages == [{"language": code, "share": 1.0}]


def test_sentences_of_two_scripts_are_parts_with_shares():
    english = (
        "The ferry leaves the island twice a day, and the keeper has three rooms with a stove for those who miss it. "
    )
    chinese = "渡船每天两次离开小岛，错过船的人可以在邮局楼上找到三个带炉子的房间。" * 2
    _, doc = identified(chinese * 8 + "\n" + english * 4)
    assert [one["language"] for one in doc.languages] == ["zh", "en"]
    assert sum(one["share"] for one in doc.languages) == pytest.approx(1)
    assert doc.language_script == "Hans"


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("市議會決定把圖書館的開放時間延長到晚上九點", "Hant"),
        ("市议会决定把图书馆的开放时间延长到晚上九点", "Hans"),
        ("一二三人大小", "Hani"),
    ],
)
def test_chinese_says_which_characters_it_is_written_in(text, script):
    assert chinese(text) == script


def test_chinese_characters_alone_are_neither_korean_nor_japanese():
    _, doc = identified("市議會決定把圖書館的開放時間延長到晚上九點。" * 3)
    assert (doc.language, doc.language_script) == ("zh", "Hant")


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", Script()),
        ("12.5 %", Script()),
        ("größe", Script("Latn", 1.0)),
        ("市場で", Script("Jpan", 1.0)),
        ("市場에서", Script("Hang", 1.0)),
        ("𠀀𠀁", Script("Hani", 1.0)),
        ("𝐀𝐁", Script()),
        ("𞤀𞤣𞤤𞤢𞤥", Script("Zzzz", 1.0)),
    ],
)
def test_a_text_is_written_in_the_script_of_its_letters(text, script):
    assert script_of(text) == script


def test_letters_of_another_script_are_left_out_and_the_rest_keeps_its_place():
    text = "我们用 Docker 部署"
    assert only(text, "Hani") == "我们用        部署" and len(only(text, "Hani")) == len(text)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("zh", Tag("zh")),
        ("zh-Hant", Tag("zh", "Hant")),
        ("zho_Hant", Tag("zh", "Hant")),
        ("zh-Hant-TW", Tag("zh", "Hant")),
        ("zh-TW", Tag("zh")),
        ("kor_Kore", Tag("ko", "Hang")),
        ("SR-latn", Tag("sr", "Latn")),
        ("und", Tag("und")),
    ],
)
def test_a_language_can_be_asked_for_with_its_script(code, wanted):
    assert tag(code) == wanted


def test_only_pages_in_the_script_that_was_asked_for_are_wanted():
    traditional, simplified = (
        "市議會決定把圖書館的開放時間延長到晚上九點。" * 3,
        "市议会决定把图书馆的开放时间延长到晚上九点。" * 3,
    )
    assert isinstance(identified(traditional, languages=("zho_Hant",))[0], Document)
    left, _ = identified(simplified, languages=("zho_Hant",))
    assert isinstance(left, Drop) and left.detail.startswith("zh-Hans")
    assert isinstance(identified(simplified, languages=("zh",))[0], Document)


def test_a_score_for_a_language_in_one_script_is_for_that_alone():
    scores = Scores(0.65, ("sr:0.8", "sr-Latn:0.5"))
    assert [scores.needed("sr", script) for script in ("Latn", "Cyrl")] == [0.5, 0.8]
    assert scores.needed("de", "Latn") == 0.65


def test_a_script_in_which_no_page_could_be_stops_the_crawl():
    (problem,) = check_identifier(LanguageConfig(languages=("zh-Hant", "de-Thai", "und")))
    assert "de-Thai" in problem and "Latn" in problem


def test_a_language_with_a_known_relative_is_still_named():
    sentence = {"he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג "
                "איש ברעהו ברוח של אחווה."}  # fmt: skip
    for code, text in sentence.items():
        assert identified(text)[1].language == code
