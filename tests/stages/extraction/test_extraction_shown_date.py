"""A date that a page shows beside its headline is read in the language of the page; other dates are left alone."""

import pytest

from crawler.stages.extraction.metadata.date_words import Place, dates_in
from crawler.stages.extraction.metadata.read import read_metadata
from crawler.stages.parse.stage import parse_html

DAY = "2021-03-04"


def date_of(body: str, lang: str = "en", url: str = "https://example.org/page") -> str | None:
    words = "<p>The brook runs through the valley, and the mill at its bank has stood there for a long time.</p>"
    page = f"<html lang='{lang}'><head><title>The mill at the brook</title></head><body>{body}{words}</body></html>"
    return read_metadata(parse_html(page), url, "2026-01-01").pub_date


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("ar", "٤ مارس ٢٠٢١"), ("ar", "4 آذار 2021"), ("az", "4 mart 2021"), ("be", "4 сакавіка 2021"),
        ("bg", "4 март 2021 г."), ("bn", "৪ মার্চ ২০২১"),
        ("ca", "4 de març del 2021"), ("cs", "4. března 2021"),
        ("da", "4. marts 2021"), ("de", "4. März 2021"),
        ("de", "04.03.2021"), ("de", "4.3.21"), ("el", "4 Μαρτίου 2021"),
        ("en", "4th of March 2021"), ("en", "March 4, 2021"), ("en", "4-Mar-2021"), ("en-US", "3/4/2021"),
        ("en-GB", "04/03/2021"), ("es", "4 de marzo de 2021"),
        ("et", "4. märts 2021"), ("eu", "2021eko martxoaren 4a"),
        ("fa", "۴ مارس ۲۰۲۱"), ("fi", "4. maaliskuuta 2021"),
        ("fr", "le 4 mars 2021"), ("he", "4 במרץ 2021"),
        ("hi", "४ मार्च २०२१"), ("hr", "4. ožujka 2021."),
        ("hu", "2021. március 4."), ("id", "4 Maret 2021"),
        ("is", "4. mars 2021"), ("it", "4 marzo 2021"),
        ("ja", "2021年3月4日"), ("ja", "令和3年3月4日"), ("ka", "4 მარტი, 2021"),
        ("kk", "4 наурыз 2021"), ("ko", "2021년 3월 4일"), ("ko", "2021. 3. 4"), ("lt", "2021 m. kovo 4 d."),
        ("lv", "2021. gada 4. martā"), ("ms", "4 Mac 2021"), ("nl", "4 maart 2021"), ("nb", "4. mars 2021"),
        ("pl", "4 marca 2021"), ("pt", "4 de março de 2021"),
        ("ro", "4 martie 2021"), ("ru", "4 марта 2021 г."),
        ("sk", "4. marca 2021"), ("sl", "4. marca 2021"),
        ("sr", "4. март 2021."), ("sv", "4 mars 2021"), ("sw", "4 Machi 2021"),
        ("ta", "4 மார்ச் 2021"), ("th", "4 มีนาคม 2564"),
        ("th", "๔ มี.ค. ๒๕๖๔"), ("tr", "4 Mart 2021"), ("uk", "4 березня 2021"),
        ("ur", "4 مارچ 2021"), ("vi", "ngày 4 tháng 3 năm 2021"),
        ("vi", "4 tháng 3, 2021"), ("zh", "2021年03月04日"),
        ("zh-TW", "民國110年3月4日"), ("", "2021-03-04"),
    ],
)  # fmt: skip
def test_a_date_beside_the_headline_is_read_in_its_language(lang, text):
    assert date_of(f"<h1>The mill at the brook</h1><p>{text}</p>", lang) == DAY
    assert date_of(f"<p>{text}</p><h1>The mill at the brook</h1>", lang) == DAY


def test_a_word_that_is_a_month_in_two_languages_is_that_of_the_page():
    def month(lang):
        return [found.day for found in dates_in("4. listopada 2021", Place.of(lang, "https://example.org/"))]

    assert (month("hr"), month("pl"), month("")) == (["2021-10-04"], ["2021-11-04"], [])


