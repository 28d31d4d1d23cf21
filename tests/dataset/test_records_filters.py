"""A condition means the same wherever it is read: of a record, in SQL on the view, and written out again."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.dataset.records.database import connect, quoted
from crawler.dataset.records.fields import FIELDS, OF_RECORD, stored
from crawler.dataset.records.filters import MAX_DEPTH, OPERATORS, Comparison, FilterError, Joined, read
from crawler.dataset.records.view import KeyedTable, open_view
from crawler.storage.files.errors import StorageError
from crawler.storage.files.record_index import index_file

pytest.importorskip("pyarrow", reason="pyarrow is optional")
duckdb = pytest.importorskip("duckdb", reason="duckdb is optional")

RECORD = {
    "word_count": 500,
    "language": "de",
    "pii_flag": False,
    "license_tag": None,
    "title": "Salt and (old) pepper",
    "code_languages": ["python", "sql"],
    "pii_entity_types": [],
    "optout_signals": [{"protocol": "tdmrep", "carrier": "header", "value": "1", "verdict": "disallow"}],
    "quality_signals": {"profile": "prose", "gopher_words": 490, "note": "many"},
}
TEXTS = ("", "de", "DE", "Straße", "ΑΣ", "ας", "İ", "a and b", 'say "x"', "it's", "(", ")", " x ", "z\0", "\U0001f600")
NUMBERS = (-1, 0, 1, 0.5, 500, 2**40)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("language = de and word_count > 400", True),
        ("language = fr or word_count > 400", True),
        ("language=fr or word_count>400 and pii_flag=true", False),
        ("(language=fr or word_count>400) and pii_flag=false", True),
        ("not language=fr AND NOT (word_count < 5 OR pii_flag=true)", True),
        ("language = 'de' and title ~ PEPPER", True),
        ('title = "Salt and (old) pepper"', True),
        ("title = Salt and (old) pepper", True),
        ("(title = Salt and (old) pepper) and language = de", True),
        ("title = Salt and (old) pepper and language = fr", False),
        ("license_tag=", True),
        ("license_tag!= and language=de", False),
        ("license_tag!=CC0-1.0", True),
        ("not license_tag=CC0-1.0", True),
        ("license_tag>=A or license_tag<A", False),
        ("code_languages=sql and code_languages!=c", True),
        ("code_languages~PYTH", True),
        ("pii_entity_types= and code_languages!=", True),
        ("optout_signals.protocol=tdmrep", True),
        ("optout_signals!= and quality_signals!=", True),
        ("state=kept", True),
        ("profile=prose and quality_signals.profile=prose", True),
        ("signal_gopher_words=490 and quality_signals.gopher_words<491", True),
        ("reason=", True),
    ],
)
def test_a_condition_holds_for_the_records_it_describes(text: str, holds: bool) -> None:
    assert read(text, OF_RECORD).holds(RECORD) is holds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected FIELD=VALUE"),
        ("language", "expected FIELD=VALUE"),
        ("wordcount>3", r"'wordcount' is not a field of the record \(docs/record.md\); did you mean 'word_count'"),
        ("language=de and wordcount>3", r"'wordcount' is not a field.*character 17"),
        ("language=de and title~", "title needs a value"),
        ("(language=de", r"expected \) here.*character 13"),
        ("language='de') or (word_count>3", r"expected and, or, or the end instead of '\).*character 14"),
        ("word_count>many", "holds numbers; expected one instead of 'many'"),
        ("word_count>1e999", "holds numbers"),
        ("word_count~5", "holds no text"),
        ("pii_flag=maybe", "is true or false"),
        ("pii_flag>false", "is true or false"),
        ("redirects>=2", "is a list"),
        ("quality_signals=prose", "holds objects"),
        ("not not", "expected FIELD=VALUE"),
        ("(" * (MAX_DEPTH + 1) + "language=de" + ")" * (MAX_DEPTH + 1), "within each other"),
        ("not " * 5000 + "language=de", "within each other"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        read(text, OF_RECORD)


def test_a_value_may_have_the_words_of_a_condition_in_it() -> None:
    for text in ("war and peace or not in love", "a = b", "or", "", "'tis", 'x "y"', "f(x) and (y", " x "):
        written = str(Comparison(OF_RECORD["title"], "=", text))
        assert read(written, OF_RECORD) == Comparison(OF_RECORD["title"], "=", text), written
    assert read("title=war and peace or not in love", OF_RECORD).holds({"title": "war and peace or not in love"})


def test_the_text_of_a_page_can_be_asked_of_its_record_alone() -> None:
    assert read("text ~ gaffer", OF_RECORD).holds({"text": "A GAFFER."})
    with pytest.raises(FilterError, match="'text' is not a field"):
        read("text ~ gaffer", FIELDS)


class Made:
    """Conditions and records at random."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        kinds = [f for f in FIELDS.values() if f.is_single or f.kind == "list<string>"]
        self._fields = [FIELDS[n] for n in ("title", "word_count", "quality_score", "pii_flag", "redirects", "state",
                        "profile", "signal_gopher_words", "optout_signals.value", "license_tag")]  # fmt: skip
        self._fields += self._rng.sample(kinds, 10)

    def condition(self, depth: int = 3):
        kind = self._rng.random()
        if depth and kind < 0.2:
            return Joined("not", (self.condition(depth - 1),))
        if depth and kind < 0.6:
            parts = tuple(self.condition(depth - 1) for _ in range(self._rng.randint(2, 3)))
            return Joined(self._rng.choice(("and", "or")), parts)
        field = self._rng.choice(self._fields)
        if self._rng.random() < 0.2:
            return Comparison(field, self._rng.choice(("=", "!=")), "")
        if field.is_number:
            return Comparison(field, self._rng.choice(OPERATORS[:-1]), f"{self._rng.choice(NUMBERS)}")
        if field.kind == "bool":
            return Comparison(field, self._rng.choice(("=", "!=")), self._rng.choice(("true", "false")))
        tests = OPERATORS if field.kind == "string" else ("=", "!=", "~")
        words = TEXTS[1:] if field.name not in ("state", "profile") else ("kept", "hold", "unchanged", "prose")
        return Comparison(field, self._rng.choice(tests), self._rng.choice(words))

    def record(self, number: int) -> dict:
        rng = self._rng
        text, numbers = (lambda: rng.choice((None, *TEXTS))), (lambda: rng.choice((None, *NUMBERS)))
        record: dict = {"url": f"https://example.org/{number}", "pii_flag": rng.choice((True, False, None))}
        record |= {name: text() for name in ("title", "license_tag", "language", "etag", "extractor")}
        record |= {"word_count": rng.choice((0, 1, 500, 0.5)), "quality_score": numbers(), "warc_offset": 2**40}
        record["redirects"] = rng.choices(TEXTS, k=rng.randint(0, 3))
        record["code_languages"] = rng.choice((None, [], ["de"], "de"))
        record["quality_signals"] = rng.choice((None, {}, {"profile": "prose", "gopher_words": numbers()}))
        parts = ("protocol", "carrier", "value", "verdict")
        statements = [dict.fromkeys(parts, "") | {"value": rng.choice(TEXTS)} for _ in range(rng.randint(0, 2))]
        record["optout_signals"] = rng.choice((statements, "none of ours"))
        if rng.random() < 0.5:
            record |= {
                "stage": "quality",
                "reason": rng.choice(("low_quality", "hold_paused", "unchanged")),
                "detail": text(),
            }
        return record


