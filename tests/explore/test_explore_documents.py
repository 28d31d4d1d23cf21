"""Every record is found: by any field, by words, in any order, page by page, and what is shown is what is there."""

from __future__ import annotations

import csv
import html
import io
import os
import re
import shlex
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import duckdb
import pytest
from pyarrow import parquet

from crawler.dataset.query import query
from crawler.dataset.records.fields import FIELDS, SIGNALS
from crawler.dataset.records.filters import OPERATORS, FilterError
from crawler.document import DropReason
from crawler.explore import listing as listing_module
from crawler.explore.catalogue import Catalogue, NotReadyError
from crawler.explore.distributions import DRAWN, figure
from crawler.explore.filters import MAX_CONDITIONS, Filter, condition_of, filter_of
from crawler.explore.listing import listing
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.explore.conftest import LIMIT, Desk, links
from tests.support.corpus_folder import Folder


@pytest.fixture
def varied(folder: Folder, kept, rejected, serve: Callable[..., Desk]) -> Desk:
    """Sixty kept documents of three languages with and without scores, and sixty rejected ones."""
    corpus = folder.opened()
    for n in range(60):
        score = None if n % 7 == 0 else (n % 10) / 10
        values = {"language": ("en", "de", "fr")[n % 3], "quality_score": score, "token_estimate": 2 ** (n % 12)}
        corpus.keep(kept(n, title=f"Page {n} of <b>{'ants' if n % 2 else 'Bees'}</b>", pii_flag=n % 4 == 0, **values))
        reason = (DropReason.TOO_SHORT, DropReason.LOW_QUALITY, DropReason.HOLD_PAUSED)[n % 3]
        corpus.reject(rejected(100 + n, reason, **values))
    corpus.close()
    return serve(folder.path)


def walk(desk: Desk, wanted: Filter) -> list[dict]:
    """Every row of a list, page by page."""
    rows, page = [], wanted
    while page is not None:
        found = listing(desk.catalogues[0], page)
        rows += found.rows
        page = found.next
    return rows


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        (["state=kept"], lambda r: "reason" not in r),
        (["state=hold"], lambda r: r.get("reason") == "hold_paused"),
        (["reason=low_quality"], lambda r: r.get("reason") == "low_quality"),
        (["language=de", "state=rejected"], lambda r: r["language"] == "de" and r.get("reason", "hold")[:4] != "hold"),
        (["language!=de"], lambda r: r["language"] != "de"),
        (["quality_score>=0.5"], lambda r: (r["quality_score"] or 0) >= 0.5),
        (["quality_score<0.5"], lambda r: r["quality_score"] is not None and r["quality_score"] < 0.5),
        (["quality_score="], lambda r: r["quality_score"] is None),
        (["quality_score!="], lambda r: r["quality_score"] is not None),
        (["quality_score!=0.1"], lambda r: r["quality_score"] != 0.1),
        (["token_estimate>64", "token_estimate<=512"], lambda r: 64 < r["token_estimate"] <= 512),
        (["pii_flag=true"], lambda r: r["pii_flag"] is True),
        (["url~/10"], lambda r: "/10" in r["url"]),
        (["crawled_at>=2026-01-01T00:00:30Z"], lambda r: r["crawled_at"] >= "2026-01-01T00:00:30Z"),
    ],
)
def test_a_filter_leaves_the_records_that_meet_it(varied: Desk, folder: Folder, where, holds) -> None:
    records = [*folder.records("shards"), *folder.records("rejected")]
    expected = sorted(record["url"] for record in records if holds(record))
    rows = walk(varied, filter_of([("where", text) for text in where]))
    assert sorted(row["url"] for row in rows) == expected
    assert 0 < len(expected) < 120
    assert listing(varied.catalogues[0], filter_of([("where", text) for text in where])).total == len(expected)


