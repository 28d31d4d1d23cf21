"""`gristmill report --by` and `--check`: what they print, and their exit codes."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from crawler.observe.report import accounts
from crawler.observe.report.accounts import BY
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import Folder, document
from tests.support.places import PROJECT
from tests.trial.made import held_out, with_menu
from tests.trial.made import pages as made_pages


@pytest.mark.parametrize("by", BY)
def test_json_and_csv_have_every_figure_of_every_group(scrapy, corpus, by):
    groups = accounts.read(Place("corpus")).groups[by]
    wanted = [account.as_dict() for account in groups]
    told = json.loads(scrapy("report", "--by", by, "--format", "json", "corpus").out)
    assert told["groups"] == wanted and told["by"] == by and wanted[0]["requests"] == 6
    rows = list(csv.DictReader(io.StringIO(scrapy("report", "--by", by, "--format", "csv", "corpus").out)))
    shown = [{name: "" if value is None else str(value) for name, value in row.items()} for row in wanted]
    assert rows == shown


def test_a_price_gives_costs_and_a_table_names_the_currency(scrapy, corpus, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    plain = scrapy("report", "--by", "domain", "corpus").out
    assert "example.org" in plain and "(all)" in plain and "cost" not in plain
    priced = scrapy("report", "--by", "domain", "-s", "COST_REQUEST=2", "-s", "COST_CURRENCY=CHF", "corpus").out
    assert "CHF" in priced


def test_the_largest_come_first_and_the_rest_is_counted(scrapy, tmp_path, corpus):
    made = corpus.opened("w2")
    for number in range(3):
        made.keep(record_of(document(number, domain=f"d{number % 2}.test", url=f"https://d.test/{number}")))
    made.close()
    told = scrapy("report", "--by", "domain", "--top", "1", "corpus").out
    assert "example.org" in told and "d0.test" not in told and "2 more: --top 3" in told
    names = [
        row["name"] for row in json.loads(scrapy("report", "--by=domain", "--format=json", "corpus").out)["groups"]
    ]
    assert names == ["example.org", "d0.test", "d1.test"]


def test_a_narrow_terminal_has_fewer_columns_but_every_number_whole(scrapy, corpus, monkeypatch):
    wide = {}
    for width in (60, 80, 100, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        told = scrapy("report", "--by", "day", "-s", "COST_REQUEST=1", "corpus").out
        assert "…" not in told and max(map(len, told.splitlines())) <= width
        (day,) = (line.split() for line in told.splitlines() if line.startswith("2026-"))
        wide[width] = day
        more = [int(line.split()[0]) for line in told.splitlines() if "more column" in line]
        assert bool(more) == (len(day) < len(wide[width]) + sum(more))
    assert wide[60] == wide[200][: len(wide[60])] and len(wide[60]) < len(wide[200])


def test_a_group_named_like_a_formula_is_text_in_a_spreadsheet(scrapy, corpus):
    from crawler.storage.files.records import record_of
    from tests.support.corpus_folder import document

    made = corpus.opened("w2")
    made.keep(record_of(document(1, domain="=1+1")))
    made.close()
    assert "\n'=1+1," in scrapy("report", "--by", "domain", "--format", "csv", "corpus").out


def gates(folder, text):
    (folder / "gates.yaml").write_text(text)
    return "report", "--check", "gates.yaml", "corpus"


def test_a_gate_that_a_second_one_would_hide_is_a_wrong_call(scrapy, corpus, tmp_path):
    done = scrapy(*gates(tmp_path, "whole: {kept: {min: 50}}\nwhole: {kept: {min: 1}}\n"))
    assert (done.code, done.out) == (2, "")
    assert "gates.yaml:2:1: whole: given twice" in done.err


def test_gates_that_hold_exit_with_0(scrapy, corpus, tmp_path):
    done = scrapy(*gates(tmp_path, "whole: {uniqueness: {min: 1}, kept: {min: 6, max: 6}}\nday: {kept: {min: 1}}\n"))
    assert (done.code, done.out, done.err) == (0, "3 gates hold for corpus\n", "")
    assert scrapy(*gates(tmp_path, "whole: {kept: {min: 6}}\n")).out == "1 gate holds for corpus\n"


def test_what_is_out_of_bounds_is_named_with_value_and_bound_and_exits_with_3(scrapy, corpus, tmp_path):
    text = """
