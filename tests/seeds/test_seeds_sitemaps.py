"""Sitemaps and feeds: every public file is read, hostile ones are bounded, nothing raises."""

import codecs
import gzip
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.seeds import sitemaps
from crawler.seeds.sitemaps import MAX_ENTRIES, MAX_PROBLEMS, Sitemap, SitemapEntry, parse_sitemap
from crawler.seeds.timestamps import parse_timestamp

URL = "https://www.example.com/sitemap.xml"


def read(text: str, **arguments: int) -> Sitemap:
    return parse_sitemap(text.encode(), URL, **arguments)


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.url for entry in sitemap.entries]


def test_a_urlset_gives_pages_with_their_date_and_priority() -> None:
    found = read(
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc> https://www.example.com/a?b=1&amp;utm_source=x&amp;a=2 </loc><lastmod>2020-01-02</lastmod>"
        "<priority>0.8</priority></url>"
        "<url><loc><![CDATA[/relative]]></loc><lastmod>soon</lastmod><priority>9</priority></url>"
        "<url><loc>https://www.example.com/a?a=2&amp;b=1</loc></url></urlset>"
    )
    assert found == Sitemap(
        "urlset",
        [
            SitemapEntry(
                "https://www.example.com/a?a=2&b=1",
                1_577_923_200.0,
                0.8,
                found="https://www.example.com/a?b=1&utm_source=x&a=2",
            ),
            SitemapEntry("https://www.example.com/relative"),
        ],
    )


def test_an_index_gives_further_sitemaps_down_to_the_third_level() -> None:
    text = "<sitemapindex><sitemap><loc>https://www.example.com/b.xml.gz</loc></sitemap></sitemapindex>"
    for nesting in range(3):
        assert read(text, nesting=nesting) == Sitemap("index", nested=["https://www.example.com/b.xml.gz"])
    assert read(text, nesting=3) == Sitemap("index", problems=["index files nested more than 3 deep: ignored"])


def test_extensions_are_not_mistaken_for_pages() -> None:
    found = read(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="urn:image" xmlns:x="urn:x"><url>'
        "<image:image><image:loc>https://cdn.example/i.jpg</image:loc></image:image>"
        "<video:loc>https://cdn.example/v.mp4</video:loc>"  # a prefix nobody declared
        "<x:entry><x:loc>https://cdn.example/x</x:loc></x:entry>"
        "<loc>https://www.example.com/page</loc></url></urlset>"
    )
    assert urls(found) == ["https://www.example.com/page"]


def test_a_feed_gives_its_articles_and_not_itself() -> None:
    rss = read(
        '\n<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://www.example.com/</link>'
        '<item><atom:link href="https://www.example.com/self" rel="self"/><link>https://www.example.com/1</link>'
        "<pubDate>Thu, 02 Jan 2020 00:00:00 +0000</pubDate></item>"
        '<item><guid isPermaLink="false">https://www.example.com/2</guid></item>'
        "<item><guid>tag:example.com,2020:3</guid></item></channel></rss>"
    )
    assert rss.entries == [
        SitemapEntry("https://www.example.com/1", 1_577_923_200.0),
        SitemapEntry("https://www.example.com/2"),
    ]
    assert rss.problems == ["line 1: expected an http(s) URL, found ''"]
    atom = read(
        '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/feed" rel="self"/><entry><link rel="edit" href="/e"/>'
        '<link href="/1"/><published>2019-01-01T00:00:00Z</published><updated>2020-01-02T01:00:00+01:00</updated>'
        "</entry></feed>"
    )
    assert atom == Sitemap("atom", [SitemapEntry("https://www.example.com/1", 1_577_923_200.0)])