@pytest.mark.parametrize(
    "name", [name for name, field in FIELDS.items() if field.is_single and name not in list(SIGNALS)[3:]]
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_in_any_order_each_record_comes_exactly_once(varied: Desk, monkeypatch, name: str, sign: str) -> None:
    monkeypatch.setattr(listing_module, "PAGE", 17)
    rows = walk(varied, Filter(sort=sign + name))
    assert len(rows) == len({row["id"] for row in rows}) == 120
    values = [row[name] for row in rows if row.get(name) is not None]
    assert values == sorted(values, reverse=bool(sign))


def test_words_are_looked_for_in_title_and_url_and_texts_in_the_text(varied: Desk, folder: Folder) -> None:
    assert {row["title"] for row in walk(varied, Filter(words="bees 42"))} == {"Page 42 of <b>Bees</b>"}
    records = [*folder.records("shards"), *folder.records("rejected")]
    with_text = {r["url"] for r in records if all(w in r.get("text", "").lower() for w in ("page", "7."))}
    assert {row["url"] for row in walk(varied, Filter(text="PAGE 7."))} == with_text != set()


def test_a_hit_in_a_text_is_shown_with_what_stands_around_it(varied: Desk) -> None:
    shown = varied.page("/0/documents", ("text", "PAGE 7."))
    assert 'class="context">The text of <mark>page</mark> 7. The text' in shown
    assert listing_module.context("a" * 200 + " <i>Salt</i> " + "b" * 200, "salt") == (
        "…" + "a" * 86 + " <i>", "Salt", "</i> " + "b" * 85 + "…"
    )  # fmt: skip


@pytest.mark.parametrize(
    "where", [["state=kept", "language=de"], ["title~<b>", "quality_score>=0.5"], ["domain!=it's"]]
)
def test_a_filter_is_taken_elsewhere_as_sql_and_as_a_table(varied: Desk, folder: Folder, where: list[str]) -> None:
    wanted = filter_of([("where", text) for text in where])
    urls = [row["url"] for row in walk(varied, wanted)]
    with query(Place(str(folder.path)), wanted.statement) as (names, rows):
        assert {dict(zip(names, row, strict=True))["url"] for row in rows} == {*urls} != set()
    shown = html.unescape(varied.page("/0/documents", *(("where", text) for text in where)))
    assert shlex.quote(wanted.statement) in shown
    answer = varied.ask(f"/0/documents.csv{wanted.query}")
    assert answer.headers["content-type"].startswith("text/csv")
    assert sorted(row["url"] for row in csv.DictReader(io.StringIO(answer.body))) == sorted(urls)


def test_a_table_runs_nothing_in_a_spreadsheet_and_searches_no_texts(
    folder: Folder, kept, serve: Callable[..., Desk]
) -> None:
    corpus = folder.opened()
    corpus.keep(kept(1, title="=1+1"))
    corpus.close()
    desk = serve(folder.path)
    assert ",'=1+1," in desk.ask("/0/documents.csv").body
    assert desk.ask("/0/documents.csv?text=page").status == 400


def test_a_search_in_texts_that_takes_too_long_says_how_far_it_came_and_goes_on(varied: Desk) -> None:
    ticks = iter(range(0, 10_000, 3))
    listing_module_chunk = listing_module._CHUNK
    try:
        listing_module._CHUNK = 10
        page, searched, found = Filter(text="page 1"), 0, []
        pages = 0
        while page is not None:
            part = listing(varied.catalogues[0], page, clock=lambda: float(next(ticks)))
            page, searched, pages = part.next, searched + part.searched, pages + 1
            found += [row["url"] for row in part.rows]
    finally:
        listing_module._CHUNK = listing_module_chunk
    assert pages > 3
    assert searched == 120
    assert sorted(found) == sorted(row["url"] for row in walk(varied, Filter(text="page 1")))


def test_the_address_says_everything_and_reads_back_as_it_was_written(varied: Desk) -> None:
    wanted = filter_of(
        [("where", "domain=a=b&c"), ("where", "title~<é>"), ("q", "x y"), ("text", "z"), ("sort", "title")]
    )
    assert filter_of(parse_qsl(wanted.query[1:])) == wanted
    shown = varied.page("/0/documents", ("where", "state=kept"), ("where", "language=de"), ("sort", "quality_score"))
    assert links(shown, "after=") == []  # twenty fit on one page
    everything = varied.page("/0/documents", ("where", "state=kept"), ("sort", "quality_score"))
    (following,) = links(everything, "after=")
    assert "where=state%3Dkept" in following
    assert "sort=quality_score" in following
    assert varied.page(following).count("<tr>") - 1 == 10


def test_the_form_adds_a_condition_and_a_chip_takes_it_away(varied: Desk) -> None:
    given = [("where", "state=kept"), ("field", "language"), ("operator", "="), ("value", "de")]
    shown = varied.page("/0/documents", *given)
    assert "20 documents" in shown
    away = [link for link in links(shown) if link == "/0/documents?where=state%3Dkept"]
    assert away != []
    assert "60 documents" in varied.page(away[0])


def test_texts_of_pages_are_shown_and_never_become_part_of_the_page(varied: Desk) -> None:
    shown = varied.page("/0/documents", ("q", "Bees"))
    assert "&lt;b&gt;Bees&lt;/b&gt;" in shown
    assert "<b>" not in shown


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("where=nothing%3D1", "is not a field of the record"),
        ("where=language", "expected FIELD=VALUE"),
        ("where=quality_score%3Dhigh", "holds numbers"),
        ("where=quality_score%3Dnan", "holds numbers"),
        ("where=pii_flag%3Dmaybe", "is true or false"),
        ("where=quality_score~1", "holds no text"),
        ("where=title%3E", "expected a value"),
        ("sort=text", "expected a field of the record"),
        ("sort=id;drop table records", "expected a field of the record"),
        ("where=%22;select 1%3D1", "is not a field of the record"),
        ("after=nonsense", "not a place in a list"),
        ("after=%5B%7B%7D,1%5D", "not a place in a list"),
        ("after=%5B1%5D", "not a place in a list"),
        ("&".join(["where=language%3Den"] * (MAX_CONDITIONS + 1)), "expected at most"),
        ("where=title%3D" + "x" * 600, "longer than"),
    ],
)
def test_what_is_no_filter_is_told_in_a_sentence(varied: Desk, query: str, sentence: str) -> None:
    answer = varied.ask(f"/0/documents?{quote(query, safe='=&%')}")
    assert (answer.status, sentence in answer.body) == (400, True), answer.body


