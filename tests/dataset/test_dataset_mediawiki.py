"""The pages of a wiki's dump become an archive: each with licence and revision, nothing lost without a name."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from crawler.config import from_mapping
from crawler.dataset import mediawiki
from crawler.dataset.mediawiki import day_of, part
from crawler.dataset.refused import Refusal, Refusals, address_of
from crawler.documents.from_archive import document_from_archive
from crawler.operations.declared import WrongCall
from crawler.operations.mediawiki import WORK
from crawler.stages.chain import Chain
from crawler.storage.archive.reader import ArchivedResponse, read_archive
from crawler.storage.files.errors import StorageError
from crawler.wire.files import file_kind
from tests.support.operations import answer_of
from tests.support.places import PROJECT
from tests.support.syllables import prose

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de"><siteinfo>
<sitename>Wiki</sitename><base>https://de.wiki.example/wiki/Haupt</base><namespaces>
<namespace key="0" /><namespace key="1">Diskussion</namespace><namespace key="6">Datei</namespace>
<namespace key="14">Kategorie</namespace></namespaces></siteinfo>"""
NAME = "dewiki-20260102-pages-articles.xml"


def revision(text: str, number: int = 7, day: int = 1, more: str = "") -> str:
    return (
        f"<revision><id>{number}</id><parentid>1</parentid><timestamp>2025-06-{day:02d}T10:00:00Z</timestamp>"
        f"<contributor><username>Quillfeather</username><id>99</id></contributor><comment>by Quillfeather</comment>"
        f"<model>wikitext</model><format>text/x-wiki</format><text {more}>{text}</text><sha1>x</sha1></revision>"
    )


def page(title: str, text: str, space: int = 0, more: str = "", number: int = 7) -> str:
    return f"<page><title>{title}</title><ns>{space}</ns><id>3</id>{more}{revision(text, number)}</page>"


def dump(folder: Path, *pages: str, name: str = NAME, pack: Callable[[bytes], bytes] = bytes) -> Path:
    path = folder / name
    path.write_bytes(pack(f"{HEAD}{''.join(pages)}</mediawiki>".encode()))
    return path


def read(path: Path) -> list[ArchivedResponse]:
    return list(read_archive(str(path)))


def test_each_page_is_a_record_with_address_licence_and_revision_and_without_its_writer(tmp_path: Path) -> None:
    given = dump(tmp_path, page("Birne (Obst)", "Eine ''Birne''."), page("Äpfel &amp; mehr?", "Ein Apfel.", number=8))
    answer = answer_of(WORK, given, "--out", tmp_path / "w.warc.gz", "--licence", "CC-BY-SA-4.0")
    first, second = read(tmp_path / "w.warc.gz")
    assert first.url == "https://de.wiki.example/wiki/Birne_(Obst)"
    assert second.url == "https://de.wiki.example/wiki/%C3%84pfel_%26_mehr%3F"
    assert (first.license_tag, first.license_tier, first.kind) == ("CC-BY-SA-4.0", None, "resource")
    assert b"<id>7</id>" in first.body and b"2025-06-01T10:00:00Z" in first.body and b"''Birne''" in first.body
    assert b"Datei" in first.body and b'xml:lang="de"' in first.body
    assert file_kind("application/xml", first.body) == "mediawiki"
    assert b"Quillfeather" not in b"".join(each.body for each in (first, second))
    assert answer.facts["pages"] == 2 and answer.problems == []


def test_what_is_left_out_is_counted_by_why(tmp_path: Path) -> None:
    given = dump(
        tmp_path,
        page("A", "Text."),
        page("B", "#REDIRECT [[A]]", more='<redirect title="A" />'),
        page("Diskussion:A", "Text.", space=1),
        page("C", "  "),
        page("D", "x").replace("<model>wikitext", "<model>css"),
        page("E", "").replace("<text >", '<text deleted="deleted">'),
        page("F", "Old.", number=1).replace("</page>", f"{revision('New.', 5, 9)}{revision('Older.', 3, 4)}</page>"),
    )
    done = part(str(given), tmp_path / "w.warc.gz", day="2026-01-02")
    assert [each.url[-1] for each in read(tmp_path / "w.warc.gz")] == ["A", "F"]
    assert b"New." in read(tmp_path / "w.warc.gz")[1].body
    assert done.left_out == {
        "redirects": 1, "of namespace 1": 1, "without title or text": 1, "of css, no wikitext": 1,
        "whose text the wiki hides": 1, "older revisions": 2,
    }  # fmt: skip
    both = part(str(given), tmp_path / "more.warc.gz", day="2026-01-02", spaces=["0", "1"])
    assert both.pages == 3