@pytest.fixture(scope="module")
def viewed(tmp_path_factory):
    """Two hundred records of any shape, and a view of them."""
    from crawler.storage.files.parquet import ParquetRows

    folder, made = tmp_path_factory.mktemp("view"), Made(7)
    records = [made.record(n) for n in range(200)]
    entries = []
    for kind in ("shards", "rejected"):
        of_kind = [record for record in records if ("reason" in record) is (kind == "rejected")]
        path = index_file(folder, f"{kind}/a.jsonl.zst")
        path.parent.mkdir(parents=True)
        with path.open("wb") as file, ParquetRows(file, rejected=kind == "rejected", without=("text",)) as rows:
            for record in of_kind:
                rows.add(record, 1)
        entries.append({"path": f"{kind}/a.jsonl.zst", "kind": kind, "documents": len(of_kind)})
    with open_view(entries, folder, folder / "spill") as connection:
        yield records, connection


@pytest.mark.parametrize("seed", range(20))
def test_sql_answers_for_the_view_what_the_condition_answers_for_the_records(viewed, seed: int) -> None:
    records, connection = viewed
    made, said = Made(seed), set()
    for _ in range(30):
        condition = made.condition()
        sql, params = condition.sql()
        found = {row[0] for row in connection.execute(f"SELECT url FROM records WHERE {sql}", params).fetchall()}
        assert found == {record["url"] for record in records if condition.holds(record)}, str(condition)
        assert read(str(condition), FIELDS) == condition, str(condition)
        said.add(len(found))
    assert len(said) > 5


