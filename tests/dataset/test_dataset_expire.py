"""Old archives leave the disk, the text stays, and everybody is told what expired instead of finding damage."""

import orjson
import pytest

from crawler.dataset import expire as expiry
from crawler.dataset import versions
from crawler.dataset.expire import expire, expired, expired_note, too_old
from crawler.dataset.rewrite import rewrite, tidy
from crawler.dataset.verify import verify
from crawler.dataset.versions import Cause
from crawler.operations.expire import WORK
from crawler.storage.files.errors import StorageError
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import Place
from tests.support.operations import problems_of

DAY = 86_400
NOW = 1_767_225_600.0 + 100 * DAY  # the pages were fetched a hundred days before, from the 1st to the 4th day


@pytest.fixture
def place(folder, kept, exchange):
    """Four archives of one page each, a day apart."""
    corpus = folder.opened(ARCHIVE_MAX_BYTES=1024)
    for number in range(4):
        made = exchange(number, body=bytes(range(256)) * 8, fetched_at=1_767_225_600.0 + number * DAY)
        found = corpus.archive(made)
        corpus.keep(kept(number, warc_file=found.file, warc_offset=found.offset))
        corpus._archive.seal()
    corpus.close()
    return Place(str(folder.path))


def names(place):
    return [name for name in place.listing("archive") if name.endswith(".warc.gz")]


def test_archives_go_whose_newest_record_is_too_old_with_their_index(place, folder):
    gone = expire(place, days=98.5, now=NOW, by="keeper", reason="agreed")
    assert [entry["path"] for entry in gone] == ["archive/crawl-w1-000000.warc.gz", "archive/crawl-w1-000001.warc.gz"]
    assert folder.names("archive") == [f"crawl-w1-00000{n}.{end}" for n in (2, 3) for end in ("cdxj", "warc.gz")]
    assert len(folder.records()) == 4


def test_the_log_says_what_went_when_why_and_who_asked(place):
    before = {entry["path"]: entry for entry in place.manifest()["files"]}
    expire(place, days=99.5, now=NOW, by="keeper", reason="agreed")
    expire(place, days=98.5, now=NOW, by="another")
    first, second = expired(place)
    entry = before["archive/crawl-w1-000000.warc.gz"]
    assert first == {name: entry[name] for name in ("path", "sha256", "bytes", "documents", "revisits")} | {
        "first_crawled_at": "2026-01-01T00:00:00.000Z",
        "last_crawled_at": "2026-01-01T00:00:00.000Z",
        "expired_at": "2026-04-11T00:00:00.000Z",
        "older_than_days": 99.5,
        "by": "keeper",
        "reason": "agreed",
    }
    assert (second["path"], second["by"]) == ("archive/crawl-w1-000001.warc.gz", "another")


def test_the_manifest_counts_a_version_up_and_keeps_hash_and_time_of_what_expired(place, folder):
    before = folder.manifest()
    expire(place, days=99.5, now=NOW, by="keeper")
    after = folder.manifest()
    assert (after["version"], after["counts"]["archived"]) == (2, 3)
    (step,) = after["lineage"]
    assert (step["operation"], step["counts"], step["kept_old"]) == (
        "dataset expire",
        {"archives": 1, "erased": 1},
        False,
    )
    assert orjson.loads((folder.path / step["previous"]["path"]).read_bytes()) == before
    sources = next(entry["archives"] for entry in after["files"] if entry["kind"] == "shards")
    old = next(entry for entry in before["files"] if entry["path"].endswith("w1-000000.warc.gz"))
    assert sources[old["path"]] == {"documents": 1, "sha256": old["sha256"], "expired": "2026-04-11T00:00:00.000Z"}
    assert [entry["path"] for entry in after["retired"]] == [old["path"]]


def test_verify_says_what_expired_and_finds_no_damage(place):
    expire(place, days=98.5, now=NOW, by="keeper")
    found = verify(place)
    assert (found.damage, found.surplus, found.expired) == ([], [], (2, 2))


def test_what_is_young_enough_stays_and_makes_no_version(place, folder):
    assert too_old(place, days=101, now=NOW) == []
    assert expire(place, days=101, now=NOW, by="keeper") == []
    assert folder.manifest()["version"] == 1 and not (folder.path / "expired.jsonl").exists()


def test_workers_go_on_while_archives_expire(place, folder, kept, exchange):
    alive = folder.opened("alive")
    alive.keep(kept(9, warc_file=alive.archive(exchange(9)).file))
    alive.commit()
    assert len(expire(place, days=98.5, now=NOW, by="keeper")) == 2
    alive.close()
    assert verify(place).damage == [] and folder.manifest()["counts"]["kept"] == 5


