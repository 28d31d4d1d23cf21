"""Pages that are a form, through parse, extraction and quality; and texts that only have a form beside them."""

from __future__ import annotations

import pytest

from crawler.config import from_mapping
from crawler.document import Document, DropReason
from crawler.stages.chain import Chain
from crawler.stages.extraction.forms import MOST_WORDS, form_signals, page_with_fields
from crawler.stages.parse.stage import parse_html
from crawler.stages.quality.no_content import Recognisers

MENU = "<ul>" + "".join(f"<li><a href='/{n}'>Shelf number {n}</a></li>" for n in range(20)) + "</ul>"
LOGIN = """<form><label>Name</label><input name=u><label>Word</label><input type=password name=p>
<button>Go</button></form>"""
SIGN_UP = """<form action=/new><p>E-mail</p><input type=email><p>At least eight letters</p><input type=password>
<p>Once more</p><input type=password><input type=submit></form>"""
BENEFITS = """<p>Whoever has a place in our book of guests reads the list of sacks first.</p>
<ul><li>Your orders at one glance</li><li>The price of flour each week by letter</li><li>No queue at the door of the
mill on market days</li><li>A sack of bran for each tenth sack of flour</li></ul><p>We give your name to nobody.</p>"""
PROSE = """<p>In the spring the wheel stood still for three weeks because the river had taken the sluice with it, and
the miller walked to town to ask for oak, rope and four carpenters who were not afraid of cold water.</p>
<p>They came on a Monday, looked at the broken posts, drank what there was to drink, and said that nothing could be done
before the flood had gone down to the lower mark on the bridge.</p>
<p>By Friday it had. What they built is still there: two frames of elm, a gate that one man can lift with one hand, and
a bench for whoever watches the level at night when snow melts in the hills.</p>"""


@pytest.fixture(scope="module")
def chain() -> Chain:
    return Chain(from_mapping({"WORKER_ID": "forms", "EXTRACTION_MIN_WORDS": "20"}))


def judged(chain: Chain, body: str) -> Document:
    page = f"<html><head><title>The mill</title></head><body>{body}</body></html>"
    return chain.run(Document("https://mill.test/", html=page.encode(), content_type="text/html; charset=utf-8"))


def signals(body: str, text: str, page_type: str | None = None, url: str = "") -> dict[str, int]:
    tree = parse_html(f"<html><body>{body}</body></html>")
    assert not isinstance(tree, str) and tree is not None
    return form_signals(page_with_fields(tree, body.encode(), url), text, url, page_type)


def reason(found: dict[str, int], words: int, page_type: str | None = None) -> str:
    verdict = Recognisers().judge_form(found, words, page_type)
    return verdict[0].value if verdict else ""


def test_a_page_to_sign_up_is_a_form_whatever_it_promises(chain: Chain) -> None:
    doc = judged(chain, f"<main><h1>Your place in the book</h1>{BENEFITS}{SIGN_UP}</main>")
    assert doc.verdict is not None and doc.verdict.reason == DropReason.FORM_PAGE
    assert doc.quality_signals["form_passwords"] == 2


@pytest.mark.parametrize(
    "body",
    [
        f"<header>{LOGIN}{MENU}</header><main><h1>The sluice</h1>{PROSE}</main>",
        f"<main><h1>The sluice</h1>{PROSE}</main><aside>{MENU}{LOGIN}</aside>",
        f"<main><h1>The sluice</h1>{PROSE}{LOGIN}</main>",
        f"<form><div>{LOGIN}{MENU}</div><main><h1>The sluice</h1>{PROSE}</main><input name=q></form>",
    ],
    ids=["above", "beside", "below", "in the same <form>"],
)
def test_an_article_is_kept_with_a_box_to_log_in(chain: Chain, body: str) -> None:
    assert judged(chain, body).verdict is None


def test_the_language_of_a_form_decides_nothing() -> None:
    body = "<p>マイページにはじめてご登録の方</p><input name=a><p>暗証</p><input type=password><input type=password>"
    found = signals(body, "マイページにはじめてご登録の方\n暗証")
    assert found == {"form_passwords": 2, "form_running_words": 0}
    assert reason(found, 12) == DropReason.FORM_PAGE


