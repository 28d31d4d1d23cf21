"""What a person mistyped, or what is broken, is told with its name and a remedy; nothing is lost by it."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys

import pytest

from crawler.config.storage import export_formats
from crawler.dataset.exclude import Wish, withdrawals
from crawler.dataset.exclude import _log as write_log
from crawler.document import Drop, DropReason
from crawler.storage.files.place import Place
from crawler.storage.files.records import rejection_of
from tests.commands.conftest import scrapy_process
from tests.support.corpus_folder import Folder, document
from tests.support.places import PROJECT
from tests.support.site import Site

SHARD = "shards/crawl-w1-000000.jsonl.zst"

LOCAL = ("-s", "NETWORK_ALLOW=127.0.0.0/8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["crawl", "corpsu"], "there is no spider 'corpsu': expected corpus or images or replay; did you mean corpus?"),
        (["check", "nosuch"], "there is no spider 'nosuch': expected corpus or images or replay"),
        (["crawl", "corpus", "replay"], "one spider at a time, not corpus and replay"),
        (["crawl", "corpus", "--urls", "x"], "unknown option --urls"),
    ],
)
def test_a_wrong_spider_is_a_wrong_call(tmp_path, words, message):
    done = scrapy_process(tmp_path, *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].endswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("loaded", ["crawler.config", "crawler.runtime", "crawler.commands", "crawler.commands.crawl"])
def test_an_interrupt_while_the_project_is_loaded_is_a_line_and_no_traceback(loaded):
    program = f"""
import sys
from scrapy.cmdline import execute

class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == {loaded!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
execute(["scrapy", "list"])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "error: interrupted by SIGINT\n")


def test_a_crawl_that_is_given_nothing_leaves_no_folder_behind(tmp_path):
    done = scrapy_process(tmp_path, "crawl", "corpus")
    assert (done.code, done.err[:24]) == (1, "error: nothing to crawl:")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_corpus_is_named_with_the_remedy(tmp_path):
    (tmp_path / "corpus").write_text("a file")
    done = scrapy_process(tmp_path, "crawl", "corpus", "-a", "url=http://127.0.0.1/", *LOCAL)
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: CORPUS_DIR='corpus' is a file; give a folder that is empty or new\n"


@pytest.mark.parametrize(
    "words",
    [
        ["crawl", "http://127.0.0.1/", *LOCAL, "--out"],
        ["dataset", "export", "--to", "jsonl", "corpus", "--out"],
        ["dataset", "select", "--language", "en", "corpus", "--out"],
    ],
)
@pytest.mark.parametrize("where", ["/proc/nowhere", "/dev/null/corpus"])
def test_a_folder_that_cannot_be_is_refused_with_advice_that_can_be_followed(corpus, tmp_path, words, where):
    done = scrapy_process(tmp_path, *words, where)
    assert done.code == 1 and done.err.count("\n") == 1, done.err
    assert "give a" in done.err and "restore" not in done.err and "resume" not in done.err, done.err


@pytest.mark.parametrize(
    "words", [["crawl", "corpus", "-a", "url=http://127.0.0.1/", *LOCAL], ["fetch", "http://127.0.0.1/"]]
)
def test_a_broken_list_of_withdrawals_stops_whatever_would_ask(corpus, tmp_path, words):
    (corpus.path / "withdrawals.jsonl").write_text("nonsense\n")
    done = scrapy_process(tmp_path, *words)
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: corpus/withdrawals.jsonl: line 1 is not a withdrawal; restore the file from a copy\n"


@pytest.mark.parametrize(
    "words",
    [
        ["report", "--samples", "1", "corpus"],
        ["dataset", "verify", "corpus"],
        ["dataset", "select", "--out", "subset", "corpus"],
        ["dataset", "diff", "corpus@1", "corpus"],
        ["dataset", "substrings", "corpus"],
        ["dataset", "semantic", "corpus"],
        ["dataset", "trial", "--held-out", "corpus", "corpus@1", "corpus"],
        ["dataset", "exclude", "--domain", "example.org", "--reason", "x", "--yes", "corpus"],
    ],
    ids=" ".join,
)
def test_a_shard_that_is_gone_is_named_with_the_remedy(scrapy, corpus, words):
    (corpus.path / SHARD).unlink()
    done = scrapy(*words)
    assert done.code == 1
    assert SHARD in done.err and "Errno" not in done.err
    assert "restore it from a copy" in done.err or "is not there any more" in done.err
    assert (corpus.path / "archive").is_dir()


