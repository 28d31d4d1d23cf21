"""Columns are made of buffers: the same table as pyarrow's own, and no pandas for it."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.storage.files.arrays import EXACT, table_of
from tests.support.places import PROJECT

pa = pytest.importorskip("pyarrow", reason="pyarrow is optional")

SPAN = pa.struct([("start", pa.int64()), ("type", pa.string())])
SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("count", pa.int64()),
        ("score", pa.float64()),
        ("flag", pa.bool_()),
        ("names", pa.list_(pa.string())),
        ("spans", pa.list_(SPAN)),
    ]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "text": st.none() | TEXTS,
            "count": st.none() | INTEGERS,
            "score": st.none() | st.floats(allow_nan=False) | st.integers(-EXACT, EXACT),
            "flag": st.none() | st.booleans(),
            "names": st.none() | st.lists(st.none() | TEXTS, max_size=3),
            "spans": st.none() | st.lists(st.fixed_dictionaries({"start": INTEGERS, "type": TEXTS}), max_size=3),
        },
    ),
    max_size=20,
)
SCRIPT = """
import io, sys
from crawler.storage.files.parquet import ParquetRows
with ParquetRows(io.BytesIO(), rejected=False) as rows:
    rows.add({"url": "https://example.org/"}, 31)
print("pandas" in sys.modules)
"""


@settings(deadline=None)
@given(ROWS)
def test_a_table_is_the_one_that_pyarrow_makes_of_the_same_rows(rows):
    made = table_of(pa, rows, SCHEMA)
    made.validate(full=True)
    assert made.equals(pa.Table.from_pylist(rows, schema=SCHEMA))


@pytest.mark.parametrize(
    "row", [{"text": 1}, {"text": "\ud800"}, {"count": "x"}, {"count": 2**63}, {"score": "x"}, {"score": 2**60 + 1}]
)
def test_a_value_of_another_type_is_an_error_and_no_other_value(row):
    with pytest.raises((TypeError, ValueError, OverflowError, pa.ArrowException)):
        table_of(pa, [row], SCHEMA)


def test_writing_a_file_loads_no_pandas():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert done.stdout == "False\n"
