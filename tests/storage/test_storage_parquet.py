"""Records in Parquet: one schema out of one declaration, and every record comes back as it was."""

import dataclasses
import gc
import io
import re
import typing

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.document import RECORD_FIELDS, Columns, Document, Drop, DropReason, Signal
from crawler.storage.files import parquet
from crawler.storage.files.columns import EXTRA, SCHEMA_VERSION, arrow_schema, markdown, rejected_fields
from crawler.storage.files.errors import StorageError
from crawler.storage.files.parquet import ParquetRows, read_json_lines, read_rows
from crawler.storage.files.records import encode, record_of, rejection_of
from crawler.storage.files.shards import write_sealed
from tests.support.places import PROJECT

pa = pytest.importorskip("pyarrow", reason="pyarrow is optional")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")


def filled(name: str, hint: object) -> object:
    """A value of the declared type that is not its default."""
    plain = {str: f"{name} ü", int: 7, float: 0.25, bool: True}
    parts = [part for part in typing.get_args(hint) if part is not type(None)]
    if hint in plain:
        return plain[hint]
    if typing.get_origin(hint) is dict:
        return {"a": {"b": [1, "x", None]}, "c": 0.5}
    if typing.get_origin(hint) is list:
        if parts[0] is Signal:
            return [Signal("robots", "robots.txt", "no", "disallow")]
        return [(1, 4, "PERSON")] if typing.get_origin(parts[0]) is tuple else ["x", "y"]
    return filled(name, parts[0])


def page() -> Document:
    hints = typing.get_type_hints(Columns)
    return Document(**{f.name: filled(f.name, hints[f.name]) for f in dataclasses.fields(Columns)},
                    text_allowed=True, done=["pii"])  # fmt: skip


def through(lines, *, rejected=False):
    file = io.BytesIO()
    with ParquetRows(file, rejected=rejected) as rows:
        for line in lines:
            rows.add(orjson.loads(line), len(line))
    file.seek(0)
    return file


def test_every_field_of_the_record_is_a_column_of_the_documented_type():
    assert arrow_schema().names == [*RECORD_FIELDS, EXTRA]
    assert markdown() in (PROJECT / "docs" / "datasets.md").read_text("utf-8")


def test_every_field_of_a_rejected_record_is_a_column_in_the_order_it_is_written():
    record = rejection_of(page(), Drop("dedup", DropReason.EXACT_DUPLICATE, "x"))
    assert tuple(record) == rejected_fields()
    assert arrow_schema(rejected=True).names == [*rejected_fields(), EXTRA]


def test_kept_and_rejected_records_come_back_byte_by_byte():
    for doc in (page(), Document(url="https://a.example/", text="words")):
        line = encode(record_of(doc))
        assert list(read_json_lines(through([line]))) == [line]
        for verdict in (
            Drop("x", DropReason.OPTOUT),
            Drop("d", DropReason.EXACT_DUPLICATE),
            Drop("q", DropReason.LOW_QUALITY),
        ):
            line = encode(rejection_of(doc, verdict))
            assert list(read_json_lines(through([line], rejected=True))) == [line]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**63 + 9) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "url"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(
        st.dictionaries(st.sampled_from([*RECORD_FIELDS, "reason", "extra", "of a later version"]), VALUES, max_size=6),
        max_size=4,
    )
)
def test_values_of_any_type_and_fields_of_other_versions_are_not_lost(records):
    found = list(read_rows(through([orjson.dumps(record) for record in records])))
    for record, back in zip(records, found, strict=True):
        assert record.items() <= back.items()
        assert all(value is None for name, value in back.items() if name not in record)


def test_the_file_says_its_schema_and_has_statistics_dictionaries_and_row_groups_of_bounded_size(monkeypatch):
    monkeypatch.setattr(parquet, "GROUP_ROWS", 10)
    lines = [encode(record_of(Document(url=f"https://a.example/{n:03d}", language="de"))) for n in range(25)]
    file = pq.ParquetFile(through(lines))
    assert file.schema_arrow.metadata[b"crawler.schema"].decode() == SCHEMA_VERSION
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [10, 10, 5]
    column = file.metadata.row_group(1).column(RECORD_FIELDS.index("url"))
    assert (column.statistics.min, column.statistics.max) == ("https://a.example/010", "https://a.example/019")
    group = file.metadata.row_group(0)
    columns = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    language = columns["language"]
    assert language.compression == "ZSTD" and language.has_dictionary_page


def test_a_row_group_ends_after_its_bytes(monkeypatch):
    monkeypatch.setattr(parquet, "GROUP_BYTES", 3_000)
    lines = [encode(record_of(Document(url=f"https://a.example/{n}"))) for n in range(9)]
    sizes = pq.ParquetFile(through(lines)).metadata
    assert sizes.num_row_groups == -(-9 // -(-3_000 // len(lines[0])))


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"{}\n" * 40])
def test_what_is_no_parquet_is_told(damage):
    with pytest.raises(StorageError, match="restore it from a copy"):
        list(read_rows(io.BytesIO(damage)))


def test_a_flipped_byte_in_the_text_is_told_wherever_the_text_stands_in_the_file():
    content = through([encode(record_of(Document(url="https://a.example/", text="zqxjvw kpmfdh")))]).getvalue()
    places = [found.start() for found in re.finditer(b"kpmfdh", content)]
    told = 0
    for place in places:  # once in its page, which has a checksum; else in statistics, which no reader here uses
        damaged = content[:place] + b"K" + content[place + 1 :]
        try:
            assert [record["text"] for record in read_rows(io.BytesIO(damaged))] == ["zqxjvw kpmfdh"]
        except StorageError as error:
            assert "restore it from a copy" in str(error)
            told += 1
    assert told


def test_a_parquet_file_of_somebody_else_is_no_shard():
    file = io.BytesIO()
    pq.write_table(pa.table({"url": ["x"]}), file)
    with pytest.raises(StorageError, match="not a shard of this project"):
        list(read_rows(file))


def test_a_shard_that_cannot_be_finished_leaves_nothing_and_the_writer_lets_go_of_its_file(tmp_path):
    def lines():
        yield encode(record_of(page()))
        raise StorageError("the journal is damaged")

    with pytest.raises(StorageError, match="journal is damaged"):
        write_sealed(tmp_path / "c-w-000000.parquet", lines())
    gc.collect()  # the writer's finaliser has nothing to complain of: warnings are errors
    assert list(tmp_path.iterdir()) == []