def dies_at(number, call):
    """The call, until it is made for the `number`th time: what a SIGKILL at that moment leaves is on the disk."""
    made = []

    def counted(*arguments, **named):
        made.append(call)
        if len(made) == number:
            raise KeyboardInterrupt
        return call(*arguments, **named)

    return counted


@pytest.mark.parametrize(
    ("where", "name", "number"),
    [(expiry, "new_version", 1), (expiry, "set_old_aside", 1), (Place, "remove", 2), (Place, "remove", 5)],
)
def test_a_call_that_was_cut_off_is_finished_by_the_next(place, folder, monkeypatch, where, name, number):
    monkeypatch.setattr(where, name, dies_at(number, getattr(where, name)))
    with pytest.raises(KeyboardInterrupt):
        expire(place, days=98.5, now=NOW, by="keeper")
    monkeypatch.undo()
    assert verify(place).damage == []
    expire(place, days=98.5, now=NOW, by="keeper")
    assert names(place) == ["crawl-w1-000002.warc.gz", "crawl-w1-000003.warc.gz"]
    assert len(expired(place)) == 2 and folder.manifest()["version"] == 2
    assert verify(place).damage == []


def test_a_rewrite_before_and_after_leaves_its_old_files_alone(place, folder):
    def renamed(title):
        rewrite(place, lambda record: record | {"title": title}, Cause("test", "titles", 1.8e9))

    renamed("one")
    expire(place, days=98.5, now=NOW, by="keeper")
    tidy(place)
    renamed("two")
    assert folder.manifest()["version"] == 4
    assert len(list((folder.path / "replaced" / "shards").iterdir())) == 2
    assert not (folder.path / "replaced" / "archive").exists()
    assert verify(place).damage == []


def test_while_another_operation_makes_this_version_expiry_waits_its_turn(place, folder):
    lock = WriterLock(folder.path / "manifest.d" / "rewrite~0002.lock")
    assert lock.acquire()
    with pytest.raises(StorageError, match="try again later"):
        expire(place, days=98.5, now=NOW, by="keeper")
    lock.release()
    assert len(names(place)) == 4


def test_a_version_that_has_come_to_stand_in_between_is_not_overwritten(place):
    expire(place, days=99.5, now=NOW, by="keeper")
    with pytest.raises(StorageError, match="changed the corpus first"):
        versions.check_free(place, "rewrite~0002")
    versions.check_free(place, "rewrite~0003")


def test_who_asks_for_an_expired_archive_is_told_when_it_went(place, folder, monkeypatch):
    expire(place, days=98.5, now=NOW, by="keeper")
    expected = f"1 archive expired (2026-04-11T00:00:00.000Z); {folder.path}/expired.jsonl says which and why"
    assert expired_note(f"{folder.path}/archive/crawl-w1-000000.warc.gz").endswith(expected)
    assert "2 archives expired" in expired_note(f"{folder.path}/archive/*.warc.gz")
    assert expired_note(f"{folder.path}/archive/crawl-w1-000002.warc.gz") == ""
    assert expired_note("elsewhere.warc.gz") == expired_note(f"{folder.path.parent}/archive/x.warc.gz") == ""
    monkeypatch.chdir(folder.path)
    assert "1 archive expired" in expired_note("archive/crawl-w1-000001.warc.gz")


def test_archives_of_a_remote_corpus_expire_there(tmp_path, folder, exchange):
    settings = {"CORPUS_DIR": f"file://{tmp_path}/remote", "CORPUS_SPOOL_DIR": f"{tmp_path}/spool"}
    corpus = folder.opened(**settings)
    corpus.archive(exchange(1))
    corpus.close()
    remote = Place(settings["CORPUS_DIR"], settings["CORPUS_SPOOL_DIR"])
    assert len(expire(remote, days=1, now=NOW, by="keeper")) == 1
    assert remote.listing("archive") == [] and verify(remote).damage == []
    assert expired(remote)[0]["path"] == "archive/crawl-w1-000000.warc.gz"


def test_the_command_takes_its_age_from_the_setting_and_asks_for_one_where_there_is_none(place, folder, capsys):
    (problem,) = problems_of(WORK, "--by", "keeper", folder.path)
    assert "ARCHIVE_TTL_DAYS" in problem and "--older-than" in problem
    for days, said in ((100_000, "no archive is older than 100000 days"), (0.001, "removed 4 archives")):
        assert problems_of(WORK, "--by", "keeper", folder.path, ARCHIVE_TTL_DAYS=days) == []
        assert said in capsys.readouterr().out
