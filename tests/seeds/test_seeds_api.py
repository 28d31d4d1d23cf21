"""A source of JSON is described in a file: what it lists, where its records are, and what is wrong with the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.problems import InputError
from crawler.seeds.api import ApiReader, ApiSource, Credential, CredentialError
from crawler.seeds.api_file import parse_api, read_api
from crawler.seeds.plan import plan_seeds
from crawler.seeds.scope import Scope, ScopeError
from crawler.seeds.sitemaps import Sitemap
from crawler.stages.text.json_data import value_at
from crawler.urls.canonicalize import Address, canonicalize
from crawler.urls.rel_canonical import targets
from tests.support.places import PROJECT
from tests.support.positions import by_line

FIELDS = (("text", "body"),)
RECORD = "https://a.org/x/{id}"


def source(lists: str, by: str = "none", **more: object) -> ApiSource:
    return ApiSource(lists, RECORD, FIELDS, by=by, **more)  # type: ignore[arg-type]


def read_list(body: bytes, url: str, depth: int, one: ApiSource, said: str = "") -> Sitemap:
    return ApiReader(one, said).read(body, url, depth)


def after(one: ApiSource, data: object, depth: int = 0) -> str | None:
    assert one.first_list is not None
    return one.list_after(one.first_list.name, depth, data)


@pytest.mark.parametrize(
    ("one", "first", "said", "following"),
    [
        (source("https://a.org/x?p={page}", "page"), "https://a.org/x?p=1", {}, "https://a.org/x?p=2"),
        (source("https://a.org/x?p={page}", "page", first="0"), "https://a.org/x?p=0", {}, "https://a.org/x?p=1"),
        (source("https://a.org/x/{page}/", "page"), "https://a.org/x/1/", {}, "https://a.org/x/2/"),
        (
            source("https://a.org/x?z=1&from={offset}", "offset", step=50),
            "https://a.org/x?from=0&z=1", {}, "https://a.org/x?z=1&from=50",
        ),
        (
            source("https://a.org/x?c={cursor}", "cursor", first="*", at="meta.next"),
            "https://a.org/x?c=*", {"meta": {"next": "a b&c"}}, "https://a.org/x?c=a%20b%26c",
        ),
        (source("https://a.org/x?c={cursor}", "cursor", at="n"), "https://a.org/x?c=", {"n": None}, None),
        (source("https://a.org/x?c={cursor}", "cursor", at="n"), "https://a.org/x?c=", {"n": True}, None),
        (source("https://a.org/x", "link", at="n"), "https://a.org/x", {"n": "?after=9"}, "https://a.org/x?after=9"),
        (source("https://a.org/x", "link", at="n"), "https://a.org/x", {"n": "https://b.org/x?after=9"}, None),
        (source("https://a.org/x", "link", at="n"), "https://a.org/x", {"n": "https://a.org/admin"}, None),
        (source("https://a.org/x"), "https://a.org/x", {"n": 2}, None),
    ],
)  # fmt: skip
def test_a_list_leads_to_the_next_one(one: ApiSource, first: str, said: object, following: str | None) -> None:
    assert one.first_list is not None
    assert one.first_list.name == first
    assert after(one, said) == following
    assert one.is_list(first)
    assert following is None or one.is_list(str(canonicalize(following)))


def test_no_more_lists_are_read_than_the_file_allows() -> None:
    one = source("https://a.org/x?p={page}", "page", most=3)
    assert [after(one, {}, depth) for depth in (0, 1, 2)] == ["https://a.org/x?p=2", "https://a.org/x?p=3", None]
    last = read_list(b'[{"id": 1}]', "https://a.org/x?p=3", 2, one)
    assert (last.problems, last.stopped) == (["pages.most: 3 lists are read; what follows is not"], "")


def test_a_record_has_the_address_that_its_template_gives_and_no_other() -> None:
    one = source("https://a.org/x?p={page}", "page")
    good, odd = {"id": 7}, [{}, {"id": None}, {"id": ""}, {"id": True}, {"id": [1]}, {"id": "../../admin"}, 5, "x"]
    assert one.address_of(good) == Address("https://a.org/x/7")
    assert one.address_of({"id": "world/2026"}) == Address("https://a.org/x/world/2026")
    assert [one.address_of(item) for item in odd] == [None] * len(odd)
    assert [one.is_record(url) for url in ("https://a.org/x/7", "https://a.org/x?p=1", "https://b.org/x/7")] == [
        True, False, False,
    ]  # fmt: skip


def test_records_and_lists_may_share_a_path_and_differ_in_the_query() -> None:
    one = ApiSource(
        "https://a.org/w/api.php?list=all&from={cursor}", "https://a.org/w/api.php?pageids={id}&prop=x", FIELDS,
        by="cursor", at="next",
    )  # fmt: skip
    assert one.address_of({"id": 3}) == Address("https://a.org/w/api.php?pageids=3&prop=x")
    assert one.first_list is not None
    assert one.is_list(one.first_list.name)
    assert not one.is_list("https://a.org/w/api.php?pageids=3&prop=x")


def test_a_list_is_read_with_its_records_and_what_is_none_is_said() -> None:
    one = source("https://a.org/x?p={page}", "page", items="found.rows")
    body = json.dumps({"found": {"rows": [{"id": 1}, {"id": 2}, {"id": 1}, {"name": "none"}]}}).encode()
    found = read_list(body, "https://a.org/x?p=1", 0, one)
    assert [entry.url for entry in found.entries] == ["https://a.org/x/1", "https://a.org/x/2"]
    assert found.nested == ["https://a.org/x?p=2"]
    assert found.problems == ["record 4: gives no address for 'https://a.org/x/{id}'"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"{", "broken JSON: "),
        (b"[" * 100_000, "broken JSON: "),
        (b"{}", "expected a list of records at 'rows'"),
        (b'{"rows": {}}', "expected a list of records at 'rows'"),
    ],
)
def test_what_is_no_list_is_said(body: bytes, problem: str) -> None:
    one = source("https://a.org/x?p={page}", "page", items="rows")
    found = read_list(body, "https://a.org/x?p=1", 0, one)
    assert (found.entries, found.nested) == ([], [])
    assert found.problems[0].startswith(problem)


def test_a_list_that_names_itself_ends_the_reading_with_a_sentence() -> None:
    one = source("https://a.org/x", "link", items="rows", at="next")
    found = read_list(b'{"rows": [{"id": 1}], "next": "https://a.org/x?c=2"}', "https://a.org/x?c=2", 1, one)
    assert (found.nested, found.stopped) == ([], "the list names itself as the next one")


def test_an_empty_list_is_the_last_one() -> None:
    one = source("https://a.org/x?p={page}", "page")
    assert read_list(b"[]", "https://a.org/x?p=4", 3, one).nested == []
    assert read_list(b'[{"id": 1}]', "https://a.org/x?p=4", 3, one).nested == ["https://a.org/x?p=5"]


def test_a_path_leads_through_names_and_positions() -> None:
    data = {"a": [{"b": 1}, {"b": 2}], "": 3}
    assert [value_at(data, path) for path in ("a.1.b", "a.2.b", "a.b", "b", "")] == [2, None, None, None, data]


GOOD = """\
list: https://a.org/x?p={page}
pages: {by: page}
record: https://a.org/x/{id}
fields: {text: body}
"""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "f:1: expected the keys list, record and fields (docs/seeds.md)"),
        ("list: [", "f:1: expected YAML: "),
        (GOOD + "itms: x\n", "f:5: itms: unknown key; did you mean 'items'?"),
        (GOOD + "list: https://a.org/\n", "f:5: list: given twice"),
        (
            GOOD.replace("record: https://a.org/x/{id}\n", ""),
            "f:1: record: missing; a source needs list, record",
        ),
        (GOOD + "credential: ghp_x\n", "f:5: credential: expected key: value pairs"),
        (GOOD + "credential: {from: ghp_x}\n", "f:5: credential: expected from: env:NAME or file:PATH"),
        (GOOD + "credential: {header: X-Key}\n", "f:5: credential: expected from: env:NAME or file:PATH"),
        (GOOD + "credential: {from: 'env:K', scheme: 'a b'}\n", "f:5: credential.scheme: expected one word"),
        (
            GOOD.replace("list: https", "list: http") + "credential: {from: 'env:K'}\n",
            "f:1: list: a key is sent by https only",
        ),
        (GOOD + "accept: 'a\u00e9'\n", "f:5: accept: expected media types"),
        (GOOD.replace("/x/{id}", "/x/"), "f:3: record: expected what is filled in, such as {id} or {slug}"),
        (GOOD.replace("record: https://a.org/x/{id}", 'record: "{link}"'), "f:3: record: expected an http(s) URL with"),
        (GOOD.replace("{page}", "1"), "f:1: list: by page expects {page} once in the address, found nothing"),
        (GOOD.replace("{page}", "{number}"), "f:1: list: by page expects {page} once in the address, found ['number']"),
        (
            GOOD.replace("by: page", "by: pages"),
            "f:2: pages.by: expected one of none, page, offset, cursor, link, header, found",
        ),
        (
            GOOD.replace("by: page", "by: page, first: one"),
            "f:2: pages.first: expected a whole number of at least 0, found",
        ),
        (
            GOOD.replace("by: page", "by: page, most: 0"),
            "f:2: pages.most: expected a whole number of at least 1, found '0'",
        ),
        (
            GOOD.replace("by: page", "by: link").replace("{page}", "1"),
            "f:2: pages.by: link needs at: the path",
        ),
        (GOOD.replace("text: body", "title: body"), "f:4: fields: expected html, markdown, text: the path of a record"),
        (
            GOOD.replace("text: body", "text: body, auther: x"),
            "f:4: fields.auther: unknown key; did you mean 'author'",
        ),
        (GOOD.replace("text: body", "text: ''"), "f:4: fields.text: expected a path such as results.0.title"),
        (GOOD.replace("fields: {text: body}", "fields: body"), "f:4: fields: expected key: value pairs"),
        (GOOD.replace("list: https", "list: ftp"), "f:1: list: expected an http(s) URL with its host spelt out, found"),
    ],
)
def test_every_problem_of_the_file_names_its_line_and_what_to_do(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_api(text.encode(), "f")
    assert any(found.startswith(problem) for found in by_line(caught.value.problems)), caught.value.problems


def test_the_file_is_a_seed_argument_and_its_problems_stop_the_crawl(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(GOOD)
    plan = plan_seeds(api=str(file))
    assert [(c.url, c.kind) for batch in plan.batches() for c in batch] == [("https://a.org/x?p=1", "sitemap")]
    assert plan.scope.admits("https://a.org/x/7", via="sitemap").ok
    assert not plan.scope.admits("https://a.org/x/7", via="link").ok
    assert not plan.scope.admits("https://b.org/x/7", via="sitemap").ok
    file.write_text("list: x")
    for argument in (str(file), str(tmp_path / "none.yaml")):
        with pytest.raises(InputError):
            plan_seeds(api=argument)


def test_every_worker_of_the_crawl_knows_the_source() -> None:
    one = source("https://a.org/x?p={page}", "page", most=7)
    scope = Scope(sources=(one,))
    assert Scope.from_json(scope.to_json()).sources == (one,)
    assert Scope().merge(scope).sources == (one,)
    assert scope.fields_of("https://a.org/x/1") == {"text": "body"}
    assert scope.fields_of("https://a.org/y") == {}
    values = json.loads(scope.to_json())
    for key, wrong in (("most", "7"), ("lists", 7), ("by", "guess"), ("fields", [["nonsense", "x"]]), ("lists", "x")):
        bad = values | {"sources": [values["sources"][0] | {key: wrong}]}
        with pytest.raises(ScopeError):
            Scope.from_json(json.dumps(bad))


EXAMPLES = PROJECT / "docs" / "examples"
OPINIONS = {"next": "https://www.courtlistener.com/api/rest/v4/opinions/?cursor=cD0&order_by=id",
            "previous": None, "results": [{"id": 108713, "plain_text": "x"}]}  # fmt: skip
FILINGS = {"cik": "320193", "filings": {"recent": {
    "accessionNumber": ["0000320193-26-000106", "0000320193-26-000077"], "form": ["10-K", "10-Q"],
    "primaryDocument": ["aapl-20260926.htm", "aapl-20260627.htm"]}}}  # fmt: skip


def test_courtlistener_leads_by_an_address_in_its_answer() -> None:
    one = read_api(EXAMPLES / "api-courtlistener.yaml")
    assert one.first_list is not None
    found = read_list(json.dumps(OPINIONS).encode(), one.first_list.asked, 0, one)
    assert [entry.url for entry in found.entries] == ["https://www.courtlistener.com/api/rest/v4/opinions/108713/"]
    assert found.nested == [OPINIONS["next"]]
    assert one.credential == Credential("env:COURTLISTENER_TOKEN", "Authorization", "Token")


def test_edgar_tells_its_filings_by_columns_and_their_documents_are_pages() -> None:
    one = read_api(EXAMPLES / "api-edgar.yaml")
    assert one.first_list is not None
    found = read_list(json.dumps(FILINGS).encode(), one.first_list.asked, 0, one)
    folder = "https://www.sec.gov/Archives/edgar/data/320193"
    assert [entry.url for entry in found.entries] == [
        f"{folder}/000032019326000106/aapl-20260926.htm", f"{folder}/000032019326000077/aapl-20260627.htm",
    ]  # fmt: skip
    scope = plan_seeds(api=str(EXAMPLES / "api-edgar.yaml")).scope
    assert scope.fields_of(found.entries[0].url) == {} and scope.source_of(found.entries[0].url, "page") is None
    assert scope.admits(found.entries[0].url, via="sitemap").ok
    uneven = {"filings": {"recent": {"accessionNumber": ["a"], "primaryDocument": []}}}
    assert "expected a list of records" in read_list(json.dumps(uneven).encode(), "https://x/", 0, one).problems[0]


def test_github_leads_by_its_link_header_and_to_no_other_host() -> None:
    one = read_api(EXAMPLES / "api-github.yaml")
    assert one.first_list is not None
    first, body = one.first_list.asked, b'[{"number": 7, "body": "x"}]'
    onward = "https://api.github.com/repositories/529502/issues?page=2&per_page=100&state=closed"
    found = read_list(body, first, 0, one, onward)
    assert [entry.url for entry in found.entries] == ["https://api.github.com/repos/scrapy/scrapy/issues/7"]
    assert found.nested == [onward] and one.is_list(onward)
    elsewhere = read_list(body, first, 0, one, "https://evil.example/?page=2")
    assert elsewhere.nested == []
    assert elsewhere.stopped == "the next list is none of this source: 'https://evil.example/?page=2'"
    assert read_list(body, first, 0, one, "https://api.github.com/repos/scrapy/scrapy/issues/9?x").nested == []
    assert read_list(body, first, 0, one).nested == []
    values = ['<https://a.org/?p=1>; rel="prev", </?p=3>; title="a"; rel="last next"', "<x>; rel=nextish"]
    assert targets(values, "https://a.org/?p=2", "next") == ["https://a.org/?p=3"]


def test_a_key_is_read_where_it_is_and_sent_to_the_host_of_the_lists_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", "s3cret-1\n")
    assert Credential("env:K", scheme="Bearer").value() == "Bearer s3cret-1"
    (tmp_path / "key").write_text("another1\n")
    assert Credential(f"file:{tmp_path}/key", "X-Key").value() == "another1"
    monkeypatch.setenv("K", "short")
    with pytest.raises(CredentialError, match="one word of 8 to"):
        Credential("env:K").value()
    monkeypatch.setenv("K", "two words")
    for place in ("env:K", "env:NONE", f"file:{tmp_path}/none"):
        with pytest.raises(CredentialError) as caught:
            Credential(place).value()
        assert place.partition(":")[2] in str(caught.value) and "two words" not in str(caught.value)
    one = source("https://a.org/x", credential=Credential("env:K"))
    assert [one.takes_key(url) for url in ("https://a.org/x/1", "http://a.org/x/1", "https://b.org/x/1")] == [
        True, False, False,
    ]  # fmt: skip
    stored = Scope(sources=(one,)).to_json()
    assert "two words" not in stored and Scope.from_json(stored).sources == (one,)
    values = json.loads(stored)
    for wrong in (["/etc/passwd", "X", ""], ["env:K", "X\nY", ""], ["env:K"] * 9):
        values["sources"][0]["credential"] = wrong
        with pytest.raises(ScopeError):
            Scope.from_json(json.dumps(values))