def test_a_text_list_needs_absolute_urls() -> None:
    found = read("https://www.example.com/1\r\n\r\n  https://www.example.com/2\n/3\n")
    assert (found.kind, urls(found)) == ("text", ["https://www.example.com/1", "https://www.example.com/2"])
    assert found.problems == ["line 4: expected an http(s) URL, found '/3'"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_byte_order_marks_do_no_harm(encoding: str) -> None:
    assert urls(parse_sitemap("https://e.org/ü".encode(encoding), URL)) == ["https://e.org/%C3%BC"]
    xml = "<urlset><url><loc>https://e.org/ü</loc></url></urlset>"
    assert urls(parse_sitemap(xml.encode(encoding), URL)) == ["https://e.org/%C3%BC"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_read_with_and_without_a_byte_order_mark(encoding: str) -> None:
    xml = '<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>https://e.org/ü</loc></url></urlset>'
    assert urls(parse_sitemap(xml.encode(encoding), URL)) == ["https://e.org/%C3%BC"]
    assert urls(parse_sitemap(gzip.compress(xml.encode(encoding)), URL)) == ["https://e.org/%C3%BC"]


def test_an_encoding_in_the_xml_declaration_is_honoured() -> None:
    xml = '<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>https://e.org/\xfc</loc></url></urlset>'
    assert urls(parse_sitemap(xml.encode("latin-1"), URL)) == ["https://e.org/%C3%BC"]


def test_gzip_is_unpacked_once_more_where_the_server_packed_it_twice() -> None:
    body = b"https://e.org/1\n"
    assert urls(parse_sitemap(gzip.compress(gzip.compress(body)), URL)) == ["https://e.org/1"]
    assert urls(parse_sitemap(gzip.compress(body) + gzip.compress(b"https://e.org/2"), URL)) == [
        "https://e.org/1",
        "https://e.org/2",
    ]


def test_a_file_cut_short_is_read_as_far_as_it_goes() -> None:
    text = "<urlset>" + "".join(f"<url><loc>https://e.org/{n}</loc></url>" for n in range(1000))
    cut = read(text + "<url><lo")
    assert len(cut.entries) == 1000
    left_out, broken = cut.problems
    assert left_out == "the file ends within an entry, which is left out"
    assert broken.startswith("line 1: broken XML, read as far as it goes:")
    assert read(text).problems == [broken]
    packed = parse_sitemap(gzip.compress(text.encode())[:-300], URL)
    assert 0 < len(packed.entries) < 1000
    assert packed.problems[0] == "damaged or unfinished gzip data: read as far as it goes"


def test_a_bare_ampersand_costs_one_url_at_most() -> None:
    found = read("<urlset><url><loc>https://e.org/?a=1&b=2</loc></url><url><loc>https://e.org/2</loc></url></urlset>")
    assert "https://e.org/2" in urls(found)
    assert found.problems


def test_the_protocol_limits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "<urlset>" + "".join(f"<url><loc>/{n}</loc></url>" for n in range(MAX_ENTRIES + 10)) + "</urlset>"
    found = read(many)
    assert len(found.entries) == MAX_ENTRIES
    assert found.problems == ["more than 50000 entries: the rest is ignored"]
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 100_000)
    bomb = gzip.compress(b"https://e.org/1\n" + b" " * 10_000_000)
    found = parse_sitemap(bomb, URL)
    assert urls(found) == ["https://e.org/1"]
    assert found.problems == ["more than 100000 bytes: the rest is ignored"]


def test_as_many_pages_of_other_languages_are_read_as_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 4)
    others = [f'<xhtml:link rel="alternate" hreflang="x{n}" href="/{n}"/>' for n in range(5)]
    head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'

    def of(number: int) -> Sitemap:
        return read(f"{head}<url><loc>/first</loc>{''.join(others[:number])}</url></urlset>")

    assert [(len(of(number).entries), of(number).problems) for number in (4, 5)] == [
        (5, []),
        (5, ["more than 4 entries: the rest is ignored"]),
    ]


def test_bad_lines_are_listed_up_to_a_limit_and_counted() -> None:
    found = read("https://e.org/1\n" + "nonsense\n" * 100)
    assert len(found.problems) == MAX_PROBLEMS + 1
    assert found.problems[-1] == f"and {100 - MAX_PROBLEMS} more"
    assert urls(found) == ["https://e.org/1"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_with_entities_of_its_own_is_refused(encoding: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("stolen")
    for entity in (f'e SYSTEM "{secret.as_uri()}"', 'e "&x;&x;"', f'% p SYSTEM "{secret.as_uri()}"> %p; <!ENTITY e ""'):
        xml = f"<!DOCTYPE u [<!ENTITY {entity}>]><urlset><url><loc>https://e.org/&e;</loc></url></urlset>"
        found = parse_sitemap(xml.encode(encoding), URL)
        assert found.entries == []
        assert found.problems == ["declares entities of its own: refused"]


def test_nothing_is_included_from_elsewhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("https://e.org/stolen")
    include = f'<xi:include href="{secret.as_uri()}" parse="text"/>'
    found = read(
        f'<urlset xmlns:xi="http://www.w3.org/2001/XInclude">{include}<url><loc>{include}</loc></url>'
        "<url><loc>https://e.org/1</loc></url></urlset>"
    )
    assert urls(found) == ["https://e.org/1"]


def test_a_dtd_is_never_loaded() -> None:
    found = read('<!DOCTYPE u SYSTEM "http://127.0.0.1:1/x.dtd"><urlset><url><loc>https://e.org/</loc></url></urlset>')
    assert urls(found) == ["https://e.org/"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"<!DOCTYPE html><title>Not found</title>", "an HTML page, expected a sitemap"),
        (b"\n<HTML lang=en>", "an HTML page, expected a sitemap"),
        (b"<config><a/></config>", "expected urlset, sitemapindex, rss, feed or a list of URLs"),
        (b"Not Found", "line 1: expected an http(s) URL, found 'Not Found'"),
        (b'{"error": 404}', "expected a JSON Feed, with its version and its items"),
        (b"PK\x03\x04", "line 1: expected an http(s) URL, found 'PK\\x03\\x04'"),
    ],
)
def test_what_is_no_sitemap_says_so(body: bytes, problem: str) -> None:
    assert parse_sitemap(body, URL) == Sitemap("unknown", problems=[problem])