def test_words_between_the_fields_are_labels_and_running_text_beside_them_is_not() -> None:
    label = "Please write the name by which the miller has known you since the day of your first sack of rye here"
    body = f"<p>{label} outside</p><input><p>{label}</p><input type=password>"
    assert signals(body, f"{label} outside\n{label}")["form_running_words"] == len(f"{label} outside".split())


def test_a_form_that_menus_part_from_the_text_is_not_what_the_page_is() -> None:
    assert signals(f"{LOGIN}{MENU}<p>What was ground</p>", "What was ground") == {}
    assert signals(f"{LOGIN}<p>What was ground</p>{MENU}", "What was ground")["form_passwords"] == 1


def test_one_field_to_search_is_no_form_and_three_without_password_are() -> None:
    assert signals("<input type=search><input name=q><p>Mills</p>", "Mills") == {}
    found = signals("<input name=a><input name=b><textarea></textarea><p>Mills</p>", "Mills")
    assert found == {"form_passwords": 0, "form_running_words": 0}


def test_a_thread_and_a_product_have_a_form_to_answer_and_are_none() -> None:
    for passwords in (0, 1):
        found = {"form_passwords": passwords, "form_running_words": 20}
        assert reason(found, 90, "service") == DropReason.FORM_PAGE
        assert reason(found, 90, "forum") == reason(found, 90, "product") == ""


def test_an_article_may_say_less_beside_a_form_than_other_pages() -> None:
    for passwords, running in ((0, 60), (1, 100)):
        found = {"form_passwords": passwords, "form_running_words": running}
        assert reason(found, 120, "service") == DropReason.FORM_PAGE and reason(found, 120, "article") == ""


def test_links_below_a_password_part_the_form_from_its_text_no_further_than_a_menu() -> None:
    links = "<a href=/lost>You have lost the word that the miller gave you</a> <a href=/new>You are here for once</a>"
    links += "<a href=/help>Help for the blind</a>"
    assert signals(f"{LOGIN}{links}<p>What was ground</p>", "What was ground")["form_passwords"] == 1
    assert signals(f"{LOGIN}{links}<p>What was ground</p>", "What was ground", "article") == {}
    assert signals(f"<input><input><input>{links}<p>What was ground</p>", "What was ground") == {}


@pytest.mark.parametrize(
    "path",
    [
        "signin.html?v=1",
        "ucp.php?mode=login",
        "customer/account/create/",
        "Auth/forgotten_password",
        "loginRegister",
        "pwdReset",
    ],
)
def test_one_field_is_a_form_where_the_address_names_one_of_an_account(path: str) -> None:
    url = f"https://mill.test/{path}"
    found = signals("<input name=u><p>Mills</p>", "Mills", url=url)
    assert reason(found, 250, "service") == DropReason.FORM_PAGE
    assert reason(found, 251, "service") == reason(found, 90, "documentation") == ""
    assert reason(signals(LOGIN, "Mills", url=url), 450, "service") == DropReason.FORM_PAGE
    assert signals("<p>Mills</p>", "Mills", url=url) == {}


@pytest.mark.parametrize("path", ["how-to-reset-a-password", "pwd.html", "?next=/login", "blog/registers", "new/"])
def test_other_addresses_name_no_form_of_an_account(path: str) -> None:
    assert signals("<input name=u><p>Mills</p>", "Mills", url=f"https://mill.test/{path}") == {}
    assert signals("<input name=u><p>Mills</p>", "Mills", url="https://[mill") == {}


@pytest.mark.parametrize(("passwords", "words", "running"), [(2, 251, 0), (1, 90, 101), (0, 161, 0), (0, 90, 61)])
def test_more_text_than_a_form_has_is_kept(passwords: int, words: int, running: int) -> None:
    assert reason({"form_passwords": passwords, "form_running_words": running}, words) == ""


def test_a_page_without_fields_and_a_long_text_are_not_searched() -> None:
    assert signals("<p>Mills</p>", "Mills") == {} and reason({}, 50) == ""
    assert signals(SIGN_UP, "mill " * (MOST_WORDS + 1)) == {}


def test_the_tree_is_left_as_it_was() -> None:
    from lxml.html import tostring

    tree = parse_html(f"<html><body>{LOGIN} tail {SIGN_UP}</body></html>")
    before = tostring(tree)
    assert page_with_fields(tree, before) and tostring(tree) == before