@pytest.mark.parametrize(
    "value", ["'", '"', "' OR 1=1 --", "%", "_", "\\", "a\0b", "ünïcode", "x" * 400, "=x", "1e999"]
)
def test_a_value_is_a_value_whatever_stands_in_it(varied: Desk, value: str) -> None:
    for operator in OPERATORS:
        answer = varied.ask(f"/0/documents?where={quote(f'title{operator}{value}')}")
        assert answer.status == 200, answer.body


def test_after_a_place_that_fits_no_type_the_answer_is_a_sentence(varied: Desk) -> None:
    for after in ('["x",1]', "[1e400,1]", "[true,1]", '[null,"x"]', "[1," + "9" * 40 + "]"):
        assert varied.ask(f"/0/documents?sort=quality_score&after={quote(after)}").status in (200, 400)


def test_operators_of_two_characters_are_read_whole() -> None:
    assert [str(condition_of(f"word_count{o}5").test) for o in OPERATORS if o != "~"] == [
        o for o in OPERATORS if o != "~"
    ]
    with pytest.raises(FilterError):
        condition_of("word_count~5")


def test_hostile_records_are_shown_harmlessly(folder: Folder, kept, serve: Callable[..., Desk]) -> None:
    corpus = folder.opened()
    hostile = [
        "<script>alert(1)</script>", "\x00\x07\x1b[2J", "\u202eevil\u2066", "x" * 200_000, "\n" * 100_000,
        "{{ 7 * 7 }}", "javascript:alert(1)", '"><img src=x onerror=alert(1)>',
    ]  # fmt: skip
    for n, text in enumerate(hostile):
        corpus.keep(kept(n, title=text, domain=text[:300], language=text[:20], text=text))
    corpus.close()
    desk = serve(folder.path)
    for path in ("/0/documents", "/0/"):
        shown = desk.page(path)
        assert len(shown) < 200_000
        assert re.search("<script>|<img|\x00|\x1b|\u202e|7 \\* 7 }}<", shown.replace("{{ 7 * 7 }}", "")) is None


