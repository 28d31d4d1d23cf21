"""`gristmill dataset verify`: damage is found and named; each URL has exactly one verdict after --fix."""

import re

import pytest

from crawler.dataset.repair import repair
from crawler.dataset.verify import finish_dead_writers, fix, verify
from crawler.document import DropReason
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.support.noted import manifest_hash, noted
from tests.support.process import scrapy


def check(folder):
    return verify(Place(str(folder.path)))


def repaired(folder):
    place = Place(str(folder.path))
    found = verify(place)
    fix(place, found.surplus + found.superseded)
    found = verify(place)
    assert (found.damage, found.surplus) == ([], [])
    return found


def write(folder, worker, *, kept=(), rejected=()):
    corpus = folder.opened(worker)
    for record in kept:
        corpus.keep(record)
    for record in rejected:
        corpus.reject(record)
    corpus.close()


def test_a_whole_corpus_has_no_findings(folder, kept, rejected):
    write(folder, "w1", kept=[kept(1)], rejected=[rejected(2)])
    found = check(folder)
    assert (found.files, found.documents, found.damage, found.surplus) == (2, 2, [], [])


@pytest.mark.parametrize("change", ["flip", "shorten", "remove"])
def test_a_changed_file_is_named(folder, kept, change):
    write(folder, "w1", kept=[kept(n) for n in range(9)])
    path = folder.path / "shards" / "crawl-w1-000000.jsonl.zst"
    content = bytearray(path.read_bytes())
    if change == "flip":
        content[30] ^= 1
    path.write_bytes(content[:-1] if change == "shorten" else content)
    if change == "remove":
        path.unlink()
    [damage] = check(folder).damage
    assert damage.startswith("shards/crawl-w1-000000.jsonl.zst: ")


def test_a_folder_without_a_manifest_is_no_corpus(tmp_path):
    with pytest.raises(StorageError, match="expected the CORPUS_DIR"):
        verify(Place(str(tmp_path)))


def test_a_corpus_that_lost_its_manifest_is_told_of_repair(folder, kept):
    write(folder, "w1", kept=[kept(1)])
    (folder.path / "manifest.json").unlink()
    with pytest.raises(StorageError, match=r"no manifest\.json; `gristmill dataset repair .*` writes it again"):
        verify(Place(str(folder.path)))


def test_a_file_is_no_corpus(tmp_path):
    (tmp_path / "corpus").write_text("a file")
    with pytest.raises(StorageError, match="expected the CORPUS_DIR"):
        verify(Place(str(tmp_path / "corpus")))


def test_a_ledger_that_is_cut_short_is_damage(folder, kept):
    write(folder, "w1", kept=[kept(1)])
    [ledger] = (folder.path / "manifest.d").glob("*.json")
    ledger.write_bytes(ledger.read_bytes()[:100])
    [damage] = check(folder).damage
    assert damage.startswith(f"manifest.d/{ledger.name}: not JSON") and "gristmill dataset repair" in damage


def test_a_ledger_that_has_gone_is_damage_and_nothing_is_merged_without_it_until_it_is_back(folder, kept):
    write(folder, "w1", kept=[kept(1)])
    write(folder, "w2", kept=[kept(2)])
    place, manifest = Place(str(folder.path)), (folder.path / "manifest.json").read_bytes()
    (folder.path / "manifest.d" / "crawl-w2.json").unlink()
    [damage] = check(folder).damage
    assert damage.startswith("manifest.d/crawl-w2.json: missing, with what its runs were and have spent; restore it")
    with pytest.raises(StorageError, match=r"manifest.d/crawl-w2.json: missing"):
        finish_dead_writers(place)
    assert (folder.path / "manifest.json").read_bytes() == manifest
    repair(place)
    assert check(folder).damage == []
    assert (folder.path / "manifest.json").read_bytes() == manifest


def test_a_page_delivered_twice_is_there_once_after_fix(folder, kept):
    write(folder, "w1", kept=[kept(1), kept(2)])
    write(folder, "w2", kept=[kept(2), kept(3)])
    assert check(folder).surplus == [("shards/crawl-w2-000000.jsonl.zst", 0)]
    repaired(folder)
    assert sorted(record["title"] for record in folder.records()) == ["Page 1", "Page 2", "Page 3"]
    manifest = folder.manifest()
    assert manifest["counts"]["kept"] == 3
    [retired] = manifest["retired"]
    assert retired["path"] == "shards/crawl-w2-000000.jsonl.zst" and retired["removed"] == 1
    assert retired["replaced_by"] == "shards/crawl-w2-000001.jsonl.zst"


def test_the_newest_version_of_a_page_stays(folder, kept):
    write(folder, "w1", kept=[kept(1, text="old", crawled_at="2026-01-01T00:00:00Z")])
    write(folder, "w2", kept=[kept(1, text="new", crawled_at="2026-02-01T00:00:00Z")])
    repaired(folder)
    assert [record["text"] for record in folder.records()] == ["new"]
    assert folder.names("shards") == ["crawl-w2-000000.jsonl.zst"]