whole: {kept: {min: 7}, top1_documents: {max: 0.5}, cost: {max: 1}, "pii_rate/PERSON": {max: 0}}
domain: {uniqueness: {max: 0.5}, requests: {min: 9, except: [example.org]}, kept: {min: 9, at_least: 7}}
day: {kept: {min: 9, where: "requests > 1000 or cost > 1 or uniqueness < 0.5"}}
tier: {kept: {min: 1, only: [A, none]}, cost: {max: 1, missing: pass}}
"""
    done = scrapy(*gates(tmp_path, text))
    assert (done.code, done.out) == (3, "")
    assert done.err.splitlines() == [
        "error: whole: kept is 6, below the minimum 7",
        "error: whole: top1_documents is 1, above the maximum 0.5",
        "error: whole: cost has no value (`missing: pass` in the gates accepts that)",
        "error: domain example.org: uniqueness is 1, above the maximum 0.5",
        "error: tier A: kept has no value (`missing: pass` in the gates accepts that)",
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "whole: {uniquenes: {min: 1}}",
            "whole.uniquenes: there is no figure 'uniquenes'; did you mean",
        ),
        (
            "domains: {kept: {min: 1}}",
            "domains: unknown key; did you mean 'domain'?",
        ),
        ("domain: {top1_tokens: {max: 1}}", "domain.top1_tokens: there is no figure 'top1_tokens'"),
        ("whole: {kept: 3}", "whole.kept: expected a mapping with the keys min, max"),
        ("whole: {kept: {min: many}}", "whole.kept.min: expected a number, found 'many'"),
        ("whole: {kept: {max: .nan}}", "whole.kept.max: expected a number, found nan"),
        ("whole: {kept: {min: 2, max: 1}}", "whole.kept: min 2 is larger than max 1"),
        ("whole: {kept: {min: 2, most: 1}}", "whole.kept.most: unknown key; known: min, max,"),
        ("whole: {kept: {min: 2, only: [a]}}", "whole.kept: only, except, at_least and where are for groups"),
        (
            "domain: {kept: {min: 2, where: requests > many}}",
            "domain.kept.where: requests > many: requests holds numbers",
        ),
        ("domain: {kept: {min: 2, where: pages > 1}}", "domain.kept.where: pages > 1: 'pages' is not a figure"),
        ("domain: {kept: {min: 2, only: a}}", "domain.kept.only: expected a list of names"),
        ("domain: {kept: {min: 2, missing: skip}}", "domain.kept.missing: expected fail or pass, found 'skip'"),
        ("domain: 3", "domain: expected figures with their bounds"),
        ("[]", "expected a mapping with the keys whole, domain"),
        ("", "expected a mapping with the keys whole, domain"),
        ("{}", "expected at least one gate"),
        ("a: [", "expected YAML: "),
        ("!!python/object/apply:os.system [exit]", "expected a mapping"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_wrong_call(scrapy, corpus, tmp_path, text, sentence):
    done = scrapy(*gates(tmp_path, text))
    assert (done.code, done.out) == (2, "") and re.search(rf"error: gates\.yaml:1:\d+: {re.escape(sentence)}", done.err)


def test_a_file_that_is_not_there_or_too_large_is_a_wrong_call(scrapy, corpus, tmp_path):
    missing = scrapy("report", "--check", "nothing.yaml", "corpus")
    assert (missing.code, missing.err.count("error: ")) == (2, 1) and "expected a readable file" in missing.err
    large = scrapy(*gates(tmp_path, "#" * 70_000))
    assert large.code == 2 and "at most 65,536" in large.err


def test_the_example_of_the_documentation_can_be_checked(scrapy, corpus):
    done = scrapy("report", "--check", PROJECT / "docs" / "examples" / "gates.yaml", "corpus")
    assert (
        done.code == 3
        and done.err == "error: whole: top1_tokens has no value (`missing: pass` in the gates accepts that)\n"
    )


def test_a_trial_in_the_gates_is_told_with_what_it_compared_and_exits_with_3(scrapy, tmp_path):
    folder, good = Folder(tmp_path / "own"), made_pages(100)

    def grow(worker, records):
        corpus = folder.opened(worker)
        for n, one in enumerate(records):
            corpus.keep(record_of(document(n, url=one["url"], canonical_url=one["url"], text=one["text"])))
        corpus.close()

    grow("w1", good[:50])
    texts = held_out(tmp_path / "texts")
    (tmp_path / "gates.yaml").write_text(f"trial: {{than: released, held_out: {texts}, worse: 0}}")
    first = scrapy("report", "--check", "gates.yaml", "own")
    assert (first.code, first.err) == (0, "")
    assert first.out == (
        "trial: no version of own has the tag released yet: nothing is compared\n1 gate holds for own\n"
    )
    assert scrapy("dataset", "tag", "own", "released").code == 0
    grow("w2", with_menu(good[50:], 0.7))
    done = scrapy("report", "--check", "gates.yaml", "--json", "own")
    found = json.loads(done.out)
    assert (done.code, found["gates"], found["trial"]["compared"]["verdict"]) == (3, 1, "worse")
    assert found["error"]["problems"][0].startswith("trial beside own@released: equal size, all kinds: own +")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--by", "domain", "--html"], "--by cannot be combined with --html"),
        (["--by", "domain", "--check", "g.yaml"], "--by cannot be combined with --check"),
        (["--check", "g.yaml", "--samples", "1"], "--check cannot be combined with --samples"),
        (["--format", "json"], "--format goes with --by"),
        (["--top", "3"], "--top goes with --by"),
        (["--by", "host"], "invalid choice: 'host'"),
    ],
)
def test_what_would_do_nothing_is_refused(scrapy, corpus, words, sentence):
    refused = scrapy("report", *words, "corpus")
    assert (refused.code, refused.out) == (2, "") and sentence in refused.err


def test_no_corpus_is_an_error_that_says_so(scrapy):
    assert scrapy("report", "--by", "day", "nowhere").code == 1


def test_several_corpora_stand_side_by_side_with_their_sums_on_a_narrow_terminal(scrapy, tmp_path, monkeypatch):
    for name, pages in (("one", range(4)), ("two", range(10, 13)), ("three", range(20, 26)), ("four", range(30, 31))):
        Folder(tmp_path / name).filled(pages, worker=name)
    names = ["one", "two", "three", "four"]
    monkeypatch.setenv("COLUMNS", "80")
    done = scrapy("report", *names)
    assert (done.code, done.err) == (0, "")
    assert all(len(line) <= 80 for line in done.out.splitlines())
    rows = {line[:24].strip(): line[24:].split() for line in done.out.splitlines() if line}
    assert rows["kept"] == ["4", "3", "14"] and rows["example.org"] == ["4", "3", "14"]
    assert "2 more corpora: a wider terminal, or --json" in done.out
    assert "counts in each" in done.out
    facts = json.loads(scrapy("report", "--json", *names).out)
    assert [each["kept"] for each in facts["corpora"]] == [4, 3, 6, 1]
    assert (facts["together"]["kept"], facts["together"]["domains"], facts["summary"]) == (
        14,
        {"example.org": 14},
        None,
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--html", "corpus", "other"], "--html goes with one CORPUS_DIR"),
        (["--by", "domain", "corpus", "other"], "--by goes with one CORPUS_DIR"),
        (["corpus", "corpus"], "corpus is given twice"),
        ([], "expected a CORPUS_DIR, or several"),
    ],
)
def test_what_is_of_one_corpus_is_refused_for_several(scrapy, corpus, words, sentence):
    done = scrapy("report", *words)
    assert done.code == 2 and sentence in done.err
