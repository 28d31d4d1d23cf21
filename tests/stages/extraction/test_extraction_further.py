"""Lists of the site's other articles at the end of a text go; lists of sources and pages of lists stay."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.further import without_further
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

URL = "https://www.spoons.example/carving/birch"
TEXT = "Birch is carved green, while it is wet, and dries for a week in a bag.\n" * 12
TITLES = ["How to sharpen a knife", "The best wood for a ladle", "Ten spoons from ten countries"]


def cut(text: str, *, hrefs: str = "/post/{}", titles: list[str] = TITLES, extra: str = "") -> str:
    links = "".join(f'<li><a href="{hrefs.format(n)}">{title}</a></li>' for n, title in enumerate(titles))
    tree = parse_html(f"<html><body><p>x</p>{extra}<ul>{links}</ul></body></html>")
    return without_further(text, tree, URL)


def listed(*, sign: str = "- ", behind: str = "") -> str:
    return "\n".join(f"{sign}{title}{behind}" for title in TITLES)


@pytest.mark.parametrize("sign", ["", "- ", "1. ", "• "])
@pytest.mark.parametrize("behind", ["", " - December 8, 2025", ", 3 May 2024", " | 2024-05-03"])
def test_headlines_of_other_pages_of_the_site_go_with_their_dates(sign, behind):
    assert cut(TEXT + listed(sign=sign, behind=behind)) == TEXT.rstrip("\n")
    assert cut(TEXT + listed(sign=sign, behind=behind), hrefs="https://spoons.example/{}") == TEXT.rstrip("\n")


@pytest.mark.parametrize("lead", ["You'll also love...", "More from the workshop:", "Check out these articles!"])
def test_their_lead_in_goes_too_and_what_stands_behind_them_stays(lead):
    assert cut(f"{TEXT}{lead}\n{listed()}\nThis page has affiliate links.") == f"{TEXT}This page has affiliate links."
    assert cut(f"{TEXT}Our services\n{listed()}", extra="<h3>Our services</h3>") == TEXT.rstrip("\n")
    assert cut(f"{TEXT}Our services\n{listed()}") == f"{TEXT}Our services"  # no heading: who knows what it says


def test_a_date_between_two_headlines_is_no_end():
    between = "\n".join(f"{title}\n3 May 2024" for title in TITLES)
    assert cut(TEXT + between) == f"{TEXT}3 May 2024"


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (f"{TEXT}See also:\n{listed()}", {}),
        (f"{TEXT}References\n{listed()}", {}),
        (TEXT + listed(), {"hrefs": "https://elsewhere.example/{}"}),
        (TEXT + listed(), {"hrefs": "#part{}"}),
        (TEXT + "\n".join(TITLES[:2]), {}),
        (f"{listed()}\n{TEXT}", {}),
        ("One line of text before it.\n" + listed(), {}),
        (TEXT + listed(), {"titles": ["Another title of a post"] * 3}),
        (f"{TEXT}{listed()}\n{'And then it goes on for a while. ' * 9}", {}),
        (f"{TEXT}{listed()}\nOne.\nTwo.\nThree.", {}),
    ],
    ids=["see also", "sources", "other sites", "parts", "two", "at the top", "a page of lists", "no links", "goes on",
         "goes on in short lines"],
)  # fmt: skip
def test_everything_else_stays(text, how):
    assert cut(text, **how) == text


def test_an_address_that_cannot_be_read_leads_nowhere():
    assert cut(TEXT + listed(), hrefs="http://[/{}") == TEXT + listed()


def test_the_whole_chain_leaves_them_out():
    body = "".join(f"<p>{line}</p>" for line in TEXT.splitlines())
    posts = "".join(f'<p><a href="/post/{n}">{title}</a></p>' for n, title in enumerate(TITLES))
    html = f"<html><body><article><h1>Birch</h1>{body}{posts}</article></body></html>".encode()
    doc = Document(url=URL, html=html, content_type="text/html")
    ParseStage()(doc)
    ExtractionStage(ExtractionConfig(extractor="trafilatura", min_words=0))(doc)
    assert doc.text.endswith("dries for a week in a bag.") and TITLES[0] not in doc.text
