"""Broken XML is put right where that is certain, and never becomes a URL that nobody has written."""

from __future__ import annotations

import time
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.seeds.markup import MAX_ODD, decoded, repaired
from crawler.seeds.sitemaps import parse_sitemap
from crawler.urls.canonicalize import address

BASE = "https://h.example"
PIECES = st.text(st.sampled_from("abcXYZ019/=?&;#_-.é%2"), min_size=1, max_size=20)
LINKS = st.lists(PIECES.map(lambda text: f"{BASE}/{text}"), min_size=1, max_size=6)


def urlset(links: list[str]) -> str:
    return "<?xml version='1.0'?><urlset>" + "".join(f"<url><loc>{link}</loc></url>\n" for link in links) + "</urlset>"


def read(text: str | bytes, kind: str = "") -> list[str]:
    body = text.encode() if isinstance(text, str) else text
    return [entry.found or entry.url for entry in parse_sitemap(body, f"{BASE}/map.xml", content_type=kind).entries]


def asked(links: list[str]) -> list[str]:
    """What a correct file with these links lists."""
    found = [to for link in links if (to := address(link)) is not None]
    return [to.asked for to in {to.name: to for to in reversed(found)}.values()][::-1]


@given(LINKS)
def test_a_file_that_knows_no_entities_lists_what_a_correct_one_lists(links: list[str]) -> None:
    assert sorted(read(urlset([escape(link) for link in links]))) == sorted(asked(links))
    bare = [link for link in links if ";" not in link]
    assert sorted(read(urlset(bare))) == sorted(asked(bare))


@given(LINKS, st.data())
@example([f"{BASE}/a?x=1&y=2"], None)
def test_a_file_that_is_cut_anywhere_lists_nothing_that_the_whole_one_does_not(links: list[str], data) -> None:
    text = urlset([escape(link) for link in links]).encode()
    ends = range(len(text)) if data is None else [data.draw(st.integers(0, len(text) - 1))]
    whole = set(asked(links))
    for end in ends:
        assert set(read(text[:end])) <= whole


@given(LINKS, st.sampled_from(["utf-8", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"]))
def test_the_encoding_is_found_whatever_the_label_says(links: list[str], encoding: str) -> None:
    for label in ("utf-8", "utf-16", "nonsense"):
        text = urlset([escape(link) for link in links]).replace("?>", f" encoding='{label}'?>", 1)
        assert sorted(read(text.encode(encoding))) == sorted(asked(links))


def test_one_entry_in_another_encoding_spoils_no_other() -> None:
    body = urlset([f"{BASE}/é1", f"{BASE}/@", f"{BASE}/é2"]).encode().replace(b"@", "ü".encode("latin-1"))
    assert read(body) == [f"{BASE}/%C3%A91", f"{BASE}/%C3%BC", f"{BASE}/%C3%A92"]


def test_a_label_is_believed_where_the_bytes_agree() -> None:
    assert decoded("<a>日本</a>".encode("shift_jis"), "text/xml; charset=Shift_JIS") == "<a>日本</a>"
    assert decoded("<?xml version='1.0' encoding='koi8-r'?>да".encode("koi8-r")).endswith("да")
    assert decoded("<a>é</a>".encode(), "text/xml; charset=iso-8859-1") == "<a>é</a>"  # as pages are read


def test_what_stands_in_cdata_and_comments_stays_as_it_is() -> None:
    text = "<urlset><!-- a & b < c --><url><loc><![CDATA[https://h.example/?a&b]]></loc></url></urlset>"
    assert repaired(text) == (text, 0)
    assert read(text) == [f"{BASE}/?a&b"]


@pytest.mark.parametrize(
    "text",
    [
        "<urlset>" + "&" * 3_000_000,
        "<urlset>" + "<![CDATA[" * 300_000,
        "<urlset>" + "<!--" * 700_000,
        "<urlset>" + "<loc>" * 500_000,
        "<urlset>" + "<url>" * 500_000,
        "<urlset>" + "</url" * 500_000,
        "<?xml" + " " * 3_000_000,
        "<urlset>" + "&a" * 1_500_000,
    ],
)
def test_a_hostile_file_is_read_in_linear_time(text: str) -> None:
    begin = time.process_time()
    parse_sitemap(text.encode(), f"{BASE}/map.xml")
    assert time.process_time() - begin < 15
    assert len(repaired(text)[0]) <= len(text) + 8 * MAX_ODD


def test_a_feed_stands_on_the_base_that_it_names() -> None:
    atom = (
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://h.example/blog/'>"
        "<entry><link href='a?x=1&y=2'/></entry><entry xml:base='deep/'><link xml:base='er/' href='b'/></entry></feed>"
    )
    assert read(atom) == [f"{BASE}/blog/a?x=1&y=2", f"{BASE}/blog/deep/er/b"]
    rss = "<rss xml:base='/r/'><channel><item><link>R&D/x</link></item></channel></rss>"
    assert read(rss) == [f"{BASE}/r/R&D/x"]
