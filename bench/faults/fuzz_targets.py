"""What `bench/faults/fuzz.py` feeds: every parser that the wire and policy let near bytes from outside, with seeds and words for each.

Seeds are the public files in `../shared/data` where they are present, and a few of our own everywhere.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from bench.places import SHARED_DATA
from crawler.middlewares.control_files import authority_of, path_of
from crawler.policy.decide import decide_body, decide_headers, decide_robots
from crawler.policy.headers import http_date, max_age_seconds, retry_after_seconds
from crawler.policy.network import NetworkRules
from crawler.policy.opt_out_files import read_optional
from crawler.policy.robots import answer as robots_fetch
from crawler.policy.robots import parse as robots
from crawler.policy.robots.answer import Ages, Answer, Reading, RobotsRecord
from crawler.policy.signals import ai_txt, content_signal, content_usage, rsl, tdmrep, trust_txt
from crawler.policy.signals.base import Context
from crawler.seeds.sitemaps import parse_sitemap
from crawler.urls.canonicalize import canonicalize
from crawler.wire.chunks import ChunkError, joined
from crawler.wire.codings import CodingError, content_codings
from crawler.wire.head import HeadError, read_block
from crawler.wire.media import content_type, media_kind, media_type

BOT, URL, PATH = "CorpusBot", "http://a.example/page", "/some/page.html?x=1&y=%2F"
CONTEXT = Context(BOT, "strict", 1_800_000_000.0)
RULES = NetworkRules()
MAX_SEED = 4_096


@dataclass(frozen=True)
class Target:
    """One parser: `run` takes any bytes and returns; an exception is a finding. `piece`s are repeated for the ratio."""

    name: str
    run: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]
    words: tuple[bytes, ...]


def run_robots(data: bytes) -> None:
    record = RobotsRecord(Reading.RULES, 200, "", 0.0, 1.0, data, 0.0)
    parsed = robots.parse(data)
    decide_robots(record, parsed, PATH, product_token=BOT, profile="strict", now=0.0)
    parsed.crawl_delay(BOT)
    robots_fetch.judge(Answer(200, data), 0.0, Ages())


def run_answer(data: bytes) -> None:
    with suppress(HeadError, ChunkError):
        head, body = read_block(data)
        joined(body)
        declared = content_type(head.headers)
        media_type(declared)
        media_kind(declared, body)
    with suppress(CodingError):
        content_codings([data.decode("latin-1")])


def run_headers(data: bytes) -> None:
    lines = [(name.strip(), value.strip()) for name, _, value in (line.partition(b":") for line in data.split(b"\n"))]
    decide_headers(lines, BOT, "strict", CONTEXT.now)
    max_age_seconds(lines)
    retry_after_seconds(lines, CONTEXT.now)
    http_date(data.decode("latin-1"))


def run_metas(data: bytes) -> None:
    pairs = [line.decode("utf-8", "replace").partition("=") for line in data.split(b"\n")]
    metas = [(name.strip().lower(), content) for name, _, content in pairs]
    links = [("license", "application/rsl+xml", content) for _, _, content in pairs[:50]]
    decide_body(metas, links, product_token=BOT, profile="strict", now=CONTEXT.now, url=URL)


def run_tdmrep(data: bytes) -> None:
    read_optional(tdmrep.unreadable)(Answer(200, data))
    tdmrep.from_file(tdmrep.parse(data), PATH, CONTEXT)


def run_ai_txt(data: bytes) -> None:
    read_optional(ai_txt.unreadable)(Answer(200, data))
    ai_txt.from_file(robots.parse(data), PATH, CONTEXT)


def run_trust_txt(data: bytes) -> None:
    trust_txt.from_file(trust_txt.parse(data), PATH, CONTEXT)


def run_rsl(data: bytes) -> None:
    if not rsl.unreadable(data):
        rsl.from_file(rsl.parse(data), URL, PATH)


def run_usage(data: bytes) -> None:
    content_usage.verdict_of(data.decode("latin-1"))
    content_signal.verdict_of(data.decode("latin-1"))


def run_sitemap(data: bytes) -> None:
    parse_sitemap(data, URL)


def run_url(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    RULES.url_complaint(text)
    RULES.address_complaint(text)
    if canonical := canonicalize(text, URL):
        assert RULES.url_complaint(canonical) is None or canonicalize(canonical) == canonical
        authority_of(canonical)
        robots.parse(b"User-agent: *\nDisallow: /a*b$\n").decide(BOT, path_of(canonical))


def run_stored(data: bytes) -> None:
    robots_fetch.load(data)


def files(*patterns: str) -> list[bytes]:
    found = [path for pattern in patterns for path in sorted((SHARED_DATA / "crawler-commons").glob(pattern))]
    return [path.read_bytes()[:MAX_SEED] for path in found if path.is_file()]


def wild_robots() -> list[bytes]:
    archive = SHARED_DATA / "robots-wild.tar.gz"
    if not archive.exists():
        return []
    with tarfile.open(archive) as tar:
        members = (tar.extractfile(member) for member in tar if member.isfile())
        return [member.read(MAX_SEED) for member in members if member is not None]


def urls() -> list[bytes]:
    lines = [line for text in files("normalizer/*.csv", "url-utils/*.csv") for line in text.splitlines()]
    data = SHARED_DATA / "crawler-commons" / "url-utils" / "wpt-urltestdata.json"
    if data.exists():
        entries = [entry for entry in json.loads(data.read_text("utf-8")) if isinstance(entry, dict)]
        lines += [entry["input"].encode("utf-8", "surrogatepass") for entry in entries]
    return [b"http://user:pw@127.1:80/a/../b?x=%41#f", b"http://[::ffff:7f00:1]/", *lines]


HEADER_SEEDS = [
    b"X-Robots-Tag: otherbot: noindex, nofollow, corpusbot: unavailable_after: Wed, 25 Jun 2010 15:00:00 GMT, noai",
    b"Content-Usage: train-ai=n;exp=1, search=?1, a=(1 2);b\nContent-Signal: ai-train=no, search=yes",
    b'Link: </l.xml>; rel="license"; type="application/rsl+xml", <b>; rel=next\ntdm-reservation: 1',
    b"Cache-Control: max-age=60, no-store\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT",
]
META_SEEDS = [
    b"robots=noindex, noai\ngptbot=unavailable_after: 25-Jun-10 15:00:00 PST, none",
    b"tdm-reservation=1\ncorpusbot=max-snippet:-1; nofollow",
]
RSL_SEED = (
    b'<rsl xmlns="https://rslstandard.org/rsl"><content url="/*.html" server="https://l"><license><permits type="usage">'
    b'ai-train</permits><prohibits>all</prohibits><payment type="free"/></license></content></rsl>'
)
TDM_SEED = b'[{"location": "/a*b$", "tdm-reservation": 1}, {"location": "/", "tdm-reservation": 0, "x": [1e5]}]'
STORED = RobotsRecord(Reading.RULES, 200, "", 1.0, 2.0, b"User-agent: *\nDisallow: /\n", 1.0).dump()

LINES = (
    b"\n",
    b"\r",
    b"\r\n",
    b":",
    b"=",
    b",",
    b";",
    b"*",
    b"$",
    b"%",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
)
ROBOTS_WORDS = (b"User-agent: ", b"Disallow: ", b"Allow: ", b"Crawl-delay: 1", b"Request-rate: 1/5m", b"Sitemap: ",
                b"License: ", b"Content-Usage: /a train-ai=n", b"Content-Signal: ai-train=no", b"GPTBot", b"%2a", b"*$")  # fmt: skip
HEADER_WORDS = (b"X-Robots-Tag: ", b"Link: <", b"Content-Usage: ", b"unavailable_after: ", b"noai", b"none", b"bot: ",
                b"train-ai=n", b"?1", b'"', b"max-age=", b"Wed, 25 Jun 2010", b"2010-06-25T10:00", b"\xc2\xa0")  # fmt: skip
XML_WORDS = (b"<", b">", b"<!DOCTYPE a [", b'<!ENTITY x "y">', b"&x;", b"<![CDATA[", b"]]>", b"<content url='/*'>",
             b"<license>", b"<url><loc>http://a.example/</loc></url>", b"<lastmod>2020-01-01</lastmod>", b"\xfe\xff")  # fmt: skip
URL_WORDS = (
    b"http://",
    b"//",
    b"/../",
    b"@",
    b"[::1]",
    b"0x7f",
    b"127.1",
    b"%2e",
    b"?",
    b"#",
    b"\\",
    b"xn--",
    b"\xe2\x91\xa0",
)

ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 9\r\n\r\n<p>a</p>\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/xml\r\n\r\n5;a=b\r\n<?xml\r\n0\r\n\r\n",
]
TARGETS = (
    Target("robots.txt", run_robots, lambda: [*files("robots/*"), *wild_robots(), b"User-agent: *\n"], (*LINES, *ROBOTS_WORDS)),
    Target("answer", run_answer, lambda: ANSWERS, (*LINES, *HEADER_WORDS, b"\r\n", b"HTTP/1.1 200", b"chunked", b"5\r\n", b"<!--")),
    Target("headers", run_headers, lambda: HEADER_SEEDS, (*LINES, *HEADER_WORDS)),
    Target("metas and links", run_metas, lambda: META_SEEDS, (*LINES, *HEADER_WORDS)),
    Target("Content-Usage, Content-Signal", run_usage, lambda: [b"train-ai=n", b"a=1;b=?0, c=(x y), ai-train=no"], (*LINES, *HEADER_WORDS)),
    Target("tdmrep.json", run_tdmrep, lambda: [TDM_SEED], (*LINES, b"[", b"]", b"{", b'"location":', b"1e999", b"null", b"\\u0000")),
    Target("RSL", run_rsl, lambda: [RSL_SEED], XML_WORDS),
    Target("ai.txt", run_ai_txt, lambda: [b"User-Agent: *\nDisallow: *.txt\nAllow: /\n", *files("robots/*")], (*LINES, *ROBOTS_WORDS)),
    Target("trust.txt", run_trust_txt, lambda: [b"member=https://a.example\ndatatrainingallowed=no\n"], (*LINES, b"datatrainingallowed", b"no")),
    Target("sitemap", run_sitemap, lambda: [*files("sitemaps/*", "sitemaps/extension/*", "rss/*"), b"http://a.example/x\n"], XML_WORDS),
    Target("URL", run_url, urls, (*URL_WORDS, b"\x00", b"\xff", b" ")),
    Target("stored record", run_stored, lambda: [STORED], (b"{", b"}", b'"body":', b"null", b"1e999", b"NaN", b"[" * 40)),
)  # fmt: skip
