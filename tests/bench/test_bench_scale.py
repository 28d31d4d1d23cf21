"""The measurement of duplicates at scale compares with the index, and makes the documents that it says."""

from __future__ import annotations

import gzip

import pytest

from bench.scale import cluster, documents, peer
from bench.scale.__main__ import main
from bench.scale.duplicates import differing, rounds, store
from bench.scale.files import read
from bench.scale.simulate import Crawl, Measured, rounds_of, simulate, table
from tests.support.places import PROJECT

pytest.importorskip("duckdb", reason="duckdb is optional")


@pytest.mark.parametrize(("kind", "least"), [("mixed", 200), ("template", 890), ("chain", 300)])
def test_what_is_measured_has_the_verdicts_of_the_index(tmp_path, kind, least):
    store(kind, 1_000, tmp_path)
    found = rounds(tmp_path)
    assert found["duplicates"] >= least and found["undecided"][0] <= 1_000
    assert differing(tmp_path, {})["differ"] == 0


def test_made_documents_are_the_same_for_the_same_seed_and_of_every_kind():
    made = documents.mixed(2_000, 3)
    assert made == documents.mixed(2_000, 3) != documents.mixed(2_000, 4)
    assert len({each.doc_id for each in made}) < len(made) and len({each.owner for each in made}) < len(made)
    assert {each.shingles for each in made} == {10, 30, 500}


def test_what_a_crawl_of_a_billion_pages_needs_stands_in_the_docs_as_the_simulation_says_it():
    assert table(Crawl()) in (PROJECT / "docs/scaling.md").read_text()


def test_the_simulation_grows_with_the_crawl_and_counts_no_rounds_where_one_task_decides_all(monkeypatch, capsys):
    needs = {pages: {row.part: row.needs for row in simulate(Crawl(pages=pages))} for pages in (1e4, 1e10)}
    assert needs[1e4]["duplicates in Spark: rounds"] == "0 and a last task"
    assert needs[1e4]["duplicate index"] == "1.9 MB"
    assert needs[1e10]["duplicate index"] == "1.9 TB: in rounds instead"
    number, looked = rounds_of(1e10, Measured())
    assert number == 16 and looked == pytest.approx(0.57 / (1 - 0.45), rel=0.01)
    monkeypatch.setattr("sys.argv", ["bench.scale", "simulate", "--pages", "1e10"])
    assert main() == 0
    assert "| archive | 1 × 10¹⁰ × 9 kB | 90 TB," in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--pages", "0"], ["--days", "-1"]])
def test_a_crawl_of_nothing_is_refused_with_a_sentence(monkeypatch, capsys, words):
    monkeypatch.setattr("sys.argv", ["bench.scale", "simulate", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "expected numbers above 0" in capsys.readouterr().err


def test_real_files_are_read_as_their_readers_see_them_and_compared(tmp_path):
    words = " ".join(f"word{n} of the almanac" for n in range(120))
    files = {
        "a/doc/page.html": f"<p>{words}</p><script>nobody reads this</script>",
        "b/doc/page.html": f"<h1></h1><div>{words}</div>",  # the same text in another package
        "a/share/man/man1/tool.1.gz": f'.\\" a comment\n.TH TOOL\n{words[::-1]}\n',
        "a/doc/note.txt": "too short",
        "a/lib/program.bin": words,
        "a/doc/damaged.html.gz": "",
    }
    for name, text in files.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("1.gz") else text.encode())
    made = read(tmp_path / "files", 100)
    assert {each.owner for each in made} == {"file:a/doc/page.html", "file:b/doc/page.html",
                                             "file:a/share/man/man1/tool.1.gz"}  # fmt: skip
    assert len({each.doc_id for each in made}) == 2
    assert store("files", 100, tmp_path, tmp_path / "files") == 3
    assert rounds(tmp_path)["duplicates"] == 1
    assert differing(tmp_path, {})["differ"] == 0
    with pytest.raises(ValueError, match="found none"):
        read(tmp_path / "files/a/lib", 100)


def test_where_no_executor_runs_none_is_killed():
    with pytest.raises(RuntimeError, match="expected --master local-cluster"):
        cluster._trouble("kill")


def test_the_same_texts_go_through_datatroves_minhash(tmp_path):
    pytest.importorskip("datatrove", reason="datatrove is a tool of the benches")
    for number in range(6):
        kind = number % 3  # three texts, each of them twice
        words = " ".join(f"{'abc'[kind]}{n} stands in the ledger of the mill" for n in range(60))
        (tmp_path / f"{number}.txt").write_text(words)
    found = peer.load(tmp_path, 10)
    (tmp_path / "work").mkdir()
    said = peer.ours(found, tmp_path / "work") | peer.datatroves(found, tmp_path / "work")
    assert (said["ours_go"], said["datatrove_goes"]) == (3, 3)
