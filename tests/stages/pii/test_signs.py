"""In a language without a model a page waits for a person where something says that it is about one."""

import pytest

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.pii.page import Hit
from crawler.stages.pii.signs import LANGUAGES, sign_in
from crawler.stages.pii.stage import PiiStage

ABOUT = {
    "de": "Petra Lindner verdient 3.100 Euro im Monat.",
    "fr": "Marie Lenoir a été diagnostiquée d'un cancer.",
    "es": "Carmen Ortega cobra un sueldo de 1.900 euros.",
    "it": "Giulia Ferri è stata condannata a due anni.",
    "pt": "Teresa Moura e o marido separaram-se.",
    "nl": "Anneke Visser verdient weinig.",
    "pl": "Sąd skazał Marka Zielińskiego, skazany milczał.",
    "cs": "Jana Dvořáková má rakovinu.",
    "sk": "Jana Kováčová má depresiu.",
    "hr": "Ivana Horvat boluje i ima depresiju.",
    "sl": "Ana Novak je bila obsojena.",
    "bg": "Мария Петрова получава заплата от хиляда лева.",
    "ru": "Анна Соколова получает зарплату сорок тысяч.",
    "uk": "Олена Коваль хворіє на діабет.",
    "el": "Η Ελένη Παππά πάσχει από καρκίνο.",
    "ro": "Ana Ionescu are un salariu mic.",
    "hu": "Nagy Katalin depresszióval küzd.",
    "fi": "Liisa Korhonen sairastui syöpään.",
    "sv": "Karin Lund fick en diagnos.",
    "da": "Mette Holm blev dømt for tyveri.",
    "nb": "Kari Nilsen har en lønn på tre hundre tusen.",
    "ca": "Montserrat Puig té un sou baix.",
    "tr": "Ayşe Yılmaz kanser tedavisi görüyor.",
    "id": "Siti Rahayu menderita kanker.",
    "vi": "Nguyễn Lan bị ung thư.",
    "et": "Mari Tamm haigestus ja tal on vähk.",
    "lt": "Ona Petraitė serga vėžiu.",
    "lv": "Anna Ozola slimo, viņai ir depresija, diagnoze skaidra.",
    "ar": "شُخص أحمد بمرض السرطان",
    "fa": "مریم به سرطان مبتلا شد",
    "he": "דנה אובחנה במחלה",
    "hi": "सीता को कैंसर है",
    "ur": "فاطمہ کو کینسر ہے",
    "bn": "রহিমা ক্যান্সার রোগী",
    "zh": "王芳确诊癌症",
    "ja": "花子さんは癌と診断された",
    "ko": "김영희는 우울증 진단을 받았다",
    "th": "สมหญิงป่วยเป็นมะเร็ง",
    "en": "Laura Bennett was diagnosed with cancer.",
}
NEUTRAL = {
    "de": "Die Wiese hinter der Mühle wird zweimal im Jahr gemäht. Der Bach führt im Mai viel Wasser.",
    "es": "El prado detrás del molino se corta dos veces al año. El arroyo lleva mucha agua en mayo.",
    "ru": "Луг за мельницей косят два раза в год. В мае в ручье много воды.",
    "ja": "水車小屋の裏の草原は年に二回刈られる。五月には小川の水が多い。",
    "tr": "Değirmenin arkasındaki çayır yılda iki kez biçilir.",
}


def run(text, language, **settings):
    doc = Document(url="http://a.example/", text=text, language=language)
    assert PiiStage(from_mapping(settings).pii)(doc) is doc
    return doc


@pytest.mark.parametrize("language", sorted(ABOUT))
def test_words_on_pay_health_family_or_convictions_are_a_sign(language):
    assert language in LANGUAGES
    assert sign_in(ABOUT[language], language, ()).startswith("words on ")


@pytest.mark.parametrize("language", sorted(NEUTRAL))
def test_a_page_about_nobody_has_no_sign_and_is_kept_and_counted(language):
    doc = run(NEUTRAL[language] * 10, language)
    assert doc.hold is None
    assert doc.language_signals["pii_names"] == "uncovered"


@pytest.mark.parametrize("language", ["de", "zu", None])
def test_an_identifier_is_a_sign_in_any_language_and_goes_from_the_text_all_the_same(language):
    doc = run("Ukulalela. max.muster@fernbank.net " * 2, language, PII_MAX_DENSITY=1.0)
    assert "an identifier: EMAIL_ADDRESS" in doc.hold.detail
    assert "fernbank" not in doc.text + doc.hold.detail


def test_a_sign_in_the_title_counts():
    doc = Document(url="http://a.example/", text=NEUTRAL["de"], language="de", title="Petra Lindner ist verurteilt")
    PiiStage(from_mapping({}).pii)(doc)
    assert doc.hold is not None


def test_a_sign_alone_is_none_without_a_name_in_its_sentence():
    assert not sign_in("das gehalt wird im vertrag geregelt. der mond schien.", "de", ())
    assert not sign_in("Die Diagnose steht im Heft.", "de", ())


def test_addresses_of_mailing_lists_are_nobodys():
    hit = Hit(0, 9, "EMAIL_ADDRESS", "users@lists.fernbank.net")
    assert not sign_in("Die Wiese", "de", [hit])


def test_the_three_settings_differ_in_what_they_hold():
    held = {
        setting: [run(text, "de", PII_UNCOVERED=setting).hold is not None for text in (NEUTRAL["de"], ABOUT["de"])]
        for setting in ("keep", "signs", "hold")
    }
    assert held == {"keep": [False, False], "signs": [False, True], "hold": [True, True]}