def test_every_field_can_be_asked_for_and_its_emptiness_is_the_same_in_both(viewed) -> None:
    records, connection = viewed
    for field in FIELDS.values():
        for test in ("=", "!="):
            condition = Comparison(field, test, "")
            found = connection.execute(f"SELECT count(*) FROM records WHERE {condition.sql()[0]}").fetchone()[0]
            assert found == sum(condition.holds(record) for record in records), condition


def test_a_table_beside_the_records_is_a_struct_of_each_and_a_field_of_a_filter(corpus, tmp_path: Path) -> None:
    urls = [record["canonical_url"] for record in corpus.records()]
    table = tmp_path / "topic's.parquet"
    rows = ", ".join(f"('{url}', {n})" for n, url in enumerate(urls[:5]))
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {rows}) v(canonical_url, score)) TO {quoted(table)}")
    beside = KeyedTable("topic", (table,), ("canonical_url",))
    listed = corpus.manifest()["files"]
    with open_view(listed, corpus.path / "index", tmp_path / "spill", [beside]) as connection:
        counts = "SELECT count(*), count(topic.score) FROM"
        assert connection.execute(f"{counts} documents").fetchone() == (12, 5)
        assert connection.execute(f"{counts} records").fetchone() == (18, 5)
        assert connection.execute("SELECT count(*) FROM topic").fetchone() == (5,)
        fields = FIELDS | {"topic.score": stored("score", "int64", "topic")}
        condition = read("topic.score >= 3 and state = kept", fields)
        sql, params = condition.sql()
        found = connection.execute(f"SELECT canonical_url FROM records WHERE {sql}", params).fetchall()
    assert {url for (url,) in found} == set(urls[3:5])
    assert condition.holds({"topic": {"score": 4}}) and not condition.holds({"topic": None})


def test_an_index_file_with_another_number_of_records_is_told(corpus, tmp_path: Path) -> None:
    listed = [dict(entry) for entry in corpus.manifest()["files"]]
    next(entry for entry in listed if entry["kind"] == "shards")["documents"] += 1
    with pytest.raises(StorageError, match="records instead of the"):
        open_view(listed, corpus.path / "index", tmp_path / "spill")


def test_every_database_is_closed_to_files_it_was_not_given(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with connect(tmp_path / "x.duckdb", tmp_path / "spill") as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS n FROM range(10)")
        assert connection.execute("SELECT sum(n) FROM t").fetchone() == (45,)
        for sql in (f"SELECT * FROM '{tmp_path}/a.csv'", "SET enable_external_access = true", "INSTALL httpfs"):
            with pytest.raises(duckdb.Error):
                connection.execute(sql)


def test_a_database_draws_no_progress_into_the_answer_of_a_process_without_a_script(tmp_path: Path) -> None:
    ours = "connect(None, Path('.')).execute('SELECT current_setting(?)', ['enable_progress_bar']).fetchone()"
    code = f"from pathlib import Path; from crawler.dataset.records.database import connect; print({ours})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "(False,)\n"


@pytest.mark.parametrize(
    ("reason", "state"),
    [(None, "kept"), ("low_quality", "rejected"), ("unchanged", "unchanged"), ("hold_paused", "hold"),
     ("held_pii", "held")],
)  # fmt: skip
def test_a_page_that_is_as_it_was_at_the_visit_before_is_no_rejected_one(reason, state):
    assert FIELDS["state"].of({"reason": reason} if reason else {}) == state