def test_a_hold_gives_way_to_the_verdict_of_a_later_run(folder, kept, rejected):
    held = rejected(1, DropReason.HOLD_RATE_LIMITED, "policy", crawled_at="2026-03-01T00:00:00Z")
    write(folder, "w1", rejected=[held, rejected(2)])
    write(folder, "w2", kept=[kept(1)])
    assert verify(Place(str(folder.path))).surplus == [], "what a run left open is no fault"
    repaired(folder)
    assert [record["reason"] for record in folder.records("rejected")] == ["low_quality"]
    assert len(folder.records()) == 1


def test_an_unchanged_page_keeps_its_document(folder, kept, rejected):
    write(folder, "w1", kept=[kept(1)])
    write(folder, "w2", rejected=[rejected(1, DropReason.UNCHANGED, "fetch", crawled_at="2026-03-01T00:00:00Z")])
    repaired(folder)
    assert len(folder.records()) == 1 and folder.records("rejected") == []


def test_a_page_that_is_gone_takes_its_old_document_with_it(folder, kept, rejected):
    write(folder, "w1", kept=[kept(1), kept(2)])
    write(folder, "w2", rejected=[rejected(1, DropReason.GONE, "fetch", crawled_at="2026-03-01T00:00:00Z")])
    repaired(folder)
    assert [record["title"] for record in folder.records()] == ["Page 2"]


def test_two_addresses_of_one_canonical_page_are_one_document(folder, kept):
    write(folder, "w1", kept=[kept(1), kept(2, canonical_url="https://example.org/1")])
    repaired(folder)
    assert len(folder.records()) == 1


@pytest.mark.parametrize("crawl", ["crawl", "another"])
@pytest.mark.parametrize("when", ["2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z"])
def test_the_same_page_of_two_crawls_is_one_page_and_the_command_that_is_named_leaves_the_newest(
    folder, kept, crawl, when
):
    write(folder, "w1", kept=[kept(1), kept(2)], rejected=[])
    write(folder, "w2", kept=[kept(1, crawl_id=crawl, crawled_at=when, text="Another text of the page.")])
    assert (len(check(folder).surplus), check(folder).doubled) == (1, 1)
    said = scrapy("dataset", "verify", str(folder.path))
    assert said.returncode == 1 and "1 surplus record of pages that several crawls" in said.stderr
    advised = re.search(r"`gristmill (dataset supersede [^`]+)`", said.stderr)
    assert advised is not None
    assert scrapy(*advised[1].split()).returncode == 0
    assert "2 records, each page exactly once" in scrapy("dataset", "verify", str(folder.path)).stdout
    (record,) = [record for record in folder.records() if record["url"].endswith("/1")]
    assert (record["crawled_at"] == when) == (when > "2026-01-01T00:00:01Z")


def test_a_page_that_an_older_replay_wrote_under_the_spelling_of_its_archive_is_the_same_page(folder, kept, rejected):
    spelt = {"url": "https://EXAMPLE.org/1?b=2&a=1", "canonical_url": "https://example.org/1"}
    write(folder, "w1", kept=[kept(1), kept(2)])
    write(folder, "w2", rejected=[rejected(1, DropReason.GONE, "fetch", crawled_at="2026-03-01T00:00:00Z", **spelt)])
    repaired(folder)
    assert [record["title"] for record in folder.records()] == ["Page 2"]


def test_fix_waits_for_no_worker_but_refuses_while_one_is_alive(folder, kept):
    write(folder, "w1", kept=[kept(1), kept(1)])
    alive = folder.opened("w1")
    with pytest.raises(StorageError, match="at work"):
        repaired(folder)
    alive.close()
    repaired(folder)


def test_a_crash_in_the_middle_of_fix_brings_no_record_back(folder, kept):
    write(folder, "w1", kept=[kept(1), kept(1), kept(2)])
    before = (folder.path / "shards" / "crawl-w1-000000.jsonl.zst").read_bytes()
    repaired(folder)
    (folder.path / "shards" / "crawl-w1-000000.jsonl.zst").write_bytes(before)  # the crash came before its removal
    folder.opened("w2").close()
    assert len(folder.records()) == 2
    assert check(folder).documents == 2


def test_the_command_says_what_is_wrong_fixes_it_and_answers_with_its_exit_code(folder, kept):
    write(folder, "w1", kept=[kept(1), kept(1)])
    wrong = scrapy("dataset", "verify", str(folder.path))
    assert wrong.returncode == 1 and "1 surplus record" in wrong.stderr
    version = manifest_hash(folder.path)
    fixed = scrapy("dataset", "verify", "--fix", str(folder.path))
    assert noted(folder.path, version)["operation"] == "dataset verify --fix"
    assert fixed.returncode == 0 and "removed 1 surplus" in fixed.stdout and "ok: 1 file, 1 record" in fixed.stdout
    none = scrapy("dataset", "verify", str(folder.path / "shards"))
    assert none.returncode == 1 and "Traceback" not in none.stderr