# --- exclude ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def published(corpus):
    for name in ("README.md", "eu_summary.md", "report.html"):
        (corpus.path / name).write_text("of this version")
    return corpus


def everything(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--domain", "exmaple.org"], "exmaple.org: no record of this corpus has it, so nothing was changed; did you "
         "mean example.org?"),
        (["--domain", "example.org,a.test"], "a.test: no record of this corpus has it, so nothing was changed"),
        (["--licence", "CC-0-1.0"], "CC-0-1.0: no record of this corpus has it, so nothing was changed; did you mean "
         "CC0-1.0?"),
    ],
)  # fmt: skip
def test_a_mistyped_domain_or_licence_deletes_nothing(scrapy, published, words, message):
    before = everything(published.path)
    done = scrapy("dataset", "exclude", *words, "--reason", "letter", "--yes", "corpus")
    assert (done.code, done.out, done.err) == (1, "", f"error: {message}\n")
    assert everything(published.path) == before


def test_an_allowlist_that_grants_everything_changes_nothing(scrapy, published, tmp_path):
    allow = tmp_path / "allow.yaml"
    allow.write_text("- {domain: example.org, tier: A, licence: CC0-1.0}\n")
    before = everything(published.path)
    done = scrapy("dataset", "exclude", "--allowlist", str(allow), "--yes", "corpus")
    assert (done.code, done.out) == (0, "nothing in this corpus matches; nothing was changed\n")
    assert everything(published.path) == before


def test_a_withdrawal_that_was_cut_off_is_finished_although_nothing_is_left_of_the_domain(scrapy, published):
    words = ["dataset", "exclude", "--domain", "example.org", "--reason", "letter", "--yes", "corpus"]
    assert scrapy(*words).code == 0
    again = scrapy(*words)
    assert (again.code, again.err) == (0, "")
    assert len(withdrawals(Place(str(published.path)))) == 1


def test_a_selection_of_nothing_is_no_success(scrapy, corpus):
    done = scrapy("dataset", "select", "--domain", "exmaple.org", "--out", "subset", "corpus")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: no document of 6 meets every condition; nothing was written\n"
    assert not (corpus.path.parent / "subset").exists()
    assert not list((corpus.path / "registry").glob("derived/*"))


NOTHING = "there is no document to write{}; nothing was written\n"


@pytest.fixture
def bare(tmp_path):
    """A corpus in which nothing is kept, `bare` in the current folder."""
    made = Folder(tmp_path / "bare").opened()
    made.reject(rejection_of(document(1), Drop("robots", DropReason.ROBOTS_DISALLOWED, "line 2")))
    made.close()


@pytest.mark.parametrize("form", export_formats())
def test_an_export_of_nothing_is_no_success_and_leaves_no_folder(scrapy, bare, tmp_path, form):
    before = everything(tmp_path)
    done = scrapy("dataset", "export", "--to", form, "--out", "release", "bare")
    assert (done.code, done.out, done.err) == (1, "", "error: " + NOTHING.format(""))
    assert everything(tmp_path) == before


def test_an_export_of_withdrawn_documents_alone_says_so(scrapy, corpus, tmp_path):
    write_log(
        Place(str(corpus.path)), Wish("asked", refused=frozenset({"example.org"})), [], 1.8e9
    )  # cut off: the shards have all
    done = scrapy("dataset", "export", "--to", "jsonl.gz", "--out", "release", "corpus")
    assert (done.code, done.err) == (1, "error: " + NOTHING.format(" (6 withdrawn ones are left out)"))
    assert not (tmp_path / "release").exists()


