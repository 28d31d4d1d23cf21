"""What the accounts count, SQL on the index counts too: docs/report.md has the query."""

from __future__ import annotations

import re

import pytest

from crawler.dataset.query import query
from crawler.observe.report import accounts
from tests.support.places import PROJECT
from tests.support.three_domains import Folder, fill

pytest.importorskip("pyarrow", reason="pyarrow is optional")
pytest.importorskip("duckdb", reason="duckdb is optional")


def test_the_query_of_the_page_gives_the_accounts_by_domain(tmp_path):
    fill(tmp_path / "corpus")
    place = Folder(tmp_path / "corpus").place
    text = (PROJECT / "docs" / "report.md").read_text("utf-8")
    (sql,) = re.findall(r'gristmill dataset query corpus "(select .*?)"', text, re.DOTALL)
    with query(place, sql) as (names, rows):
        found = [dict(zip(names, row, strict=True)) for row in rows]
    groups = [account.figures() | {"domain": account.name} for account in accounts.read(place).groups["domain"]]
    wanted = [{name: group[name] for name in found[0]} for group in groups if group["kept"]]
    assert sorted(found, key=str) == sorted(wanted, key=str) and len(found) > 1
