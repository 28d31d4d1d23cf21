"""One image on a host of its own for each way to say no: none is asked for against a refusal, each row shows why."""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

from crawler.images.outcomes import MEANING
from tests.images.hosts import HOSTS, OWN, declare, image_outcome, images, rows_in
from tests.support.corpus_crawl import CorpusCrawl, crawl
from tests.support.loopback_web import FORBIDDEN, PolicyWeb


@dataclass
class Asked:
    """What came of all of it."""

    web: PolicyWeb
    corpus: CorpusCrawl
    out: Path
    address: dict[str, str]  # of the host, by `what`
    rows: list[dict[str, Any]]
    answer: dict[str, Any]

    def row(self, what: str) -> dict[str, Any]:
        (found,) = [row for row in self.rows if row["url"] and row["url"] == self.url(what)]
        return found

    def url(self, what: str) -> str:
        return f"{self.web.base(self.address[what])}/page"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("images")
    with PolicyWeb() as web:
        address, pages = declare(web)
        corpus = crawl(folder / "corpus", pages, web.port)
        assert corpus.returncode == 0, corpus.log[-2000:]
        assert sorted(url.rpartition("/")[2] for url in corpus.kept) == ["header", "meta", "one", "two"]
        code, answer, log = images(corpus.folder, folder / "out", web.port)
        assert code == 0, log[-3000:]
        yield Asked(web, corpus, folder / "out", address, rows_in(folder / "out"), answer)


def requests(asked: Asked, what: str) -> int:
    return asked.web.asked[asked.address[what]].count("/page")


def test_every_host_decides_about_its_image_as_about_a_page_and_is_not_asked_against_its_word(asked):
    wrong, unheard = {}, []
    for case in HOSTS:
        what = f"{case.section}/{case.what}"
        outcome, is_asked = image_outcome(case)
        if asked.row(what)["outcome"] != outcome:
            wrong[what] = (asked.row(what)["outcome"], outcome, asked.row(what)["error_message"])
        if not is_asked and requests(asked, what):
            unheard.append(what)
    assert wrong == {}
    assert unheard == []
    assert sum(image_outcome(case)[0] != "kept" for case in HOSTS) >= 80
    assert sum(not image_outcome(case)[1] for case in HOSTS) >= 40


def test_every_file_page_redirect_and_rule_decides_as_declared(asked):
    by_url = {row["url"]: row for row in asked.rows if row["url"]}
    named = iter(row for row in asked.rows if not row["url"])
    wrong = {}
    for own in OWN:
        url = f"{asked.web.base(FORBIDDEN)}/page" if "@forbidden@" in own.tag else asked.url(own.what)
        if own.outcome == "svg" and not own.asked:
            url = f"{asked.web.base('127.9.9.1')}/plan.svg"
        row = next(named) if own.outcome in {"data_url", "not_http", "no_source"} else by_url[url]
        if (row["outcome"], own.detail in str(row["error_message"])) != (own.outcome, True):
            wrong[own.what] = (row["outcome"], own.outcome, row["error_message"])
    assert wrong == {}
    assert [own.what for own in OWN if not own.asked and requests(asked, own.what)] == []
    assert [own.what for own in OWN if own.asked and not requests(asked, own.what)] == []
    assert asked.web.asked[FORBIDDEN] == []


def test_a_page_may_refuse_for_its_images_and_one_that_is_not_kept_names_none(asked):
    said = {row["url"]: row["outcome"] for row in asked.rows if row["url"] and "//127.9.2." in row["url"]}
    assert list(said.values()) == ["optout:noimageindex"] * 2
    assert [asked.web.asked[f"127.9.2.{number}"] for number in (1, 2, 3)] == [[], [], []]