def test_what_remains_of_corpora_with_nothing_is_no_success(scrapy, bare, tmp_path):
    shutil.copytree("bare", "other")
    asked = scrapy("dataset", "dedup", "bare", "other")
    assert (asked.code, asked.err) == (0, "")
    done = scrapy("dataset", "dedup", "--out", "merged", "bare", "other")
    assert (done.code, done.err) == (1, "error: " + NOTHING.format(""))
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize("content", ["", '{"text": ""}\n'])
def test_an_index_of_nothing_is_no_success(scrapy, tmp_path, content):
    (tmp_path / "mine.jsonl").write_text(content)
    done = scrapy("dataset", "index", "mine.jsonl", "-s", "CORPUS_DIR=corpus", "-s", "STAGE_WORKERS=0")
    assert done.code == 1
    assert "error: no text in mine.jsonl: nothing was put into the index" in done.err


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dataset", "substrings", "--min-tokens", "0"], "from 2 up, not '0'"),
        (["dataset", "substrings", "--min-tokens", "-5"], "from 2 up, not '-5'"),
        (["dataset", "substrings", "--memory", "0"], "at least 1M, not '0'"),
        (["dataset", "diff", "corpus", "--show", "-1"], "from 0 up, not '-1'"),
        (["dataset", "expire", "--older-than", "0"], "days above 0, not '0'"),
        (["dataset", "expire", "--older-than", "nan"], "days above 0, not 'nan'"),
        (["dataset", "select", "--out", "x", "--min-quality", "75"], "from 0 to 1, not '75'"),
        (["report", "--samples", "-1"], "from 0 up, not '-1'"),
    ],
)
def test_a_number_that_means_nothing_is_a_wrong_call(scrapy, corpus, tmp_path, words, message):
    before = everything(corpus.path)
    done = scrapy(*words, "corpus")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert everything(corpus.path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


# --- all problems at once ---------------------------------------------------------------------------------------------


def test_a_language_nobody_knows_is_told_together_with_every_other_problem(tmp_path):
    wrong = ["-s", "LANGUAGES=de,xx", "-s", "NEARDUP_ROWS=many", "-s", "CRAWLER_CONTACT=", "-a", "url=nonsense"]
    done = scrapy_process(tmp_path, "crawl", "corpus", *wrong)
    assert done.code == 1
    told = re.findall(r"^error: (\S+)", done.err, re.MULTILINE)
    assert {"NEARDUP_ROWS='many':", "LANGUAGES:", "url:"} <= set(told), done.err
    assert "'xx'" in done.err and "'de'" not in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("setting", ["STATS_CLASS=no.such.Stats", 'EXTENSIONS={"no.such.Thing": 1}'])
def test_a_component_that_cannot_be_imported_ends_in_a_sentence(tmp_path, setting):
    words = ("crawl", "corpus", "-a", "url=http://127.0.0.1/", *LOCAL, "-s", setting)
    done = scrapy_process(tmp_path, *words)
    assert done.code == 1
    assert done.err.splitlines()[-1] == "error: the crawl did not start; see the messages above"
    assert "No module named 'no'" in done.err


# --- sitemaps ---------------------------------------------------------------------------------------------------------


class Lists(Site):
    """A page, a sitemap that lists it, one that is a page, and none elsewhere."""

    def answer(self, path: str) -> tuple[int, bytes]:
        listed = (
            f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{self.url(0)}</loc></url></urlset>"
        )
        lists = {"/list.xml": listed.encode(), "/page.xml": b"<!doctype html><html><body><p>No list.</p></body></html>"}
        return (200, lists[path]) if path in lists else super().answer(path)


@pytest.mark.parametrize(
    ("path", "code", "why"),
    [("/list.xml", 0, None), ("/gone.xml", 1, "gone, HTTP 404"), ("/page.xml", 1, "")],
)
def test_a_sitemap_that_was_asked_for_and_cannot_be_read_fails_the_crawl(crawl, path, code, why):
    site = Lists(pages=1)
    site.start()
    try:
        done = crawl.run({"sitemap": f"http://127.0.0.1:{site.port}{path}"}, NETWORK_PORTS=site.port)
    finally:
        site.stop()
    assert done.returncode == code, done.stderr
    said = f"error: a requested sitemap could not be read:\n  http://127.0.0.1:{site.port}{path}: {why}"
    assert (said in done.stderr) == (why is not None), done.stderr


@pytest.mark.parametrize(
    ("sitemaps", "code"),
    [(["/list.xml"], 0), (["/gone.xml"], 1), (["/list.xml", "/page.xml"], 1), ([], 0)],
    ids=["read", "gone", "one of two is a page", "links lead to the pages"],
)
def test_a_sitemap_that_the_allowlist_names_and_cannot_be_read_fails_the_crawl(crawl, tmp_path, sitemaps, code):
    site = Lists(pages=1)
    site.start()
    base = f"http://127.0.0.1:{site.port}"
    listed = ", ".join(f'"{base}{path}"' for path in sitemaps)
    named = f"sitemaps: [{listed}]" if sitemaps else "discovery: links"
    (tmp_path / "allow.yaml").write_text(f'- {{domain: "127.0.0.1:{site.port}", tier: A, licence: CC0-1.0, {named}}}\n')
    try:
        done = crawl.run({"allowlist": str(tmp_path / "allow.yaml")}, NETWORK_PORTS=site.port)
    finally:
        site.stop()
    assert done.returncode == code, done.stderr
    said = f"error: a requested sitemap could not be read:\n  {base}{sitemaps[-1] if sitemaps else ''}: "
    assert (said in done.stderr) == (code == 1), done.stderr
