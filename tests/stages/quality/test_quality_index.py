"""Pages that are an index, through parse, extraction and quality; and texts that only have links in them."""

from __future__ import annotations

import numpy as np
import pytest

from crawler.config import ExtractionConfig, from_mapping
from crawler.document import Document, DropReason
from crawler.stages.chain import Chain
from crawler.stages.extraction.learned.between import link_signals
from crawler.stages.extraction.learned.extract import Found
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.extraction.learned.numbers import features
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html
from crawler.stages.quality.no_content import Recognisers

NOUNS = ("wheel", "sluice", "barn", "bridge", "oven", "stable", "orchard", "ferry", "quarry", "well", "gate", "loft")
TEASER = "<article><h2><a href='/{0}'>What happened to the old {0} by the river</a></h2><p>{1}</p></article>"
SAID = "The council met on Monday to talk about the {0}, and nobody who lives beside the {0} was asked to come."
TOLD = (
    """In the spring the wheel stood still for three weeks because the river had taken the sluice with it, and the
    miller walked to town to ask for oak, rope and four carpenters who were not afraid of cold water.""",
    """They came on a Monday, looked at the broken posts, drank what there was to drink, and said that nothing could be
    done before the flood had gone down to the lower mark on the bridge, where children now counted the steps.""",
    """By Friday it had. What they built is still there: two frames of elm, a gate that one man can lift with one hand,
    and a bench for whoever watches the level at night when snow melts in the hills above the village.""",
    """Nobody kept their names. An entry in the book of the parish says only that bread for strangers was paid from the
    poor box that week, and that somebody who could not write had drawn a saw beside the sum.""",
)


@pytest.fixture(scope="module")
def chain() -> Chain:
    return Chain(from_mapping({"WORKER_ID": "indexes", "EXTRACTION_MIN_WORDS": "20"}))


def judged(chain: Chain, body: str) -> Document:
    page = f"<html><head><title>The mill</title></head><body><main>{body}</main></body></html>"
    return chain.run(Document("https://mill.test/", html=page.encode(), content_type="text/html; charset=utf-8"))


def signals(body: str) -> dict[str, float]:
    """Of a page all of whose blocks are kept."""
    page = walk(parse_html(f"<html><body>{body}</body></html>"))
    return link_signals(np.ones(len(page.texts), np.bool_), features(page, the_model().scores)[1])


def reason(found: dict[str, float], text: str = "", page_type: str | None = None) -> str:
    verdict = Recognisers().judge_index(found, text, page_type)
    return verdict[0].value if verdict else ""


LONG = {
    "zh": "磨坊主告诉邻居们，自从河水结冰以来，水车就一直没有转动，他打算等到春天再开始磨面。村里的人都同意他的看法。",
    "th": "เจ้าของโรงสีบอกเพื่อนบ้านว่ากังหันน้ำหยุดหมุนตั้งแต่แม่น้ำกลายเป็นน้ำแข็งและเขาจะรอจนถึงฤดูใบไม้ผลิก่อนจะเริ่มโม่แป้งอีกครั้ง",
    "ja": "水車小屋の主人は隣人たちに、川が凍ってから水車は止まり、春まで粉ひきを待つつもりだと話した。",
    "hi": "चक्की के मालिक ने पड़ोसियों को बताया कि नदी जमने के बाद से पहिया रुका हुआ है और वह वसंत तक प्रतीक्षा करेगा।",
    "en": "The miller told his neighbours that the wheel had stood still since the river froze, and he would wait.",
}
"""Some twenty words each."""


@pytest.mark.parametrize("language", LONG)
def test_a_text_whose_headings_are_links_is_no_index_and_teasers_are_one_in_any_script(language: str) -> None:
    said = LONG[language]
    sections = "".join(f"<h2><a href='/{n}'>{said[:12]}</a></h2>" + f"<p>{said * 2}</p>" * 3 for n in range(6))
    teasers = "".join(f"<h2><a href='/{n}'>{said[:12]}</a></h2><p>{said}</p>" for n in range(6))
    assert [reason(signals(body)) for body in (sections, teasers)] == ["", "index_page"]