def test_the_command_seals_what_a_crash_left(folder, kept):
    corpus = folder.opened("w1")
    corpus.keep(kept(1))
    corpus.commit()
    for writer in (corpus._kept, corpus._rejected, corpus._archive):
        writer.abandon()
    corpus._lock.release()
    done = scrapy("dataset", "verify", "--fix", str(folder.path))
    assert done.returncode == 0 and "sealed 1 file of" in done.stdout and "1 record," in done.stdout


def test_a_page_that_is_rejected_at_every_visit_is_no_fault(folder, rejected):
    first, second = "2026-01-01T00:00:00.250Z", "2026-02-01T00:00:00Z"
    gone = {"reason": DropReason.GONE, "first_seen": first}
    write(folder, "w1", rejected=[rejected(1, crawled_at=first, **gone)])
    write(folder, "w2", rejected=[rejected(1, crawled_at=second, **gone)])
    found = check(folder)
    assert (found.surplus, len(found.superseded)) == ([], 1)
    said = scrapy("dataset", "verify", str(folder.path)).stdout
    assert "2 records, 1 page once, and 1 verdict that a later visit replaced" in said


def test_a_page_rejected_twice_at_its_first_visit_is_there_once_too_often(folder, rejected):
    first, repeated = "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"
    write(folder, "w1", rejected=[rejected(1, crawled_at=first, first_seen=first, reason=DropReason.GONE)])
    write(folder, "w2", rejected=[rejected(1, crawled_at=repeated, first_seen=repeated, reason=DropReason.GONE)])
    assert len(check(folder).surplus) == 1


def copied(folder, name):
    path = folder.path / "shards" / "crawl-w1-000000.jsonl.zst"
    (folder.path / name).write_bytes(path.read_bytes())


@pytest.mark.parametrize("name", ["shards/copy.jsonl.zst", "rejected/old (1).parquet", "archive/mine.warc.gz"])
def test_a_file_that_no_manifest_lists_is_named_with_exit_code_1(folder, kept, name):
    write(folder, "w1", kept=[kept(1)])
    copied(folder, name)
    done = scrapy("dataset", "verify", "--fix", str(folder.path))
    assert done.returncode == 1 and "ok:" not in done.stdout
    assert f"{name}: not in the manifest, but readers of {name.partition('/')[0]}/* find it" in done.stderr


def test_a_sealed_file_that_its_worker_did_not_list_waits_for_fix(folder, kept):
    write(folder, "w1", kept=[kept(1)])
    copied(folder, "shards/crawl-w1-000001.jsonl.zst")
    done = scrapy("dataset", "verify", str(folder.path))
    assert done.returncode == 1 and "1 file in no manifest, such as shards/crawl-w1-000001.jsonl.zst" in done.stderr
    assert scrapy("dataset", "verify", "--fix", str(folder.path)).returncode == 0
    assert scrapy("dataset", "verify", str(folder.path)).stderr == ""


def test_what_a_dead_worker_left_in_progress_is_named_and_so_is_what_a_live_one_writes(folder, kept):
    corpus = folder.opened("w1")
    corpus.keep(kept(1))
    corpus.commit()
    assert scrapy("dataset", "verify", str(folder.path)).stdout == (
        "1 file in progress not counted: it is sealed when the crawl ends, or when full\n"
        "ok: 0 files, 0 records, each page exactly once\n"
    )
    for writer in (corpus._kept, corpus._rejected, corpus._archive):
        writer.abandon()
    corpus._lock.release()
    died = scrapy("dataset", "verify", str(folder.path))
    assert died.returncode == 0
    assert "1 unfinished file of workers that died, such as shards/crawl-w1-000000.jsonl.zst.part" in died.stdout
    assert "--fix does it now" in died.stdout
    fixed = scrapy("dataset", "verify", "--fix", str(folder.path)).stdout
    assert "ok: 1 file, 1 record" in fixed and "died" not in fixed


def test_notes_of_a_person_beside_the_shards_are_nobodys_business(folder, kept):
    write(folder, "w1", kept=[kept(1)])
    (folder.path / "shards" / "README").write_text("notes")
    assert scrapy("dataset", "verify", str(folder.path)).returncode == 0


@pytest.mark.parametrize("distribution", ["null", '["by hand"]', '{"by": "hand"}'])
def test_a_description_that_a_person_has_changed_is_called_outdated_and_stops_nothing(folder, kept, distribution):
    write(folder, "w1", kept=[kept(0)])
    (folder.path / "croissant.json").write_text(f'{{"distribution": {distribution}}}')
    checked = scrapy("dataset", "verify", folder.path)
    assert "croissant.json and README.md describe an older state of the corpus" in checked.stdout
    assert checked.stdout.splitlines()[-1].startswith("ok: 1 file, 1 record"), checked.stdout