def test_a_damaged_shard_is_told_with_its_name(folder: Folder, serve: Callable[..., Desk]) -> None:
    folder.filled(range(3))
    (path,) = (folder.path / "shards").iterdir()
    path.write_bytes(path.read_bytes()[:-20])
    shutil.rmtree(folder.path / "index")  # it was made when the shard was sealed, and is made again now
    answer = serve(folder.path).ask("/0/")
    assert answer.status == 500
    assert path.name in answer.body
    assert "cannot be read to its end" in answer.body and "restore this file from a copy" in answer.body


def test_a_bar_leads_to_as_many_documents_as_it_says(varied: Desk) -> None:
    shown = varied.page("/0/")
    for url, kept, lost in re.findall(r'<a href="([^"]+)" aria-label="[^"]*: ([\d,]+) kept, ([\d,]+) not"', shown):
        total = int(kept.replace(",", "")) + int(lost.replace(",", ""))
        assert urlsplit(url).path == "/0/documents"
        assert f"{total:,} document" in varied.page(url.replace("&amp;", "&")), url
    row = r'<th scope="row"><a href="([^"]+)">[^<]+</a>.*?class="n">([\d,]*)</td><td class="n">([\d,]*)</td>'
    rows = re.findall(row, shown, re.DOTALL)
    assert len(rows) > 5
    for url, kept, lost in rows:
        total = int(kept.replace(",", "") or 0) + int(lost.replace(",", "") or 0)
        assert f"{total:,} document" in varied.page(url.replace("&amp;", "&")), url


@pytest.mark.parametrize("field", list(DRAWN))
def test_any_field_has_a_figure_whose_bars_hold_every_record(varied: Desk, field: str) -> None:
    found = figure(varied.catalogues[0], Filter(), field)
    without = found.empty.count if found.empty else 60 if field == "reason" else 0
    assert sum(bar.count for bar in found.bars) + without == 120
    assert f'<h2 id="f1">{field}</h2>' in varied.page("/0/", ("field", field))


def test_one_record_that_is_alone_has_a_page_as_well(
    folder: Folder, serve: Callable[..., Desk], tmp_path: Path
) -> None:
    folder.filled(range(1))
    desk = serve(folder.path)
    assert "1 document " in desk.page("/0/documents")
    assert desk.ask("/1/").status == 404


def test_shards_in_parquet_are_shown_like_all_others(folder: Folder, serve: Callable[..., Desk]) -> None:
    folder.filled(range(5), SHARD_FORMAT="parquet")
    catalogue = serve(folder.path).catalogues[0]
    keys = [row[0] for row in catalogue.rows("SELECT id FROM records ORDER BY id")]
    found = catalogue.record(keys[2])
    assert found is not None
    assert found[0]["url"] == "https://example.org/2"
    assert [text for _, text in catalogue.texts(keys)] == [record["text"] for record in _records(catalogue, keys)]


def _records(catalogue, keys: list[int]) -> list[dict]:
    return [catalogue.record(key)[0] for key in keys]


def test_the_catalogue_is_made_of_the_index_and_makes_what_is_missing_of_it(
    folder: Folder, kept, serve: Callable[..., Desk]
) -> None:
    corpus = folder.opened()
    for n in range(3):
        corpus.keep(kept(n, quality_signals={"profile": "prose", "gopher_words": n}))
    corpus.close()
    index = folder.path / "index"
    shutil.rmtree(index, ignore_errors=True)
    first = serve(folder.path).catalogues[0].rows("SELECT * FROM records ORDER BY id")
    made = {path: path.stat().st_mtime_ns for path in index.rglob("*.parquet")}
    assert made
    again = serve(folder.path).catalogues[0].rows("SELECT * FROM records ORDER BY id")
    assert again == first
    assert {path: path.stat().st_mtime_ns for path in index.rglob("*.parquet")} == made


