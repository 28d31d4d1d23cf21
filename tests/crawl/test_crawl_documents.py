"""A crawl reads the documents that it meets beside the pages, follows their links, and a replay finds the same."""

from __future__ import annotations

import gzip

import pytest

from crawler.config import from_mapping
from crawler.spark.inputs import ARCHIVED, Input
from crawler.spark.partition import is_read, judge
from tests.stages.documents.office_maker import TYPES, docx, epub
from tests.stages.documents.pdf_maker import pdf_of, text_pages, xmp_of
from tests.stages.documents.test_documents_hostile import locked, picture
from tests.support.corpus_crawl import SETTINGS as OPEN
from tests.support.corpus_crawl import _start, finished, replay
from tests.support.site import Served

LINES = [
    "The miller of the old town rose long before the sun, and he set the",
    "stones while the river was still dark. Nobody who heard them turn in",
    "the night could say how old they were, nor who had cut them first.",
    "In the second year of the drought the wheel stood still for a month,",
    "and the whole of the valley learned what bread had been to it then,",
    "day after day, when the carts came back from the mill with nothing.",
]


def prose(name):
    return "\n".join([*LINES, f"This was told in the house of {name} by those who had seen it."])


RESERVED = xmp_of("<tdm:reservation>1</tdm:reservation>", 'xmlns:tdm="http://www.w3.org/ns/tdmrep/"')
PDF = "application/pdf"
NAMED = {"Title": "Write to ada@mill.example", "Author": "ada@mill.example"}
LARGE = pdf_of(text_pages(prose("large")), page=f"/Note ({'x' * 60_000})")


class Library(Served):
    """A page that leads to files, and a file that leads to another page."""

    def serve(self, request):
        files = self.files()
        if request.path in files:
            kind, body, *headers = files[request.path]
            request.send(200, body, kind, dict(headers))
        elif request.path == "/":
            links = "".join(f'<a href="{path}">{path}</a> ' for path in files)
            request.send(200, f"<html><body><p>{prose('index')}</p>{links}</body></html>".encode())
        elif request.path == "/behind":
            request.send(200, f"<html><body><p>{prose('behind')}</p></body></html>".encode())
        else:
            request.send(404, b"")

    def files(self):
        words = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in prose("docx").split("\n"))
        chapter = f"<h1>One</h1><p>{prose('epub')}</p>"
        said = {"Title": "On mills", "Author": "Ada Miller"}
        behind = pdf_of(text_pages(prose("pdf")), info=said, annotations={0: [f"{self.base}/behind"]})
        return {
            "/paper.pdf": (PDF, behind),
            "/named.pdf": (PDF, pdf_of(text_pages(prose("named")), info=NAMED)),
            "/silent": ("application/octet-stream", pdf_of(text_pages(prose("silent")))),
            "/called-html": ("text/html", pdf_of(text_pages(prose("html")))),
            "/large.pdf": (PDF, LARGE),
            "/zipped.pdf": (PDF, gzip.compress(pdf_of(text_pages(prose("zipped")))), ("Content-Encoding", "gzip")),
            "/book.epub": (TYPES["epub"], epub({"a.xhtml": chapter})),
            "/letter.docx": (TYPES["docx"], docx(words)),
            "/program": ("application/octet-stream", b"\x7fELF" + b"\x00" * 5_000),
            "/reserved.pdf": (PDF, pdf_of(text_pages(prose("reserved")), xmp=RESERVED)),
            "/header.pdf": (PDF, pdf_of(text_pages(prose("header"))), ("X-Robots-Tag", "noai")),
            "/scan.pdf": (PDF, picture()),
            "/locked.pdf": (PDF, locked()),
        }


SETTINGS = {"DOWNLOAD_MAXSIZE": 50_000, "EXTRACTION_MIN_WORDS": 20}
KEPT = {
    "/": "html", "/behind": "html", "/paper.pdf": "pdf", "/named.pdf": "pdf", "/silent": "pdf", "/called-html": "pdf",
    "/large.pdf": "pdf", "/zipped.pdf": "pdf", "/book.epub": "epub", "/letter.docx": "docx",
}  # fmt: skip
REJECTED = {
    "/program": "not_text", "/reserved.pdf": "optout", "/header.pdf": "optout", "/scan.pdf": "needs_ocr",
    "/locked.pdf": "encrypted",
}  # fmt: skip