@pytest.mark.parametrize(
    ("lang", "url", "day"),
    [
        ("en", "https://example.org/", None),
        ("en", "https://example.com/", None), ("en", "https://example.co.uk/", DAY),
        ("en-AU", "https://example.com/", DAY),
        ("fr", "https://example.com/", DAY), ("en-US", "https://example.org/", "2021-04-03"),
    ],
)  # fmt: skip
def test_a_date_of_figures_is_read_in_the_order_of_its_country_or_not_at_all(lang, url, day):
    assert date_of("<h1>The mill at the brook</h1><p>4/3/2021</p>", lang, url) == day


@pytest.mark.parametrize(
    "decoy",
    [
        '<div class="comments"><time datetime="2021-03-04">4 March 2021</time> Ada wrote: Yes.</div>',
        '<aside><p>4 March 2021</p><time datetime="2021-03-04">Other news</time></aside>',
        '<div class="opening-hours"><time datetime="2021-03-04">closed</time></div>',
        '<div class="event"><time itemprop="startDate" datetime="2021-03-04">4 March 2021</time></div>',
        "<footer>Copyright © 4 March 2021</footer>",
        "<p>© 4.3.2021</p>",
        "<p>two days ago</p><p>yesterday</p><p>vor 3 Tagen</p>",
        "<p>It was in the valley that on 4 March 2021 the first of them came home.</p>",
        "<p>Deadline: 4 March 2021</p>",
        '<ul class="related"><li>4 March 2021</li></ul>',
        "<p>31/02/2021</p><p>2021-13-45</p>",
    ],
)
def test_other_dates_are_not_that_of_the_publication(decoy):
    assert date_of(f"<h1>The mill at the brook</h1>{decoy}") is None


@pytest.mark.parametrize(
    "both",
    [
        "<p>Published: 4 March 2021</p><p>Last updated: 9 May 2022</p>",
        "<p>Last updated: 9 May 2022</p><p>4 March 2021</p>",
        '<p>Updated <time datetime="2022-05-09">9 May</time></p>'
        '<p>Posted <time datetime="2021-03-04">4 March</time></p>',
        '<div class="comment"><time datetime="2022-05-09">9 May</time></div><p>4 March 2021</p>',
        "<p>Aktualisiert am 9. Mai 2022</p><p>Veröffentlicht am 4. März 2021</p>",
    ],
)
def test_the_publication_stands_beside_an_update_or_a_comment_and_is_taken(both):
    assert date_of(f"<h1>The mill at the brook</h1>{both}") == DAY


def test_a_date_in_the_headers_own_by_line_is_read_however_the_header_is_called():
    header = (
        '<article class="HeaderComment"><h1>The mill at the brook</h1><div class="HeaderComment_publishDate">'
        "<span>Thursday,</span> <span>4 March 2021</span></div></article>"
    )
    assert date_of(header + "<p>The mill was built by two brothers from the valley.</p>" * 20) == DAY


@pytest.mark.parametrize("name", ["date", "DC.date", "dcterms.date"])
def test_a_date_that_is_shown_says_more_than_one_that_is_stated_without_saying_of_what(name):
    vague = f'<meta name="{name}" content="2021-03-12">'
    assert date_of(f"{vague}<h1>The mill at the brook</h1><p>4 March 2021</p>") == DAY
    assert date_of(f"{vague}<h1>The mill at the brook</h1><p>Last updated: 9 May 2022</p>") == "2021-03-12"
    assert date_of(f"{vague}<h1>The mill at the brook</h1><p>It was built.</p>") == "2021-03-12"


def test_a_video_in_the_data_does_not_date_the_page():
    video = '{"@type": "VideoObject", "uploadDate": "2015-01-16"}'
    head = (
        f'<meta property="article:published_time" content="{DAY}"><script type="application/ld+json">{video}</script>'
    )
    assert date_of(head) == DAY