def test_a_page_of_teasers_is_an_index(chain: Chain) -> None:
    doc = judged(chain, "".join(TEASER.format(noun, SAID.format(noun)) for noun in NOUNS))
    assert doc.verdict is not None and doc.verdict.reason == DropReason.INDEX_PAGE
    assert doc.quality_signals["linked_blocks"] == len(NOUNS)


def test_an_article_whose_headings_are_links_is_kept(chain: Chain) -> None:
    body = "".join(TEASER.format(noun, told) for noun, told in zip(NOUNS, TOLD, strict=False))
    doc = judged(chain, f"<h1>The year of the flood</h1>{body}")
    assert doc.verdict is None and doc.quality_signals["linked_blocks"] == len(TOLD)


def test_links_in_sentences_part_no_text() -> None:
    linked = SAID.format("<a href=/a>ferry</a>").replace("Monday", "<a href=/b>Monday</a>")
    assert signals(f"<p>{linked}</p>" * 4) == {"linked_blocks": 0, "words_between_links": 84.0}


def test_words_between_links_are_the_mean_over_all_words_of_the_text() -> None:
    found = signals("<p>one two three four</p><h2><a href=/>five six</a></h2><p>seven</p><p>eight</p>")
    assert found == {"linked_blocks": 1, "words_between_links": round((4 * 4 + 2 * 2) / 8, 2)}


def test_the_language_of_an_index_decides_nothing() -> None:
    teaser = "<h2><a href=/{0}>市議会は橋について話し合った{0}</a></h2><p>月曜日に集まり、誰も来なかった。</p>"
    assert reason(signals("".join(teaser.format(n) for n in range(6)))) == DropReason.INDEX_PAGE


def test_teasers_that_are_cut_off_may_be_longer() -> None:
    found = {"linked_blocks": 10, "words_between_links": 60.0}
    cut, whole = "Title\nThe council met on Monday…\n", "Title\nThe council met on Monday.\n"
    assert reason(found, cut * 5) == DropReason.INDEX_PAGE
    assert reason(found, whole * 5) == reason({**found, "words_between_links": 81.0}, cut * 5) == ""


def test_a_thread_and_a_reference_have_links_between_their_parts_and_are_none() -> None:
    found = {"linked_blocks": 30, "words_between_links": 12.0}
    assert reason(found, page_type="listing") == DropReason.INDEX_PAGE
    assert reason(found, page_type="forum") == reason(found, page_type="documentation") == ""


def test_a_short_text_with_few_links_is_no_index() -> None:
    assert reason({"linked_blocks": 3, "words_between_links": 12.0}) == ""


def test_a_page_of_which_nothing_is_kept_says_nothing_of_links() -> None:
    page = walk(parse_html("<html><body><p>Mills</p></body></html>"))
    assert link_signals(np.zeros(1, np.bool_), features(page, the_model().scores)[1]) == {} == Found().links
    assert reason({}) == ""


@pytest.mark.parametrize("words", [1, 1_000], ids=["from its data", "as it is shown"])
def test_a_text_from_the_data_of_a_page_is_not_judged_by_the_links_that_are_shown(words: int) -> None:
    body = "".join(TEASER.format(noun, SAID.format(noun)) for noun in NOUNS)
    doc = Document("https://mill.test/", html=f"<main>{body}</main>".encode(), content_type="text/html")
    ParseStage()(doc)
    doc.embedded, doc.render_signals = (" ".join(TOLD) * 4, "json-ld"), {"shell": {"visible_words": words}}
    ExtractionStage(ExtractionConfig(min_words=0))(doc)
    assert ("words_between_links" in doc.quality_signals) == (words > 1)
