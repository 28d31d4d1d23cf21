"""Texts that are the same but for how their letters are written are one; texts that say another thing are two."""

import dataclasses

import pytest

from crawler.config import DedupConfig
from crawler.document import Document
from crawler.stages.fingerprint import FingerprintStage, exact_id
from crawler.stages.text.alike import alike

_AROUND = "The miller wrote it into his book on a winter evening and read it aloud: {} was what stood there."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﬁnal oﬃce ﬂour", "final office flour"),
        ("ＭＩＬＬ　１２３", "mill 123"),
        ("ﾐｽﾞﾉ ｶﾞﾜ", "ミズノ ガワ"),
        ("１．５％", "1.5%"),
        ("کتاب یک", "كتاب يك"),
        ("كتـــــاب", "كتاب"),
        ("ﻛﺘﺎﺏ ﻻ", "كتاب لا"),
        ("می\u200cخواهم", "میخواهم"),
        ("soft\u00adened", "softened"),
        ("𝐛𝐨𝐥𝐝 𝟓", "bold 5"),
        ("Ⅳ. №", "IV. No"),
        ("2019–2020", "2019-2020"),
        ("−5 °C", "-5 °C"),
        ("“quoted” – so", "'quoted' - so"),
        ("e-mail, word — word", "email word word"),
        ("well; then!", "well then"),
    ],
)
def test_another_way_of_writing_is_the_same_text(one, other):
    assert exact_id(_AROUND.format(one)) == exact_id(_AROUND.format(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-5", "5"), ("−5", "5"), ("1.5", "15"), ("1,5", "15"), (".5", "5"), ("1.5", "1,5"), ("a<b", "a>b"),
        ("a-b", "a+b"), ("a - b", "a + b"), ("5 - 3", "5 3"), ("x = -y", "x = y"), ("a*b", "a/b"), ("2**8", "2 8"),
        ("a % b", "a b"), ("5%", "5"), ("a != b", "a = b"), ("C#", "C"), ("p->q", "p>q"), ("10:30", "1030"),
        ("1/2", "12"), ("x²", "x2"), ("1½", "11⁄2"), ("١٫٥", "١٥"), ("n-1", "n1"), ("R&D", "RD"), ("①", "1"),
        ("क्\u200dष", "क्ष"), ("على", "علي"),
    ],
)  # fmt: skip
def test_what_means_another_thing_is_another_text(one, other):
    assert exact_id(_AROUND.format(one)) != exact_id(_AROUND.format(other))


def test_near_duplicates_do_not_depend_on_the_way_of_writing():
    def signature(text):
        doc = Document(url="https://example.org/", text=text)
        FingerprintStage(dataclasses.replace(DedupConfig()))(doc)
        return doc.signature

    text = "ماهیگیر صبح زود با تور قدیمی پدرش به کنار رودخانه رفت و زیر درخت بزرگ نشست تا خورشید بیرون بیاید"
    assert signature(text) == signature(text.replace("ی", "ي").replace("ک", "ك"))


@pytest.mark.parametrize("text", ["", "plain", "ﬁ", "می\u200cخواهم", "\u200d", "x\u200c", "👨\u200d👩"])
def test_text_that_is_alike_stays_as_it_is(text):
    assert alike(alike(text)) == alike(text)