_BITS = (
    "<urlset> <url> <loc> http://e.org/ </loc> </url> <!DOCTYPE_a_[ <!ENTITY_b_'c'> ]> &b; <item> <sitemap> <![CDATA["
)
_bits = st.sampled_from(
    [
        *(b"\xff\xfe", b"\x00", b"<?xml version='1.0' encoding='x'?>", b"<!--"),
        *(bit.replace("_", " ").encode() for bit in _BITS.split()),
    ]
)
_bodies = st.one_of(st.binary(max_size=200), st.lists(_bits, max_size=12).map(b"".join))


@given(_bodies, st.booleans())
@example(codecs.BOM_UTF16_LE + b"<", False)
@example(b"\x1f\x8b", False)
@settings(deadline=None, derandomize=True, max_examples=500)
def test_no_bytes_make_it_raise(body: bytes, packed: bool) -> None:
    found = parse_sitemap(gzip.compress(body) if packed else body, URL)
    assert found.kind in {"urlset", "index", "rss", "atom", "text", "unknown"}
    assert all(entry.url.startswith("http") for entry in found.entries)


# kind, entries, nested; what each holds besides is checked above
PUBLIC = {
    "rss/feed.rss": ("rss", 4, 0),
    "rss/xmlRss_pubDate.xml": ("rss", 7, 0),
    "sitemaps/atom.xml": ("atom", 1, 0),
    "sitemaps/do-not-visit.txt": ("text", 1, 0),
    "sitemaps/extension/hebdenbridgetimes-articles-sitemap.xml": ("urlset", 74, 0),
    "sitemaps/extension/pagemaps-sitemap.xml": ("urlset", 2, 0),
    "sitemaps/extension/shinpaideshou-news-sitemap.xml": ("urlset", 3, 0),
    "sitemaps/extension/sitemap-images.xml": ("urlset", 1, 0),
    "sitemaps/extension/sitemap-links.xml": ("urlset", 3, 0),
    "sitemaps/extension/sitemap-mobile.xml": ("urlset", 3, 0),
    "sitemaps/extension/sitemap-news.xml": ("urlset", 2, 0),
    "sitemaps/extension/sitemap-videos-tvshow.xml": ("urlset", 1, 0),
    "sitemaps/extension/sitemap-videos.xml": ("urlset", 3, 0),
    "sitemaps/sitemap-with-bom.txt": ("text", 2, 0),
    "sitemaps/sitemap.badns.xml": ("urlset", 2, 0),
    "sitemaps/sitemap.index.xml": ("index", 0, 15),
    "sitemaps/sitemap.ns.xml": ("urlset", 2, 0),
    "sitemaps/sitemap.txt": ("text", 2, 0),
    "sitemaps/sitemap.txt.gz": ("text", 5, 0),
    "sitemaps/xmlSitemap.gz": ("urlset", 5, 0),
}


def test_every_public_file_is_read(crawler_commons: Path) -> None:
    files = [path for folder in ("rss", "sitemaps") for path in (crawler_commons / folder).rglob("*") if path.is_file()]
    found = {str(path.relative_to(crawler_commons)): parse_sitemap(path.read_bytes(), URL) for path in files}
    assert {name: (s.kind, len(s.entries), len(s.nested)) for name, s in found.items()} == PUBLIC


def test_public_feed_dates_are_read_in_every_spelling(crawler_commons: Path) -> None:
    found = parse_sitemap((crawler_commons / "rss" / "xmlRss_pubDate.xml").read_bytes(), URL)
    assert [entry.lastmod for entry in found.entries[:3]] == [1_483_619_691.0, 1_483_619_692.0, 1_483_619_693.0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2020", 1_577_836_800.0),
        ("2020-02", 1_580_515_200.0),
        ("2020-01-02", 1_577_923_200.0),
        ("2020-01-02T00:00Z", 1_577_923_200.0),
        ("2020-01-02T01:00:00.5+01:00", 1_577_923_200.5),
        ("2020-01-02T00:00:00", 1_577_923_200.0),
        ("Thu, 02 Jan 2020 00:00:00 GMT", 1_577_923_200.0),
        ("Thu, 02 Jan 20 00:00:00 +0000", 1_577_923_200.0),
        ("", None),
        ("yesterday", None),
        ("2020-13-01", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("२०२०-01-01", None),
        ("9" * 100, None),
    ],
)
def test_a_date_is_read_as_w3c_or_mail_writes_it(text: str, seconds: float | None) -> None:
    assert parse_timestamp(text) == seconds


@given(st.text("0123456789-:TZ+., JanThu", max_size=40))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_no_text_makes_a_date_raise(text: str) -> None:
    assert parse_timestamp(text) is None or isinstance(parse_timestamp(text), float)
