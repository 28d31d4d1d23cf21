"""Bytes become the characters that somebody wrote, whatever label they carry."""

import pytest

from crawler.document import Document
from crawler.stages.parse.stage import ParseStage
from crawler.stages.text.charset import decode
from crawler.stages.text.charset_labels import codec_of
from tests.stages.sentences import PAIRS, SENTENCES, typed

WRONG = ("utf-8", "iso-8859-1", "windows-1251", "gb2312", "shift_jis", "euc-kr", "iso-8859-7")


def page(text: str, language: str = "", declared: str = "") -> str:
    root = f'<html lang="{language}">' if language else "<html>"
    meta = f'<meta charset="{declared}">' if declared else ""
    head = f"<head>{meta}<title>{text[:40]}</title></head>"
    return f"<!DOCTYPE html>{root}{head}<body><main><p>{text}</p></main></body></html>"


def read(text: str, name: str, charset: str | None = None, **of_page: str) -> tuple[str, str]:
    body = page(text, **of_page).encode(name)
    found = decode(body, charset)
    assert found is not None
    assert decode(body, found[1]) == found, "the stage that reads the bytes again reads them the same way"
    return found


@pytest.mark.parametrize(("language", "name"), PAIRS)
def test_a_declared_page_is_read_as_it_was_written(language, name):
    text = typed(language, name)
    assert text in read(text, name, name)[0]
    assert text in read(text, name, declared=name)[0]
    assert text in read(text, name, f'text/html; charset="{name}"')[0]


@pytest.mark.parametrize(("language", "name"), PAIRS)
def test_an_undeclared_page_is_read_as_it_was_written(language, name):
    text = typed(language, name)
    long = " ".join([text] * 20)
    assert text in read(text, name, language=language)[0]
    assert long in read(long, name, language=language)[0]


@pytest.mark.parametrize(("language", "name"), [pair for pair in PAIRS if pair[1] != "iso-8859-13"])
def test_a_page_without_any_hint_is_read_as_it_was_written(language, name):
    assert typed(language, name) in read(typed(language, name), name)[0]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("language", "name"), PAIRS)
def test_a_label_that_the_bytes_contradict_is_not_believed(language, name, wrong):
    text = typed(language, name)
    assert text in read(text, name, wrong, language=language, declared=name)[0]
    if codec_of(wrong) != codec_of(name):
        assert text in read(text, name, wrong, language=language)[0]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("language", "name"), PAIRS)
def test_a_right_header_wins_over_a_wrong_declaration(language, name, wrong):
    assert typed(language, name) in read(typed(language, name), name, name, declared=wrong)[0]


@pytest.mark.parametrize("wrong", [*WRONG, "koi8-r", "big5", "utf-16", "no-such-thing"])
@pytest.mark.parametrize("language", SENTENCES)
def test_utf8_is_read_as_utf8_whatever_it_is_called(language, wrong):
    text = SENTENCES[language]
    assert text in read(text, "utf-8", wrong)[0]
    assert text in read(text, "utf-8", declared=wrong)[0]


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("language", SENTENCES)
def test_utf16_is_recognised_without_a_byte_order_mark(language, name):
    assert SENTENCES[language] in read(SENTENCES[language], name)[0]
    assert SENTENCES[language] in read(SENTENCES[language], name, declared="utf-16")[0]


def test_plain_text_in_utf16_is_read_by_its_label():
    body = SENTENCES["ja"].encode("utf-16-le")
    assert decode(body, "utf-16") == (SENTENCES["ja"], "utf-16-le")


@pytest.mark.parametrize(
    ("pasted", "name"),
    [("“old” bridge won’t fall – it’s café", "cp1252"), ("naïve façade", "cp1252"), ("Ängste", "cp1252")],
)
def test_bytes_of_another_character_set_in_a_utf8_page_are_repaired(pasted, name):
    own = " ".join([SENTENCES["de"]] * 3)
    body = b"<html><meta charset=utf-8><p>" + own.encode() + b"<p>The " + pasted.encode(name) + b" stands.</html>"
    found = decode(body, "utf-8")
    assert found is not None
    assert own in found[0]
    assert pasted in found[0]
    assert "\ufffd" not in found[0]