@pytest.fixture(scope="module")
def library():
    site = Library("127.0.0.31").start()
    yield site
    site.stop()


@pytest.fixture(scope="module")
def crawled(library, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crawl") / "corpus"
    settings = OPEN | SETTINGS | {"CORPUS_DIR": folder, "NETWORK_PORTS": library.port}
    settings["CONCURRENT_REQUESTS_PER_DOMAIN"] = 1
    return finished(folder, _start("corpus", f"url={library.base}/", settings))


def by_path(records, field):
    return {"/" + url.split("/", 3)[3]: record[field] for url, record in records.items()}


def test_documents_are_kept_or_rejected_by_what_they_are(crawled):
    assert crawled.returncode == 0, crawled.log
    assert by_path(crawled.kept, "document_kind") == KEPT
    assert by_path(crawled.rejected, "reason") == REJECTED


def test_what_is_called_as_a_file_is_called_comes_behind_every_page(crawled):
    when = by_path(crawled.kept, "crawled_at")
    pages = [when[path] for path in ("/", "/silent", "/called-html")]
    assert max(pages) < min(when[path] for path in ("/paper.pdf", "/large.pdf", "/book.epub", "/letter.docx"))


def test_a_kept_document_says_where_it_comes_from(crawled):
    [paper] = [record for url, record in crawled.kept.items() if url.endswith("/paper.pdf")]
    assert (paper["title"], paper["page_count"], paper["method_used"]) == ("On mills", 1, "file")
    assert paper["extractor"].startswith("pypdfium2-") and paper["warc_file"]
    assert paper["text"].startswith("The miller of the old town rose long before the sun, and he set the stones while")


def test_what_a_file_says_of_itself_is_redacted_as_its_text_is(crawled):
    [record] = [record for url, record in crawled.kept.items() if url.endswith("/named.pdf")]
    assert (record["title"], record["author"]) == ("Write to [EMAIL_ADDRESS]", "[EMAIL_ADDRESS]")
    assert b"ada@mill.example" not in b"".join(p.read_bytes() for p in (crawled.folder / "shards").iterdir())


def test_no_word_of_what_is_refused_is_on_the_disk_and_a_scan_is_in_the_archive(crawled):
    everything = crawled.everything
    assert b"house of reserved" not in everything and b"house of header" not in everything
    [scan] = [record for url, record in crawled.rejected.items() if url.endswith("/scan.pdf")]
    assert scan["warc_file"] and scan["warc_record_id"]


OF_THE_RUN = {
    "config_digest",
    "crawl_id",
    "worker_id",
    "warc_file",
    "warc_offset",
    "warc_record_id",
    "timings",
    "robots_fetched_at",
}


def test_a_replay_and_the_batch_job_give_the_same_records(crawled, tmp_path):
    again = replay(crawled.folder / "archive", tmp_path / "again", **SETTINGS)
    assert again.returncode == 0, again.log
    archived = {url for url, record in crawled.kept.items() if record["warc_file"]}
    assert set(again.kept) == archived == set(crawled.kept)
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "spark"), "QUALITY_RULES": "", "QUALITY_MIN_SCORE": 0,
                           "LANGUAGE_MIN_SCORE": 0, "PII_PERSON": "off", **SETTINGS})  # fmt: skip
    archives = sorted(str(path) for path in (crawled.folder / "archive").glob("*.warc.gz"))
    files = [(number, Input(ARCHIVED, path)) for number, path in enumerate(archives)]
    batch = {judged.doc.url: judged.doc for judged in judge(config, files) if not is_read(judged)}
    for url, record in crawled.kept.items():
        other = again.kept[url]
        assert {n: v for n, v in record.items() if n not in OF_THE_RUN} == {
            n: v for n, v in other.items() if n not in OF_THE_RUN
        }
        spans = record["parts"]
        parts = list(zip(spans["start"], spans["end"], spans["type"], strict=True))
        assert (batch[url].text, batch[url].parts) == (record["text"], parts)
        assert batch[url].document_kind == record["document_kind"]