def test_each_row_shows_the_evidence_of_its_refusal(asked):
    without = []
    for case in HOSTS:
        row = asked.row(f"{case.section}/{case.what}")
        signals = [(s["protocol"], s["carrier"], s["verdict"]) for s in row["optout_signals"]]
        if case.signal and (case.signal[0], case.signal[1], case.signal[3]) not in signals:
            without.append((case.what, signals))
        if row["outcome"] == "robots" and not row["error_message"].startswith("robots: "):
            without.append((case.what, row["error_message"]))
        if not row["robots_status"] and not row["outcome"].startswith("withdrawn"):
            without.append((case.what, "robots_status"))
    assert without == []


def test_every_reference_has_one_row_and_the_sums_add_up(asked):
    manifest = json.loads((asked.out / "images.json").read_text())
    counts: dict[str, int] = {}
    for row in asked.rows:
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + 1
    assert counts == manifest["outcomes"] == asked.answer["outcomes"]
    assert manifest["counts"] == {"documents": counts["kept"], "references": len(asked.rows)}
    assert len(asked.rows) == len(HOSTS) + len(OWN) + 2
    assert {outcome.partition(":")[0] for outcome in counts} <= set(MEANING)
    assert sum(entry["documents"] for entry in manifest["files"]) == counts["kept"]
    assert {row["status"] for row in asked.rows} == {"success", "failed_to_download", "failed_to_resize", "left_out"}


def test_no_word_of_a_page_stands_in_a_row_whose_image_is_not_kept(asked):
    assert [
        row["url"]
        for row in asked.rows
        if row["outcome"] != "kept" and (row["caption"] or row["context"] or row["alt"])
    ] == []
    kept = [row for row in asked.rows if row["outcome"] == "kept"]
    assert all(row["caption"] and row["context"] and row["key"] for row in kept)
    texts = {url: record["text"] for url, record in asked.corpus.kept.items()}
    assert all(row["context"] in texts[row["page_url"]] for row in kept)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # webdataset leaves files open
def test_the_tars_are_read_by_webdataset_and_the_rows_by_datasets(asked):
    import webdataset

    tars = sorted(str(path) for path in (asked.out / "images").glob("*.tar"))
    samples = list(webdataset.WebDataset(tars, shardshuffle=False).decode("pil"))
    kept = {row["key"]: row for row in asked.rows if row["status"] == "success"}
    assert [sample["__key__"] for sample in samples] == sorted(kept)
    for sample in samples:
        row = kept[sample["__key__"]]
        image = sample.get("jpg") or sample.get("png") or sample.get("webp")
        assert image.size == (row["width"], row["height"])
        assert (sample["txt"], sample["json"]) == (row["caption"], row)
    read = load_dataset("parquet", data_files=str(asked.out / "rows" / "*.parquet"), split="train",
                        cache_dir=str(asked.out.parent / "cache"))  # fmt: skip
    assert read.num_rows == len(asked.rows)
    known = "url key status error_message caption width height original_width original_height exif sha256"
    assert read.column_names[:11] == known.split()


def test_a_second_call_asks_only_for_what_could_not_be_judged_and_writes_nothing_new(asked):
    before = {what: requests(asked, what) for what in asked.address}
    files = {path.name: path.read_bytes() for path in asked.out.rglob("*") if path.suffix in {".tar", ".json"}}
    code, answer, log = images(asked.corpus.folder, asked.out, asked.web.port)
    assert (code, answer["added"], answer["removed"]) == (0, 0, 0), log
    open_ones = {row["url"] for row in asked.rows if row["outcome"].partition(":")[0] in {"hold", "unreachable"}}
    again = {what for what in asked.address if requests(asked, what) > before[what]}
    assert {asked.url(what) for what in again} <= open_ones
    tars = {name: data for name, data in files.items() if name.endswith(".tar")}
    assert {path.name: path.read_bytes() for path in asked.out.rglob("*.tar")} == tars
    for data in tars.values():
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            names = tar.getnames()
        assert len(names) == len(set(names))


def test_other_limits_in_the_same_folder_are_an_error_that_names_them(asked):
    code, _, log = images(asked.corpus.folder, asked.out, asked.web.port, "--min-side", "100")
    assert code == 1
    assert "was begun with min_side 200; give these again, or another --out" in log
