"""The evaluation on labelled pages measures what it says, and a broken floor is an error."""

from __future__ import annotations

import json

import pytest

from bench.places import SHARED_DATA
from bench.quality import eval_pages
from bench.quality.eval_pages import Page, Result, half_of, score


def result(name: str, value: float, kind: str = "article", group: str = "labelled") -> Result:
    return Result(name, group, kind, f"http://{name}.test/", value, value, value, "trafilatura-fast", 0.01)


def test_the_floors_are_those_that_were_agreed():
    assert eval_pages.FLOORS.keys() == {"labelled", "article", "packages"}
    assert eval_pages.FLOORS["labelled"] >= 0.825
    assert eval_pages.FLOORS["article"] >= 0.935
    assert eval_pages.FLOORS["packages"] >= 0.935


@pytest.mark.parametrize(
    ("expected", "found", "f1"),
    [
        ("a b b", "a b b", 1.0),
        ("a b b c", "A, b!", 2 / 3),
        ("a", "b", 0.0),
        ("", "", 1.0),
        ("a", "", 0.0),
        ("", "a", 0.0),
    ],
)
def test_words_are_compared_as_a_multiset(expected, found, f1):
    assert score(expected, found)[0] == pytest.approx(f1)


def test_the_text_of_a_package_is_read_in_the_declared_charset_and_without_the_generators_menus():
    korean = "<meta charset=EUC-KR><div id=content><h1>모듈</h1><p>설명</p></div>"
    assert eval_pages._body_text(korean.encode("euc-kr")).split() == ["모듈", "설명"]
    plain = "<div role=main><p>Äpfel</p></div>"
    assert eval_pages._body_text(plain.encode()).split() == ["Äpfel"]
    sqlite = "<body><div class=nosearch><a href=/>Home</a></div><p>text</p><button>hide</button></body>"
    assert eval_pages._body_text(sqlite.encode()).split() == ["text"]
    apache = "<body><div id=page-content><div class=toplang><p>Languages: en | ko</p></div><p>text</p></div></body>"
    assert eval_pages._body_text(apache.encode()).split() == ["text"]
    sphinx = "<body><div class=related>modules</div><div class=sphinxsidebar>Contents</div><p>text</p></body>"
    assert eval_pages._body_text(sphinx.encode()).split() == ["text"]


def test_the_pages_of_a_domain_are_all_in_one_half():
    halves = [half_of(f"site{n}.test") for n in range(400)]
    assert halves == [half_of(f"site{n}.test") for n in range(400)]
    assert 160 < sum(halves) < 240


def test_a_mean_below_a_floor_is_an_error_and_an_absent_set_is_none(capsys):
    good = [result("a", 0.95), result("b", 0.97)]
    assert eval_pages.verdict(good) == 0
    assert "labelled: 0.9600" in capsys.readouterr().out
    assert eval_pages.verdict([*good, result("c", 0.1)]) == 1
    assert eval_pages.verdict([*good, result("d", 0.5, "python3.11-doc", "packages")]) == 1


def test_results_are_compared_page_by_page(tmp_path, capsys):
    before = {r.id: r for r in (result("a", 0.5), result("b", 0.9))}
    now = [result("a", 0.7), result("b", 0.8)]
    eval_pages.table(now, before)
    assert "+0.0500      1      1" in capsys.readouterr().out
    eval_pages.list_worst(now, before, 5)
    assert capsys.readouterr().out.startswith("-0.100 0.900 -> 0.800 labelled article b")


def test_every_page_is_measured_by_the_stages():
    sentence = "Nobody has found a better way to make a spoon of wood in all these years. "
    html = f"<html><body><article><p>{sentence * 9}</p></article></body></html>".encode()
    pages = [Page("1", "labelled", "article", "http://a.test/", html, sentence * 9)]
    assert [(r.value, r.extractor) for r in eval_pages.measure(pages)] == [(1.0, "trafilatura-fast")]


@pytest.mark.skipif(not (SHARED_DATA / "wcxb-dev.jsonl.zst").is_file(), reason="needs ../shared/data")
def test_the_shared_pages_are_run_and_saved(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["x", "--limit", "3", "--cache", str(tmp_path), "--save", str(tmp_path / "r.jsonl")]
    )
    eval_pages.main()
    saved = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [r["group"] for r in saved] == ["labelled"] * 3 + ["agreement"] * 3
    monkeypatch.setattr(
        "sys.argv", ["x", "--limit", "3", "--cache", str(tmp_path), "--against", str(tmp_path / "r.jsonl")]
    )
    eval_pages.main()
    assert "+0.0000      0      0" in capsys.readouterr().out


def test_without_the_pages_it_says_what_to_give(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["x", "--data", str(tmp_path)])
    assert eval_pages.main() == 1
    assert "give --data" in capsys.readouterr().err