def multistream(data: bytes) -> bytes:
    return b"".join(bz2.compress(data[at : at + 300]) for at in range(0, len(data), 300))


def small_blocks(data: bytes) -> bytes:
    return bz2.compress(data, 1)


def checked(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


@pytest.mark.parametrize("pack", [bz2.compress, multistream, gzip.compress, zstandard.compress])
def test_every_packing_gives_the_same_bytes(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    pages = [page(f"P{n}", prose(30, n), number=n) for n in range(20)]
    plain = dump(tmp_path, *pages)
    part(str(plain), tmp_path / "w.warc.gz", day="2026-01-02")
    before = (tmp_path / "w.warc.gz").read_bytes()
    (tmp_path / "w.warc.gz").unlink()
    plain.write_bytes(pack(plain.read_bytes()))
    part(str(plain), tmp_path / "w.warc.gz", day="2026-01-02")
    assert (tmp_path / "w.warc.gz").read_bytes() == before


@pytest.mark.parametrize("pack", [bytes, small_blocks, multistream, gzip.compress, zstandard.compress])
def test_a_dump_that_was_cut_off_gives_what_came_before_and_a_problem(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    given = dump(tmp_path, *(page(f"P{n}", prose(4_000, n), number=n) for n in range(40)), pack=pack)
    given.write_bytes(given.read_bytes()[: given.stat().st_size * 7 // 10])
    answer = answer_of(WORK, given, "--out", tmp_path / "w.warc.gz")
    (problem,) = answer.problems
    assert str(given) in problem and "cannot be read to its end" in problem and answer.code == 1
    assert 0 < len(read(tmp_path / "w.warc.gz")) == answer.facts["pages"] < 40


@pytest.mark.parametrize("pack", [small_blocks, multistream, gzip.compress, checked])
def test_a_byte_that_has_changed_is_told(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    given = dump(tmp_path, *(page(f"P{n}", prose(400, n), number=n) for n in range(40)), pack=pack)
    data = bytearray(given.read_bytes())
    data[len(data) // 2] ^= 16
    given.write_bytes(data)
    try:
        problem = part(str(given), tmp_path / "w.warc.gz", day="2026-01-02").problem
    except StorageError as error:  # not one page of it could be read
        problem = str(error)
    assert "cannot be read to its end" in problem and "fetch the dump again" in problem


def test_a_page_without_a_title_has_no_address(tmp_path: Path) -> None:
    given = dump(tmp_path, page("A", "Text."), page("", "Text."))
    assert part(str(given), tmp_path / "w.warc.gz", day="2026-01-02").left_out == {"without title or text": 1}


def test_a_page_that_was_withdrawn_is_refused_when_the_dump_is_replayed(tmp_path: Path) -> None:
    given = dump(tmp_path, page("Birne (Obst)", "Eine Birne."), page("Apfel", "Ein Apfel."))
    part(str(given), tmp_path / "w.warc.gz", day="2026-01-02")
    withdrawn = address_of("http://de.wiki.example/wiki/Birne_(Obst)#Sorten")
    refused, config = Refusals(addresses={withdrawn: Refusal("address", 0)}), from_mapping({})
    docs = [document_from_archive(each, config) for each in read(tmp_path / "w.warc.gz")]
    assert [refused.of_document(doc, config.dedup) is not None for doc in docs] == [True, False]


def test_damage_in_the_middle_is_named_too(tmp_path: Path) -> None:
    given = dump(tmp_path, *(page(f"P{n}", prose(4_000, n)) for n in range(20)))
    data = given.read_bytes()
    given.write_bytes(data[: len(data) // 2] + b"<\x00<<" + data[len(data) // 2 :])
    done = part(str(given), tmp_path / "w.warc.gz", day="2026-01-02")
    assert 0 < done.pages < 20 and "cannot be read to its end" in done.problem


MEASURE = """
import sys
from pathlib import Path
from crawler.dataset.mediawiki import part
for name in sys.argv[1:]:
    part(name, Path(name + ".warc.gz"), day="2026-01-02")
    print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
"""  # getrusage would count the process that this one was forked from


def test_the_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    small = dump(tmp_path, *(page(f"P{n}", "A pear. " * 600) for n in range(50)), name="small.xml")
    large = dump(tmp_path, *(page(f"P{n}", "A pear. " * 600) for n in range(6_000)), name="large.xml")
    assert large.stat().st_size > 25 * 2**20
    call = [sys.executable, "-c", MEASURE, str(small), str(large)]
    done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120, cwd=PROJECT)
    before, after = map(int, done.stdout.split())
    assert after - before < 10 * 2**10  # KiB


def test_a_page_that_is_too_long_to_be_one_ends_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mediawiki, "MAX_PAGE_BYTES", 100_000)
    given = dump(tmp_path, page("A", "Text."), page("B", "x" * 300_000))
    done = part(str(given), tmp_path / "w.warc.gz", day="2026-01-02")
    assert done.pages == 1 and "a page of more than 100,000 bytes" in done.problem


def test_entities_of_a_hostile_dump_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("quillsecret")
    given = dump(tmp_path, page("A", "Text &e; here."))
    head = f'<!DOCTYPE mediawiki [<!ENTITY e SYSTEM "file://{secret}">]>'
    given.write_bytes(head.encode() + given.read_bytes())
    part(str(given), tmp_path / "w.warc.gz", day="2026-01-02")
    assert b"quillsecret" not in read(tmp_path / "w.warc.gz")[0].body


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html><p>no wiki</p></html>", "is no dump of a wiki"),
        (b"7z\xbc\xaf\x27\x1c", "is a 7z archive"),
        (b"", "nothing was written; fetch the dump again"),
        (HEAD.replace("https://de.wiki.example/wiki/Haupt", "").encode() + b"</mediawiki>", "no address of the wiki"),
        (HEAD.encode() + page("B", "x", space=4).encode() + b"</mediawiki>", "no page that is wanted (1 of namespace"),
        (b"<mediawiki><page><title>A</title></page></mediawiki>", "a page comes before siteinfo"),
    ],
)
def test_what_is_no_dump_is_a_sentence_and_leaves_no_file(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(StorageError) as caught:
        part(str(tmp_path / NAME), tmp_path / "w.warc.gz", day="2026-01-02")
    assert said in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == [NAME]


def test_a_wrong_call_says_what_is_expected(tmp_path: Path) -> None:
    given = dump(tmp_path, page("A", "Text."), name="dump.xml")
    out = ("--out", tmp_path / "w.warc.gz")
    for words, said in (
        ((given, *out), "--date: expected the day of the dump"),
        ((given, "--out", tmp_path / "w.gz"), "expected a name that ends in .warc.gz"),
        ((given, *out, "--date", "2026-01-02", "--namespaces", "x"), "expected numbers"),
        ((given, *out, "--date", "2026-01-02", "--licence", "a\nb"), "expected a tag"),
    ):
        with pytest.raises(WrongCall, match=said):
            answer_of(WORK, *words)
    with pytest.raises(StorageError, match="cannot be opened"):
        part(str(tmp_path / "none.xml"), tmp_path / "w.warc.gz", day="2026-01-02")
    (tmp_path / "w.warc.gz").touch()
    with pytest.raises(StorageError, match="exists already"):
        part(str(given), tmp_path / "w.warc.gz", day="2026-01-02")
    assert day_of("https://x.example/dewiki/20260102/dewiki-20260102-pages.xml.bz2") == "2026-01-02"
    assert day_of("20260102/pages.xml") is None


def test_a_page_goes_through_the_stages_like_any_other(tmp_path: Path) -> None:
    pytest.importorskip("mwparserfromhell", reason="mwparserfromhell is optional")
    text = f"'''Birne''' ist [[Obst|ein Obst]].&lt;ref&gt;Buch&lt;/ref&gt; {prose(60, 1)}."
    text += f"\n\n== Sorten ==\n* {prose(30, 2)}"
    given = dump(tmp_path, page("Birne", f"{text}\n[[Datei:x.png|thumb|Bild]][[Kategorie:Obst]]"))
    part(str(given), tmp_path / "w.warc.gz", day="2026-01-02", licence="CC-BY-SA-4.0")
    config = from_mapping({"PII_PERSON": "off", "LANGUAGES": "", "QUALITY_RULES": "", "QUALITY_MIN_SCORE": "0"})
    doc = document_from_archive(read(tmp_path / "w.warc.gz")[0], config)
    stages = ("parse", "optout", "extraction", "language")
    doc = Chain(config, stages).run(doc, stages)
    assert doc.verdict is None or doc.verdict.stage == "language"
    assert doc.document_kind == "mediawiki" and doc.title == "Birne" and doc.html_lang == "de"
    assert (doc.etag, doc.last_modified) == ("7", "Sun, 01 Jun 2025 10:00:00 GMT")
    assert doc.text.startswith("Birne ist ein Obst. ") and doc.crawled_at == "2026-01-02T00:00:00.000Z"
    assert not any(sign in doc.text for sign in ("'''", "[[", "==", "Buch", "Datei", "Kategorie", "{{"))
    assert [form for *_, form in doc.parts] == ["paragraph", "heading", "list"]
    assert doc.quality_signals["references"] == 1 and doc.license_tag == "CC-BY-SA-4.0"
