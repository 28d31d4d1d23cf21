"""The index beside an archive: the keys that pywb computes, sorted by bytes, always there, and checked."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dataset.verify import finish_dead_writers, verify
from crawler.storage.archive.records import Referred
from crawler.storage.archive.surt import surt
from crawler.storage.archive.writer import describe_archive
from crawler.storage.files.place import Place

SESSION = "0123456789abcdef0123456789abcdef"
KEYS = {  # as the `surt` package 0.3.1 answers, which pywb calls
    "http://www.example.com/": "com,example)/",
    "https://example.org/Path/File.HTML?b=2&a=1": "org,example)/path/file.html?a=1&b=2",
    "https://example.org:443/a/": "org,example)/a",
    "https://example.org:8443/a/": "org,example:8443)/a",
    "http://user:pw@www2.example.co.uk/x//y/../z?": "uk,co,example)/x/z",
    "http://192.0.2.7:8080/a": "7,2,0,192:8080)/a",
    "http://[2001:db8::1]/x": "2001:db8::1)/x",
    "https://bücher.example/straße?q=ü": "example,xn--bcher-kva)/stra%c3%9fe?q=%c3%bc",
    "https://example.org/%7Euser/%41?x=%2f%26": "org,example)/~user/a?&x=/",
    f"https://example.org/a;jsessionid={SESSION}?x=1": f"org,example)/a;jsessionid={SESSION}?x=1",
    f"https://example.org/a?PHPSESSID={SESSION}&x=1": "org,example)/a?x=1",
    f"https://example.org/a?x=1&sid={SESSION}": "org,example)/a?&x=1",
    "https://example.org/a?x=1&cfid=12&cftoken=34": "org,example)/a?&x=1",
    "https://example.org/a?b&a&c=": "org,example)/a?a&b&c=",
    "https://example.org/a?b=2&b=1&a=10&a=9": "org,example)/a?a=10&a=9&b=1&b=2",
    "https://example.org/a?a=b=c&&d": "org,example)/a?&a=b=c&d",
    "https://example.org": "org,example)/",
    "https://example.org/a b+c": "org,example)/a%20b+c",
    "http://EXAMPLE.org./A/B/": "org,example)/a/b",
    "https://www.sub.www.example.org/": "org,example,www,sub)/",
    "https://www1234.example.org/#part": "org,example)/",
    "https://example.org/(S(0123456789abcdefghijklmn))/x.aspx?y=1": "org,example)/x.aspx?y=1",
    "https://example.org/%ff": "org,example)/%ff",
    "https://example.org/a/./b/../../c": "org,example)/c",
    "https://localhost:5000/x": "localhost:5000)/x",
    "http://wwwexample.org/": "org,wwwexample)/",
    "http://example.org/a?x=1&aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx": "org,example)/a?&x=1",
    "http://example.org/a%23b": "org,example)/a%23b",
}


@pytest.mark.parametrize(("url", "key"), KEYS.items())
def test_a_key_is_the_one_under_which_pywb_looks(url, key):
    assert surt(url) == key


@settings(deadline=None, derandomize=True, max_examples=80)
@given(st.text(max_size=60))
def test_any_text_gets_a_key_of_ascii_without_spaces(text):
    for url in (text, f"http://{text}", f"https://example.org/{text}", f"https://example.org/?{text}"):
        assert surt(url).isascii() and not set(surt(url)) & set(" \n\r\t")


def archived(folder, exchange, *, compression="gzip", worker="w1"):
    """A sealed archive of four pages and two revisits; its path."""
    corpus = folder.opened(worker, ARCHIVE_COMPRESSION=compression)
    for number in (3, 1, 2, 0):
        corpus.archive(exchange(number, body=b"<p>%d</p>" % number * 50, fetch={"attempt": 1}))
    corpus.archive_revisit(exchange(1, status=304, body=b""), Referred("https://example.org/1"))
    corpus.archive_revisit(exchange(2, body=b"<p>2</p>" * 50), Referred("https://example.org/2"))
    corpus.close()
    return next((folder.path / "archive").glob("*.warc.*"))


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_every_page_and_revisit_has_a_line_that_points_at_its_record(folder, exchange, compression):
    path = archived(folder, exchange, compression=compression)
    lines = path.with_name("crawl-w1-000000.cdxj").read_bytes().splitlines()
    assert lines == sorted(lines) and len(lines) == 6
    facts = [json.loads(line.split(b" ", 2)[2]) for line in lines]
    assert [fact["mime"] for fact in facts].count("warc/revisit") == 2
    assert all(fact["filename"] == path.name and fact["digest"].startswith("sha1:") for fact in facts[:1])
    if compression == "gzip":
        for fact in facts:
            start, length = int(fact["offset"]), int(fact["length"])
            record = gzip.decompress(path.read_bytes()[start : start + length])
            assert f"WARC-Target-URI: {fact['url']}\r\n".encode() in record


def test_an_index_line_is_written_as_cdxj_indexer_writes_it(folder, exchange):
    path = archived(folder, exchange)
    first = path.with_name("crawl-w1-000000.cdxj").read_text().splitlines()[0]
    assert first.startswith('org,example)/0 20260101000000 {"url": "https://example.org/0", "mime": "text/html", ')
    assert '"status": "200", "digest": "sha1:' in first
    assert first.endswith('"filename": "crawl-w1-000000.warc.gz"}')


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_read_back_from_the_archive_the_index_has_the_same_bytes(folder, exchange, compression):
    path = archived(folder, exchange, compression=compression)
    index = path.with_name("crawl-w1-000000.cdxj")
    written = index.read_bytes()
    index.unlink()
    entry = describe_archive(path)
    assert index.read_bytes() == written
    (listed,) = folder.manifest()["files"]
    assert {name: listed[name] for name in entry} == entry
    assert (entry["documents"], entry["revisits"], entry["index"]["lines"]) == (4, 2, 6)


def test_a_missing_index_is_damage_until_the_next_start_writes_it_again(folder, exchange):
    index = archived(folder, exchange).with_name("crawl-w1-000000.cdxj")
    written, place = index.read_bytes(), Place(str(folder.path))
    index.unlink()
    (damage,) = verify(place).damage
    assert "crawl-w1-000000.cdxj is missing" in damage and "--fix" in damage
    folder.opened("w2").close()
    assert index.read_bytes() == written and verify(place).damage == []
    index.unlink()
    finish_dead_writers(place)  # what --fix does
    assert index.read_bytes() == written and verify(place).damage == []


def test_an_index_that_was_changed_is_damage(folder, exchange):
    index = archived(folder, exchange).with_name("crawl-w1-000000.cdxj")
    index.write_bytes(index.read_bytes().replace(b"text/html", b"text/plin"))
    (damage,) = verify(Place(str(folder.path))).damage
    assert "crawl-w1-000000.cdxj is not the one in the manifest" in damage


def test_an_archive_of_revisits_alone_is_kept_and_recovered(folder, exchange):
    crashed = folder.opened("w1")
    crashed.archive_revisit(exchange(1, status=304, body=b""), Referred("https://example.org/1"))
    crashed.commit()
    crashed._archive.abandon()
    crashed._lock.release()
    folder.opened("w2").close()
    (entry,) = folder.manifest()["files"]
    assert (entry["documents"], entry["revisits"]) == (0, 1)
    assert folder.names("archive") == ["crawl-w1-000000.cdxj", "crawl-w1-000000.warc.gz"]
    assert verify(Place(str(folder.path))).damage == []


def test_an_index_goes_to_the_remote_corpus_with_its_archive(tmp_path, folder, exchange):
    made = type(folder)(tmp_path / "unused")
    settings = {"CORPUS_DIR": f"file://{tmp_path}/remote", "CORPUS_SPOOL_DIR": f"{tmp_path}/spool"}
    corpus = made.opened(**settings)
    corpus.archive(exchange(1))
    corpus.close()
    assert Place(settings["CORPUS_DIR"]).listing("archive") == ["crawl-w1-000000.cdxj", "crawl-w1-000000.warc.gz"]
    assert not list((tmp_path / "spool" / "archive").iterdir())
    assert verify(Place(settings["CORPUS_DIR"])).damage == []
