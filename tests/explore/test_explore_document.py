"""One document: text beside its page, what was measured, its way; and nothing of the page can act."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest

from crawler.config import from_mapping
from crawler.dataset.annotate import Annotations
from crawler.dataset.annotations.job import job_of
from crawler.dataset.records.filters import FilterError
from crawler.document import DropReason, Signal
from crawler.explore.archived import MAX_PAGE, is_kept, shingles_of
from crawler.explore.document_page import difference, measured, pieces, stages_passed, way
from crawler.explore.filters import Filter, filter_of
from crawler.explore.listing import listing
from crawler.observe.diagnose.thresholds import Thresholds
from crawler.stages.chain import STAGES
from crawler.storage.files.place import Place
from tests.explore.conftest import Desk
from tests.support.corpus_folder import Folder

KEPT = "The herring gull eats what it finds, and it finds a good deal behind the harbour master's office."
HOSTILE = (
    "<html><head><base href=//evil.example><meta http-equiv=refresh content='0;url=//evil.example'>"
    "<link rel=preconnect href=//evil.example><script src=//evil.example/x.js></script></head>"
    "<body onload='top.seen=1'><h1>Gulls</h1><p class=intro onclick=x()>" + KEPT + "</p>"
    "<nav><p>Home and other places to go to</p></nav><img src=//evil.example/i.png alt='a gull'>"
    "<iframe src=//evil.example></iframe><form action=//evil.example><input name=a><button>Go</button></form>"
    "<a href='javascript:alert(1)' ping=//evil.example>more</a><svg><script>alert(1)</script></svg>"
    "<object data=//evil.example></object><video src=//evil.example/v></video><style>p{color:red}</style>"
    "<style>@import '//evil.example'; p{background:URL(//evil.example)}</style>"
    '<p style="background:u\\\\72l(//evil.example)">styled</p>'
    "<math><mtext><script>alert(2)</script></mtext></math></body></html>"
)


@pytest.fixture
def gulls(folder: Folder, kept, rejected, exchange, serve: Callable[..., Desk]) -> Desk:
    """A kept page with redactions, and a near duplicate of it."""
    corpus = folder.opened()
    for n in range(4):
        body = HOSTILE.encode() if n == 1 else f"<p>page {n}</p>".encode()
        found = corpus.archive(
            exchange(n, body, evidence=b'{"robots_rule": "line %d: Allow: /", "fetch": {"lease": "l%d"}}' % (n, n))
        )
        place = {"warc_file": found.file, "warc_offset": found.offset, "warc_record_id": found.record_id}
        text = f"{KEPT}\nWrite to [EMAIL_ADDRESS] <b>now</b>.\nThe last line is line {n}."
        at = text.index("[EMAIL")
        values = {"text": text, "pii_spans": [(at, at + 15, "EMAIL_ADDRESS")], **place}
        if n == 2:
            signals = [Signal("tdmrep", "header", "tdm-reservation: 0", "allow")]
            values |= {"dup_of": "https://example.org/1", "dup_similarity": 0.97, "optout_signals": signals}
            corpus.reject(
                rejected(n, DropReason.NEAR_DUPLICATE, stage="near", redirects=["https://example.org/old"], **values)
            )
        else:
            corpus.keep(
                kept(n, quality_signals={"profile": "prose", "gopher_words": 20, "fineweb_short_lines": 0.1}, **values)
            )
    corpus.close()
    return serve(folder.path)


def key_of(desk: Desk, url: str) -> int:
    (row,) = listing(desk.catalogues[0], Filter(words=url)).rows
    return int(row["id"])


def test_redactions_are_chips_of_their_type_and_the_text_is_escaped(gulls: Desk) -> None:
    shown = gulls.page(f"/0/documents/{key_of(gulls, 'org/1')}")
    assert (
        '<mark title="EMAIL_ADDRESS">[EMAIL_ADDRESS]<span class="kind">EMAIL_ADDRESS</span></mark> &lt;b&gt;now'
        in shown
    )


def test_the_whole_way_of_a_page_is_shown(gulls: Desk) -> None:
    shown = unescape(gulls.page(f"/0/documents/{key_of(gulls, 'org/2')}"))
    for part in (
        "https://example.org/old",
        "line 2: Allow: /",
        "l2",
        "tdmrep in header: tdm-reservation: 0 (allow)",
        "near: near_duplicate",
        DropReason.NEAR_DUPLICATE.meaning,
        "line 1",
    ):
        assert part in shown, part


def test_the_evidence_is_that_of_the_page_and_not_of_its_neighbour(gulls: Desk) -> None:
    for n in range(4):
        shown = gulls.page(f"/0/documents/{key_of(gulls, f'org/{n}')}")
        assert re.findall(r"line \d: Allow", shown) == [f"line {n}: Allow"]


def test_a_duplicate_is_shown_against_the_page_that_it_repeats(gulls: Desk) -> None:
    shown = gulls.page(f"/0/documents/{key_of(gulls, 'org/2')}")
    assert f'href="/0/documents/{key_of(gulls, "org/1")}"' in shown
    assert re.findall(r'<div class="(\w+)">([-+].*?)</div>', shown) == [
        ("gone", "-The last line is line 1."),
        ("come", "+The last line is line 2."),
    ]


def test_what_was_missed_stands_first_with_value_and_limit(gulls: Desk) -> None:
    shown = gulls.page(f"/0/documents/{key_of(gulls, 'org/1')}")
    rows = re.findall(r"<code>(.*?)</code></td><td class=\"n\">(.*?)</td><td class=\"n\">(.*?)</td>", shown)
    assert (rows[0][0].replace("<wbr>", ""), rows[0][1], rows[0][2]) == ("gopher_quality.min_words", "20", "≥ 50")
    assert shown.count("failed</strong>") == 1


def test_every_threshold_of_the_profile_is_there() -> None:
    thresholds = Thresholds(from_mapping())
    found = measured({"quality_signals": {"profile": "technical"}, "quality_score": 0.1}, thresholds)
    assert sorted(r.limit.setting for r in found) == sorted(
        limit.setting for limit in thresholds.of_quality("technical")
    )
    assert [row.limit.setting for row in found if row.missed] == ["QUALITY_MIN_SCORE"]


def test_of_the_page_only_what_it_says_is_left_and_the_kept_part_is_marked(gulls: Desk) -> None:
    answer = gulls.ask(f"/0/archived/{key_of(gulls, 'org/1')}")
    assert answer.status == 200
    page = answer.body
    for gone in ("evil", "script", "alert", "onload", "onclick", "href", "src=", "<input", "<iframe", "<link",
                 "<base", "http-equiv", "<svg", "<object", "<video"):  # fmt: skip
        assert gone not in page.partition("<body")[2], gone
    assert f'<p class="intro" data-kept="">{KEPT}</p>' in page
    assert "<p>Home and other places to go to</p>" in page
    assert 'alt="a gull"' in page


def test_the_frame_has_a_policy_of_its_own_and_an_origin_that_is_nobodys(gulls: Desk) -> None:
    key = key_of(gulls, "org/1")
    policy = gulls.ask(f"/0/archived/{key}").headers["content-security-policy"]
    assert set(policy.split("; ")) == {
        "sandbox", "default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'self'",
    }  # fmt: skip
    assert f'<iframe src="/0/archived/{key}" sandbox=""' in gulls.page(f"/0/documents/{key}")


@pytest.mark.parametrize("path", ["documents", "archived"])
def test_a_document_that_is_not_there_is_no_page(gulls: Desk, path: str) -> None:
    for key in ("1", "0", "9" * 30, "-1", "x", "1e5", "%2e%2e"):
        assert gulls.ask(f"/0/{path}/{key}").status == 404


def test_a_page_whose_archive_is_gone_is_told_in_the_frame(gulls: Desk, folder: Folder) -> None:
    key = key_of(gulls, "org/1")
    for path in (folder.path / "archive").iterdir():
        path.unlink()
    assert "restore it from a copy" in gulls.ask(f"/0/archived/{key}").body
    assert "l1" not in gulls.page(f"/0/documents/{key}").partition("How it got its verdict")[2].partition("Fetched")[0]


@pytest.mark.parametrize(
    ("body", "content_type", "part"),
    [
        (b"<p>" + b"x" * MAX_PAGE, b"text/html", "are drawn"),
        (b"\x00\xff\xfe" * 10, b"image/png", "are not text"),
        (b"<div>" * 5000 + b"deep", b"text/html", "cannot be drawn"),
        (b"<a " + b"b=c " * 50_000 + b">x", b"text/html", "cannot be drawn"),
        (b"", b"text/html", "cannot be drawn"),
        (f"{KEPT}\n<script>alert(1)</script>".encode(), b"text/plain", f"<pre data-kept>{KEPT[:40]}"),
        (b"line\n" * 100_000, b"text/plain", "<pre>line</pre>"),
    ],
)
def test_any_page_is_drawn_or_told(
    folder: Folder, kept, exchange, serve, body: bytes, content_type: bytes, part: str
) -> None:
    corpus = folder.opened()
    found = corpus.archive(exchange(1, body, response_headers=[(b"Content-Type", content_type)]))
    place = {"warc_file": found.file, "warc_offset": found.offset, "warc_record_id": found.record_id}
    corpus.keep(kept(1, text=KEPT, **place))
    corpus.close()
    desk = serve(folder.path)
    answer = desk.ask(f"/0/archived/{key_of(desk, 'org/1')}")
    assert answer.status == 200
    assert part in unescape(answer.body) or part in answer.body
    assert "<script" not in answer.body


def test_a_passage_is_found_in_the_text_although_it_was_redacted_or_joined() -> None:
    shingles = shingles_of("One two three four five.\nWrite to [EMAIL_ADDRESS] before the end of the month or never.")
    assert is_kept("One  TWO three, four five", shingles)
    assert is_kept("Write to me@example.org before the end of the month or never", shingles)
    assert not is_kept("Five four three two one", shingles)
    assert not is_kept("two", shingles)
    assert is_kept("Month or never", shingles)


def test_spans_that_make_no_sense_are_left_out() -> None:
    assert pieces("abcdef", [(1, 3, "X"), (2, 4, "Y"), (5, 99, "Z"), (4, 4, "W")]) == [
        ("a", ""),
        ("bc", "X"),
        ("def", ""),
    ]
    assert pieces("", []) == []


def test_a_difference_of_long_texts_has_an_end() -> None:
    assert difference("same", "same") == []
    assert len(difference("a\n" * 100_000, "b\n" * 100_000)) < 2_100
    assert max(map(len, difference("a" * 10_000, "b"))) < 400


@pytest.mark.parametrize(
    ("record", "passed"),
    [
        ({}, STAGES),
        ({"stage": "near", "reason": "near_duplicate"}, STAGES),
        ({"stage": "quality", "reason": "low_quality"}, ("parse", "optout", "extraction", "language")),
        ({"stage": "optout", "reason": "optout"}, ()),
        ({"stage": "robots", "reason": "robots_denied"}, ()),
    ],
)
def test_the_way_names_the_stages_that_let_a_page_pass(record: dict[str, str], passed: tuple[str, ...]) -> None:
    assert stages_passed(record) == passed
    assert ("Passed", ", ".join(passed)) in way(record, {}) or not passed


def test_annotations_stand_on_the_page_of_their_document_and_choose_in_the_list(folder: Folder, kept, serve):
    corpus = folder.opened()
    for number in range(3):
        corpus.keep(kept(number, doc_id=f"id-{number}"))
    corpus.close()
    rows = [{"canonical_url": r["canonical_url"], "doc_id": r["doc_id"], "topic": "<b>gulls"} for r in folder.records()]
    job = job_of({"topic": "string"}, {"topic": "what it is about"}, None, {}, now=1.8e9)
    Annotations(Place(str(folder.path))).write("subject", job, rows[:1], now=1.8e9)
    desk = serve(folder.path)
    wanted = filter_of([("where", "subject.topic ~ gulls")], desk.catalogues[0].fields)
    assert [row["url"] for row in listing(desk.catalogues[0], wanted).rows] == [rows[0]["canonical_url"]]
    with pytest.raises(FilterError, match=r"'subject\.topic' is not a field"):
        filter_of([("where", "subject.topic ~ gulls")])
    shown = [desk.page(f"/0/documents/{key_of(desk, f'org/{number}')}") for number in range(3)]
    assert ["subject.topic" in page and "what it is about" in page for page in shown] == [True, False, False]
    assert "<b>gulls" not in shown[0]
