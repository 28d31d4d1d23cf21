"""`gristmill dataset index`: new pages are checked against a corpus the user already has."""

import gzip
import json

import pytest
import zstandard

from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.dedup import loading
from crawler.dedup.admin import forget, with_index
from crawler.dedup.loading import Columns, LoadError, load
from crawler.document import Document
from crawler.stages.fingerprint import FingerprintStage
from crawler.storage.files.shards import read_lines
from tests.support.process import scrapy
from tests.support.site import Site


@pytest.fixture
def config(valkey_url, tmp_path):
    return from_mapping({"DEDUP_REDIS_URL": valkey_url, "CRAWL_ID": tmp_path.name, "STAGE_WORKERS": 0})


def quietly(_):
    pass


def text(seed, *more):
    return " ".join([*prose(seed), *more])


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def ask(config, content, url):
    doc = FingerprintStage(config.dedup)(Document(url=url, text=content))
    return with_index(config, lambda index: index.check(doc.doc_id, doc.signature, doc.shingle_count, url))


def test_texts_of_every_format_are_found_again_by_file_and_line(config, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "a.jsonl").write_bytes(lines({"text": text(1)}, {"text": text(2)}))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines({"text": text(3)})))
    frames = [zstandard.compress(lines({"text": text(seed)})) for seed in (4, 5)]
    (tmp_path / "c.jsonl.zst").write_bytes(b"".join(frames))
    parquet.write_table(pyarrow.table({"text": [text(6), text(7)], "n": [1, 2]}), tmp_path / "d.parquet")
    (tmp_path / "readme.txt").write_text("not data")
    done = load(config, [str(tmp_path)], Columns(), progress=quietly)
    assert (done.texts, done.claimed, done.exact + done.near, done.empty) == (7, 7, 0, 0)
    places = ["a.jsonl:1", "a.jsonl:2", "b.jsonl.gz:1", "c.jsonl.zst:1", "c.jsonl.zst:2", "d.parquet:1", "d.parquet:2"]
    found = [ask(config, text(seed), "http://new.example/") for seed in range(1, 8)]
    assert [match.owner for match in found] == [f"{tmp_path}/{place}" for place in places]
    assert ask(config, text(3, "one more word"), "http://new.example/").exact is False
    assert ask(config, text(8), "http://new.example/") is None