def test_cyrillic_bytes_in_a_utf8_page_are_repaired_as_cyrillic():
    body = b"<html><p>" + SENTENCES["ru"].encode() * 3 + b"<p>" + SENTENCES["ru"][:60].encode("cp1251") + b"</html>"
    found = decode(body, "utf-8")
    assert found is not None
    assert f"<p>{SENTENCES['ru'][:60]}</html>" in found[0]


@pytest.mark.parametrize("size", range(1, 4))
def test_half_a_character_that_was_cut_off_leaves_nothing_behind(size):
    cut = "川の水は冷たい".encode()[: -3 + (size % 3)]
    body = b'<html><meta name="description" content="' + cut + b'..."><p>' + SENTENCES["ja"].encode() + b"</html>"
    found = decode(body, "utf-8")
    assert found is not None
    assert "\ufffd" not in found[0]
    assert "川の水は冷た" in found[0].partition("...")[0]
    assert found[0].partition("...")[0][-1] in "たい"


def test_a_page_in_windows_1252_that_is_called_utf8_keeps_its_quotation_marks():
    text = "It’s the miller’s dog that doesn’t sleep, and the town’s “old” bridge won’t fall. " * 3
    assert text in read(text, "cp1252", "utf-8")[0]


@pytest.mark.parametrize("place", [0, 9, 200])
def test_a_single_nul_costs_a_page_nothing(place):
    body = page("The stream of the valley. " * 50).encode()
    found = decode(body[:place] + b"\0" + body[place:], "utf-8")
    assert found is not None
    assert found[0] == body.decode()


def test_bytes_full_of_nul_are_no_text():
    assert decode(b"PK\0\0\1\0\0" * 500, "utf-8") is None


@pytest.mark.parametrize("language", ["de", "fr", "ru", "es", "pl"])
@pytest.mark.parametrize("as_if", ["cp1252", "latin-1"])
def test_text_that_was_encoded_twice_is_text_again(language, as_if):
    text = SENTENCES[language]
    try:
        twice = text.encode().decode(as_if)
    except UnicodeDecodeError:
        pytest.skip("this text cannot have been read so")
    body = page(text).encode().replace(text.encode(), twice.encode()).replace(text[:40].encode(), twice[:80].encode())
    found = decode(body, "utf-8")
    assert found is not None
    assert text in found[0]


def test_title_description_links_and_text_are_read_by_one_decoder():
    text = SENTENCES["ru"]
    markup = (
        f"<html><head><title>{text[:30]}</title><meta name=description content='{text}'></head>"
        f"<body><a href='/река?слово=сеть'>{text[:20]}</a><p>{text}</p></body></html>"
    )
    doc = ParseStage()(
        Document(
            url="https://example.org/", domain="example.org", html=markup.encode("koi8-r"), content_type="text/html",
            charset="iso-8859-1",
        )
    )  # fmt: skip
    assert isinstance(doc, Document)
    assert doc.title == text[:30].strip()
    assert doc.description == text
    assert doc.links == ["https://example.org/%D1%80%D0%B5%D0%BA%D0%B0?%D3%CC%CF%D7%CF=%D3%C5%D4%D8"]
    assert doc.tree.text_content().count(text) == 1


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("unicode-1-1-utf-8", "utf-8"),
        ("x-cp1251", "cp1251"),
        ("ks_c_5601-1989", "cp949"),
        ("windows-949", "cp949"),
        ("csGB2312", "gb18030"),
        ("x-x-big5", "big5hkscs"),
        ("koi8-ru", "koi8-u"),
        ("logical", "iso8859-8"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("dos-874", "cp874"),
        ("utf-7", None),
        ("undefined", None),
        ("", None),
    ],
)
def test_labels_of_the_standard_name_a_codec(label, codec):
    assert codec_of(label) == codec