def test_the_index_is_asked_where_it_lies_and_nothing_is_copied(
    folder: Folder, serve: Callable[..., Desk], tmp_path: Path
) -> None:
    folder.filled(range(5))
    catalogue = serve(folder.path).catalogues[0]
    assert catalogue.rows("SELECT count(*) FROM records") == [(5,)]
    assert catalogue.rows("SELECT database_name FROM duckdb_tables() WHERE estimated_size > 2") == []
    assert [path for path in tmp_path.rglob("*.duckdb*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["corpus", "./corpus", "other/../corpus", "it's"])
def test_a_corpus_is_found_by_any_name_of_its_folder(
    folder: Folder, serve: Callable[..., Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder.filled(range(3))
    (tmp_path / "here" / "other").mkdir(parents=True)
    shutil.copytree(folder.path, tmp_path / "here" / ("corpus" if "corpus" in name else name))
    monkeypatch.chdir(tmp_path / "here")
    assert "3 documents" in serve(name).page("/0/documents")


def test_a_catalogue_is_closed_while_pages_are_being_asked_for(folder: Folder, tmp_path: Path) -> None:
    folder.filled(range(3))
    for n in range(20):
        catalogue = Catalogue(Place(str(folder.path)), tmp_path / f"{n}.duckdb")
        catalogue.start()
        assert catalogue.wait(LIMIT)
        asked = [threading.Thread(target=_ask_until_closed, args=(catalogue,)) for _ in range(3)]
        for thread in asked:
            thread.start()
        time.sleep(0.01)
        catalogue.close()
        for thread in asked:
            thread.join(LIMIT)
        assert not any(thread.is_alive() for thread in asked)


def _ask_until_closed(catalogue: Catalogue) -> None:
    with suppress(NotReadyError):
        while True:
            catalogue.rows("SELECT 1")


def test_no_file_but_the_index_is_read(folder: Folder, serve: Callable[..., Desk]) -> None:
    folder.filled(range(5))
    catalogue = serve(folder.path).catalogues[0]
    (shard,) = (folder.path / "shards").iterdir()
    for sql in (
        "SELECT * FROM read_text('/etc/hostname')",
        f"SELECT * FROM read_blob('{shard}')",
        "SET enable_external_access = true",
        f"COPY (SELECT 1) TO '{folder.path}/written.csv'",
    ):
        with pytest.raises((duckdb.Error, StorageError), match=r"(?i)permission|disabled|locked"):
            catalogue.rows(sql)
    assert not (folder.path / "written.csv").exists()


def test_an_index_that_goes_below_an_open_page_is_told_and_a_start_makes_it_again(
    folder: Folder, serve: Callable[..., Desk]
) -> None:
    folder.filled(range(5))
    desk = serve(folder.path)
    shutil.rmtree(folder.path / "index")
    answer = desk.ask("/0/documents")
    assert (answer.status, "the index has changed since it was opened" in answer.body) == (500, True)
    assert "5 documents" in serve(folder.path).page("/0/documents")


def test_an_index_with_other_counts_than_the_manifest_is_told(folder: Folder, serve: Callable[..., Desk]) -> None:
    folder.filled(range(5))
    serve(folder.path)
    (path,) = (folder.path / "index" / "shards").glob("*.parquet")
    parquet.write_table(parquet.read_table(path).slice(0, 3), path)
    answer = serve(folder.path).ask("/0/documents")
    assert (answer.status, "3 records instead of the 5" in answer.body) == (500, True)


def test_an_index_without_a_column_of_today_leaves_it_empty(folder: Folder, kept, serve: Callable[..., Desk]) -> None:
    corpus = folder.opened()
    corpus.keep(kept(1, license_tag="CC-BY-4.0"))
    corpus.close()
    serve(folder.path)
    (path,) = (folder.path / "index" / "shards").glob("*.parquet")
    table = parquet.read_table(path)
    parquet.write_table(table.drop_columns(["license_tag", "quality_signals"]), path)
    found = (
        serve(folder.path).catalogues[0].rows("SELECT state, license_tag, profile, signal_gopher_words FROM records")
    )
    assert found == [("kept", None, None, None)]


def test_a_corpus_that_cannot_be_written_is_shown_from_an_index_of_the_session(
    folder: Folder, kept, serve: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = folder.opened()
    corpus.keep(kept(1))
    corpus.close()
    shutil.rmtree(folder.path / "index", ignore_errors=True)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    assert serve(folder.path).catalogues[0].rows("SELECT count(*) FROM records") == [(1,)]
    assert not (folder.path / "index").exists()


@pytest.fixture
def stated(folder: Folder, kept, serve: Callable[..., Desk]) -> Catalogue:
    """Page 0 without a statement, 1 with one of robots.txt, 2 with two."""
    corpus = folder.opened()
    robots = {"protocol": "robots", "carrier": "robots.txt", "value": "GPTBot", "verdict": "allowed"}
    tdm = {"protocol": "tdmrep", "carrier": "header", "value": "0", "verdict": "allowed"}
    for n, statements in enumerate(([], [robots], [robots, tdm])):
        signals = {"profile": "prose", "gopher_words": 100 * n}
        corpus.keep(kept(n, optout_signals=statements, quality_signals=signals))
    corpus.close()
    return serve(folder.path).catalogues[0]


@pytest.mark.parametrize(
    ("where", "pages"),
    [
        ("optout_signals.protocol=robots", "12"),
        ("optout_signals.protocol=tdmrep", "2"),
        ("optout_signals.protocol!=tdmrep", "01"),
        ("optout_signals.value~gpt", "12"),
        ("optout_signals.protocol=", "0"),
        ("optout_signals.protocol!=", "12"),
        ("optout_signals.protocol=x' OR true --", ""),
        ("quality_signals.gopher_words>=100", "12"),
        ("quality_signals.profile=prose", "012"),
    ],
)
def test_a_part_of_a_nested_field_is_a_filter(stated: Catalogue, where: str, pages: str) -> None:
    found = listing(stated, filter_of([("where", where), ("sort", "url")])).rows
    assert "".join(row["url"][-1] for row in found) == pages


@pytest.mark.parametrize(
    "where", ["optout_signals.protocol>=a", "optout_signals.nothing=a", "quality_signals.nothing=1"]
)
def test_a_part_that_there_is_not_is_told(where: str) -> None:
    with pytest.raises(FilterError, match="where="):
        condition_of(where)


def test_a_value_of_the_form_is_taken_as_it_is_and_a_condition_of_the_address_may_have_several(varied: Desk) -> None:
    given = [("field", "title"), ("operator", "~"), ("value", "ants and language=de")]
    shown = varied.page("/0/documents", *given)
    assert "0 documents" in shown
    (written,) = filter_of([("where", 'title~"ants and language=de"')]).conditions
    assert f'value="{html.escape(str(written), quote=True)}"' in shown.replace("&#34;", "&quot;")
    several = "(language=de or language=fr) and not state=hold"
    rows = walk(varied, filter_of([("where", several)]))
    assert {(row["language"], row["state"]) for row in rows} == {
        ("de", "kept"), ("fr", "kept"), ("de", "rejected"),
    }  # fmt: skip
    assert "not (state=hold)" in varied.page("/0/documents", ("where", several))
    assert "expected one of" in varied.ask("/0/documents?field=title&operator=or&value=x").body


def test_of_a_list_each_item_has_a_bar_that_leads_to_its_documents(
    folder: Folder, kept, serve: Callable[..., Desk]
) -> None:
    corpus = folder.opened()
    for n, names in enumerate((["sql", "python"], ["sql", "sql"], [], ["c"])):
        corpus.keep(kept(n, code_languages=names))
    corpus.close()
    catalogue = serve(folder.path).catalogues[0]
    found = figure(catalogue, Filter(), "code_languages")
    assert {bar.label: bar.count for bar in found.bars} == {"sql": 2, "c": 1, "python": 1}
    assert found.empty is not None and found.empty.count == 1
    assert [listing(catalogue, bar.link).total for bar in (*found.bars, found.empty)] == [2, 1, 1, 1]