def test_loading_the_same_files_again_changes_nothing(config, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(
        lines({"text": text(1)}, {"text": text(1)}, {"text": text(1, "more")}, {"text": "  "}, {"text": None})
    )
    first = load(config, [str(file)], Columns(), progress=quietly)
    assert first == load(config, [str(file)], Columns(), progress=quietly)
    assert (first.texts, first.claimed, first.exact, first.near, first.empty) == (5, 1, 1, 1, 2)


def test_an_owner_column_lets_the_same_page_be_crawled_again(config, tmp_path):
    file = tmp_path / "shard.jsonl"
    file.write_bytes(lines({"body": text(1), "canonical_url": "http://a.example/1"}))
    load(config, [str(file)], Columns("body", "canonical_url"), progress=quietly)
    assert ask(config, text(1), "http://a.example/1") is None
    assert ask(config, text(1), "http://b.example/").owner == "http://a.example/1"


def test_commands_can_free_claims(config, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(lines({"text": text(1)}, {"text": text(1)}, {"text": text(2)}))
    load(config, [str(file)], Columns(), progress=quietly)
    assert forget(config, [f"{file}:1"]) == 1
    assert ask(config, text(1), "http://new.example/") is None
    assert ask(config, text(2), "http://new.example/").owner == f"{file}:3"


def test_progress_is_reported_while_batches_are_claimed(config, tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "BATCH", 2)
    monkeypatch.setattr(loading, "IN_FLIGHT", 1)
    file, seen = tmp_path / "a.jsonl", []
    file.write_bytes(lines(*({"text": text(seed)} for seed in range(7))))
    load(config, [str(file)], Columns(), progress=lambda done: seen.append(done.texts))
    assert seen == [2, 4, 6, 7]


@pytest.mark.parametrize(
    ("name", "content", "columns", "complaint"),
    [
        ("a.jsonl", b'{"text": "x"}\n{"text"', Columns(), r"a\.jsonl:2: not JSON"),
        ("a.jsonl", b'{"content": "x"}\n', Columns(), r"a\.jsonl:1: no text in 'text' \(there is: content\).*--field"),
        ("a.jsonl", b'["x"]\n', Columns(), r"a\.jsonl:1: no text"),
        ("a.jsonl", b'{"text": "x"}\n', Columns("text", "url"), r"a\.jsonl:1: no owner in 'url'"),
        ("a.jsonl.gz", b"no gzip", Columns(), r"a\.jsonl\.gz: cannot be read"),
        ("a.parquet", b"no parquet", Columns(), r"a\.parquet: cannot be read as Parquet"),
        ("a.csv", b"text\nx\n", Columns(), r"a\.csv: expected files that end in \.jsonl"),
    ],
)
def test_what_cannot_be_loaded_is_an_error_with_its_place(config, tmp_path, name, content, columns, complaint):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LoadError, match=complaint):
        load(config, [str(tmp_path / name)], columns, progress=quietly)


def test_a_parquet_file_without_the_column_names_those_it_has(config, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"body": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(LoadError, match=r"no column 'text' \(there is: body\)"):
        load(config, [str(tmp_path)], Columns(), progress=quietly)


def test_a_path_that_is_not_there_is_an_error(config, tmp_path):
    with pytest.raises(LoadError, match="nowhere: no such file"):
        load(config, [str(tmp_path / "nowhere")], Columns(), progress=quietly)


def test_parquet_without_pyarrow_is_an_error_that_says_how_to_get_it(config, tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"")
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with pytest.raises(LoadError, match="pip install pyarrow"):
        load(config, [str(tmp_path)], Columns(), progress=quietly)


def test_a_page_that_is_in_the_users_corpus_is_rejected_by_the_crawl(tmp_path):
    """The command fills the embedded server of CORPUS_DIR with its worker processes; the crawl asks the same index."""
    site, corpus, own = Site(pages=5).start(), tmp_path / "corpus", tmp_path / "own.jsonl"
    own.write_bytes(
        lines(
            {"id": "mine-1", "text": "nothing of that kind"},
            {"id": "mine-2", "text": "\n".join(prose(f"{site.address}/3"))},
        )
    )
    settings = {
        "CORPUS_DIR": corpus, "NETWORK_ALLOW": "127.0.0.0/8", "NETWORK_PORTS": site.port, "DOWNLOAD_DELAY": 0,
        "FRONTIER_IDLE_SECONDS": 0.5, "STAGE_WORKERS": 1, "PII_PERSON": "off", "PROGRESS": "off",
    }  # fmt: skip
    try:
        loaded = scrapy("dataset", "index", own, "--id", "id", settings=settings)
        assert (loaded.returncode, loaded.stdout[:24]) == (0, "2 texts: 2 in the index,"), loaded.stderr
        crawled = scrapy("crawl", "corpus", "-a", f"url={site.url(0)}", settings=settings)
        assert crawled.returncode == 0, crawled.stderr
    finally:
        site.stop()
    rejected = [json.loads(line) for path in (corpus / "rejected").glob("*.jsonl*") for line in read_lines(path)]
    by_owner = {record["dup_of"]: record for record in rejected if record["reason"].endswith("_duplicate")}
    assert set(by_owner) == {"mine-2"}
    assert by_owner["mine-2"]["url"] == site.url(3)
    assert by_owner["mine-2"]["dup_similarity"] >= 0.77


def test_the_command_says_what_is_wrong_and_exits_with_1(tmp_path):
    done = scrapy("dataset", "index", tmp_path / "nowhere.jsonl")
    assert done.returncode == 1
    assert "nowhere.jsonl: no such file or folder" in done.stderr


def test_of_a_corpus_of_ours_the_kept_documents_are_loaded(tmp_path):
    for name in ("manifest.json", "shards/a.jsonl", "rejected/b.jsonl", "index/shards-a.parquet", "labels.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    assert loading.files_of([f"{tmp_path}/"]) == [f"{tmp_path}/shards/a.jsonl"]
    (tmp_path / "manifest.json").unlink()
    assert len(loading.files_of([str(tmp_path)])) == 4
