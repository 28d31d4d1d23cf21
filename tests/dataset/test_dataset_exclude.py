"""A withdrawal: what is asked to go is gone from the disk, everything else is as it was, and the corpus says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.config import from_mapping
from crawler.dataset.exclude import WITHDRAWALS, Wish, covers, find, refused_domains, withdraw, withdrawals
from crawler.dataset.rewrite import read_files
from crawler.dataset.verify import finish_dead_writers, verify
from crawler.dataset.versions import Cause, held
from crawler.document import Document, Drop, DropReason
from crawler.frontier.exclusion import block, domain_named, revoked_by, ungranted, without
from crawler.frontier.model import PutStatus
from crawler.frontier.operate import with_frontier
from crawler.seeds.allowlist import parse_allowlist
from crawler.seeds.scope import Scope
from crawler.server.location import frontier_folder
from crawler.storage.archive.reader import read_archive
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import rejection_of
from crawler.storage.files.shards import read_records
from crawler.urls.link import Link
from tests.support.places import PROJECT

HERE = Path(__file__).parent
BIRCH = Wish("a letter from the owner", frozenset({"birch.example"}), refused=frozenset({"birch.example"}))


def run(corpus, wish=BIRCH, now=1.8e9):
    return withdraw(corpus.place, wish, now=now)


def healthy(corpus):
    found = verify(corpus.place)
    return not found.damage and not found.surplus


def pages_of(corpus):
    files = sorted((corpus.path / "archive").glob("*.warc.gz"))
    return {page.url: page for file in files for page in read_archive(str(file))}


def test_what_would_go_is_counted_before_anything_changes(corpus):
    before = corpus.everything()
    found = find(corpus.place, BIRCH)
    assert (found.kept, found.rejected, found.with_text, found.archived) == (4, 2, 2, 6)
    assert found.domains == {"birch.example": 4} and found.licences == {"CC-BY-4.0": 4}
    assert corpus.everything() == before


def test_a_visit_that_found_a_page_unchanged_is_no_second_raw_page(corpus):
    again = Corpus(from_mapping({"CORPUS_DIR": str(corpus.path), "WORKER_ID": "w2"}), clock=lambda: 1.7e9)
    again.open()
    (first, *_) = (r for e in read_files(corpus.place) for r in read_records(corpus.place, e["path"])
                   if r["domain"] == "birch.example")  # fmt: skip
    visit = Document(**{name: first[name] for name in ("url", "canonical_url", "domain", "warc_file")})
    again.reject(rejection_of(visit, Drop("fetch", DropReason.UNCHANGED, "same content hash")))
    again.close()
    found = find(corpus.place, BIRCH)
    assert (found.rejected, found.archived, found.raw) == (3, 7, 6)


def test_no_phrase_of_the_domain_is_left_on_the_disk(corpus):
    assert b"birch-phrase" in corpus.everything()
    run(corpus)
    left = corpus.everything()
    assert b"birch-phrase" not in left
    assert left.count(b"alder-phrase-000") and left.count(b"cedar-phrase-005")


def test_the_other_documents_and_all_decisions_stay(corpus):
    before = {r["url"]: r for r in corpus.records()}
    run(corpus)
    after = {r["url"]: r for r in corpus.records()}
    assert set(before) - set(after) == {u for u in before if "birch" in u} and len(after) == 8
    assert all(after[url]["text"] == before[url]["text"] for url in after)
    rejected = [r for r in corpus.records("rejected") if r["domain"] == "birch.example"]
    assert [r["reason"] for r in rejected] == ["low_quality"] * 2
    assert all("text" not in r and "title" not in r and r["warc_file"] is None for r in rejected)
    assert healthy(corpus)


def test_the_raw_pages_of_others_are_found_where_their_records_say(corpus):
    run(corpus)
    for record in [*corpus.records(), *corpus.records("rejected")]:
        if record["domain"] == "birch.example":
            continue
        with (corpus.path / record["warc_file"]).open("rb") as file:
            file.seek(record["warc_offset"])
            page = next(iter(ArchiveIterator(file)))
            assert page.rec_headers["WARC-Record-ID"] == record["warc_record_id"]
            assert record["title"].encode() in page.content_stream().read()
    assert len(pages_of(corpus)) == 12


def test_an_independent_reader_reads_the_archive_to_its_end(corpus):
    run(corpus)
    (file,) = (corpus.path / "archive").glob("*.warc.gz")
    with file.open("rb") as stream:
        kinds = [(r.rec_type, r.rec_headers["WARC-Target-URI"]) for r in ArchiveIterator(stream, check_digests=True)]
    assert kinds.count(("metadata", None)) == 12 and len(kinds) == 1 + 2 * 18
    assert not any("birch" in (uri or "") for _, uri in kinds)


def test_the_new_version_names_the_old_one_the_reason_and_what_replaced_what(corpus):
    old = corpus.manifest()
    run(corpus)
    new = corpus.manifest()
    (step,) = new["lineage"]
    assert new["version"] == 2 and step["operation"] == "dataset exclude" and step["reason"] == BIRCH.reason
    assert step["counts"] == {"changed": step["counts"]["changed"], "rejected": 0, "dropped": 4, "erased": 6}
    assert json.loads((corpus.path / step["previous"]["path"]).read_bytes()) == old
    assert new["counts"]["kept"] == 8 and new["counts"]["archived"] == 12
    retired = {entry["path"]: entry["sha256"] for entry in new["retired"]}
    assert retired == {entry["path"]: entry["sha256"] for entry in old["files"]}


def test_the_list_of_withdrawals_has_urls_and_hashes_and_no_text(corpus):
    run(corpus)
    lines = [json.loads(line) for line in (corpus.path / WITHDRAWALS).read_text().splitlines()]
    assert lines[0]["kind"] == "withdrawal" and lines[0]["reason"] == BIRCH.reason
    pages = [line for line in lines if line["kind"] == "page"]
    assert len(pages) == 6 and {page["was"] for page in pages} == {"kept", "rejected"}
    assert set(pages[0]) == {
        *("kind", "number", "was", "url", "canonical_url", "domain", "doc_id", "content_hash", "license_tag")
    }
    assert refused_domains(corpus.place) == {"birch.example"}


def test_reports_that_may_quote_the_pages_go(corpus):
    left = [corpus.path / "report.html", corpus.path / ".report.html.4242.tmp"]  # the second of one that was killed
    for path in left:
        path.write_text("birch-phrase-000")
    assert {path.name for path in left} <= set(run(corpus).removed_files)
    assert not any(path.exists() for path in left)


def test_files_that_an_earlier_version_kept_are_removed(corpus):
    from crawler.dataset.rewrite import rewrite

    changed = rewrite(corpus.place, lambda r: None if "birch" in r["url"] else r, Cause("t", "t", 1.7e9))
    assert changed.dropped == 4 and b"birch-phrase-000" in corpus.everything()
    run(corpus)
    assert b"birch-phrase" not in corpus.everything() and healthy(corpus)


def test_the_same_withdrawal_twice_changes_nothing_more(corpus):
    first = run(corpus)
    before = corpus.everything()
    second = run(corpus, now=1.9e9)
    assert second.rewritten.version == first.rewritten.version == 2
    assert second.urls == first.urls and second.refused == first.refused
    assert corpus.everything() == before


def test_a_second_withdrawal_is_a_third_version(corpus):
    run(corpus)
    run(corpus, Wish("another letter", frozenset({"alder.example"})))
    assert corpus.manifest()["version"] == 3 and len(withdrawals(corpus.place)) == 2
    assert {r["domain"] for r in corpus.records()} == {"cedar.example"}
    assert b"alder-phrase" not in corpus.everything() and healthy(corpus)


def test_what_a_killed_worker_left_behind_is_withdrawn_too(corpus, add):
    config = from_mapping({"CORPUS_DIR": str(corpus.path), "WORKER_ID": "w2"})
    dead = Corpus(config, clock=lambda: 1.7e9)
    dead.open()
    add(dead, "birch.example", "CC-BY-4.0", 77, kept=True)
    for writer in (dead._archive, dead._kept, dead._rejected):
        writer.abandon()
    dead._lock.release()  # as the kernel does for a killed process
    assert list((corpus.path / "archive").glob("*.part"))
    done = run(corpus, Wish("revoked", licences=frozenset({"CC-BY-4.0"})))
    assert "https://www.birch.example/77" in done.urls
    assert b"birch-phrase" not in corpus.everything() and healthy(corpus)


def test_a_licence_is_withdrawn_across_domains_with_its_raw_pages(corpus):
    run(corpus, Wish("revoked", licences=frozenset({"CC-BY-4.0"})))
    left = corpus.everything()
    assert {r["domain"] for r in corpus.records()} == {"cedar.example"}
    assert b"alder-phrase" not in left and b"birch-phrase" not in left and len(pages_of(corpus)) == 6


def test_all_conditions_of_a_wish_have_to_hold(corpus):
    found = find(corpus.place, Wish("x", frozenset({"birch.example"}), frozenset({"CC0-1.0"})))
    assert not (found.kept or found.with_text or found.archived)


def test_a_domain_with_nothing_in_the_corpus_is_refused_all_the_same(corpus):
    before = corpus.manifest()
    done = run(corpus, Wish("a letter", frozenset({"elm.example"}), refused=frozenset({"elm.example"})))
    assert done.rewritten.version == 1 and corpus.manifest() == before
    assert refused_domains(corpus.place) == {"elm.example"}


def test_an_archive_without_a_page_left_goes_as_a_whole(corpus):
    run(corpus, Wish("all", frozenset(f"{tree}.example" for tree in ("alder", "birch", "cedar"))))
    assert not list((corpus.path / "archive").glob("*.warc.gz")) and not corpus.records()
    assert healthy(corpus)


@pytest.mark.parametrize("where", [2, 0.5, -3])
def test_a_damaged_archive_is_an_error_and_nothing_has_changed(corpus, where):
    (file,) = (corpus.path / "archive").glob("*.warc.gz")
    content = bytearray(file.read_bytes())
    content[int(len(content) * where) if isinstance(where, float) else where] ^= 0xFF
    file.write_bytes(content)
    before, shards = corpus.manifest(), corpus.records()
    with pytest.raises(StorageError, match="SHA-256"):
        run(corpus)
    assert corpus.manifest() == before and corpus.records() == shards


def test_killed_at_any_step_the_next_call_finishes(corpus, tmp_path):
    (tmp_path / "copies").mkdir()
    command = [sys.executable, str(HERE / "withdraw_process.py"), str(corpus.path), str(tmp_path / "copies")]
    root = PROJECT
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, env=os.environ | {"PYTHONPATH": str(root)}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    steps = int(done.stdout)
    assert steps > 20
    wish = Wish("a letter", frozenset({"birch.example"}), reach="text")
    for step in range(1, steps + 1):
        copy = type(corpus)(tmp_path / "copies" / str(step))
        assert copy.manifest()["version"] in {1, 2}
        finish_dead_writers(copy.place)
        assert healthy(copy), step
        withdraw(copy.place, wish, now=1.9e9)
        assert healthy(copy) and copy.manifest()["version"] == 2, step
        assert b"birch-phrase" not in copy.everything(), step
        assert len(copy.records()) == 8 and len(pages_of(copy)) == 12, step


def test_a_corpus_at_a_url_is_rewritten_there(remote, tmp_path):
    wish = Wish("a letter", frozenset({"birch.example"}))
    done = withdraw(remote, wish, now=1.8e9)
    assert (done.rewritten.dropped, done.rewritten.erased, done.rewritten.version) == (4, 6, 2)
    records = [r for e in read_files(remote, ("shards", "rejected")) for r in read_records(remote, e["path"])]
    assert len([r for r in records if "text" in r]) == 12 and not [r for r in records if "birch-phrase" in str(r)]
    found = verify(remote)
    assert not found.damage and not found.surplus
    index, archive = remote.listing("archive")
    assert index == archive.partition(".")[0] + ".cdxj"
    assert archive.startswith("rewrite~0002") and {r["warc_file"] for r in records} == {f"archive/{archive}", None}


def test_the_frontier_forgets_the_domain_and_takes_nothing_new_of_it(corpus):
    config = from_mapping({"CORPUS_DIR": str(corpus.path), "CRAWL_ID": "crawl"})
    urls = [f"https://{tree}.example/{n}" for tree in ("alder", "birch") for n in range(3)]

    async def sow(frontier):
        await frontier.shared.scope_set(Scope(link_hosts=frozenset({"alder.example", "birch.example"})).to_json())
        return await frontier.put([Link(url) for url in urls])

    async def again(frontier):
        stored = Scope.from_json(await frontier.shared.scope_get())
        return await frontier.put([Link(f"{url}/new") for url in urls]), stored, (await frontier.counts()).queued

    frontier_folder(config).mkdir(parents=True)
    assert set(with_frontier(config, sow)) == {PutStatus.QUEUED}
    assert block(config, ["crawl"], frozenset({"birch.example"}), None) == 3
    statuses, stored, queued = with_frontier(config, again)
    assert statuses == [PutStatus.QUEUED] * 3 + [PutStatus.BLOCKED] * 3 and queued == 6
    assert stored.link_hosts == {"alder.example"}


@pytest.mark.parametrize(
    ("url", "covered"),
    [
        ("https://birch.example/1", True),
        ("https://a.b.birch.example:8443/1", True),
        ("https://xbirch.example/", False),
        ("https://birch.example.org/", False),
        ("http://127.0.0.2:8080/", True),
        ("http://127.0.0.2:8081/", False),
        ("http://127.0.0.2/", False),
        ("http://[broken", False),
    ],
)
def test_a_domain_covers_its_subdomains_and_a_port_only_itself(url, covered):
    assert covers(frozenset({"birch.example", "127.0.0.2:8080"}), url) is covered


def test_an_allowlist_revokes_what_it_no_longer_grants():
    entries = parse_allowlist(
        b"- {domain: a.example, tier: A, licence: CC-BY-4.0, exclude: [/old]}\n"
        b"- {domain: b.example, tier: A, licence: CC-BY-SA-4.0}\n"
        b"- {domain: c.example, tier: A, licence: CC0-1.0, expires: 2020-01-01}\n"
        b"- {domain: docs.d.example, tier: A, licence: CC0-1.0}\n"
    )
    revoked = revoked_by(entries)
    answers = {
        url: revoked({"url": f"https://{url}", "license_tag": tag, "license_tier": "A" if tag else None})
        for url, tag in {
            "a.example/new": "CC-BY-4.0",
            "a.example/old": "CC-BY-4.0",
            "b.example/": "CC-BY-4.0",
            "c.example/": "CC0-1.0",
            "docs.d.example/": None,
            "d.example/": "CC0-1.0",
        }.items()
    }
    gone = {"a.example/old", "b.example/", "c.example/", "d.example/"}
    assert {url for url, answer in answers.items() if answer} == gone
    hosts = ("a.example", "c.example", "docs.d.example", "old.d.example", "d.example", "www.e.example")
    pages = [{"canonical_url": f"https://{host}/", "domain": ".".join(host.split(".")[-2:])} for host in hosts]
    assert ungranted(pages, entries) == {"c.example", "old.d.example", "e.example"}


@pytest.mark.parametrize(("tier", "goes"), [(None, False), ("A", True), ("B", True)])
def test_what_a_page_says_of_its_own_licence_is_nothing_that_an_allowlist_takes_back(tier, goes):
    revoked = revoked_by(parse_allowlist(b"- {domain: a.example, tier: B, licence: CC-BY-4.0}\n"))
    record = {"url": "https://a.example/", "license_tag": "CC-BY-SA-3.0", "license_tier": tier}
    assert revoked(record) is goes
    assert not revoked(record | {"license_tag": "CC-BY-4.0"})
    assert revoked(record | {"url": "https://b.example/"}), "no entry covers it, whatever it says"


def test_the_rules_of_a_crawl_lose_withdrawn_hosts_and_revoked_entries():
    entries = parse_allowlist(
        b"- {domain: a.example, tier: A, licence: X}\n- {domain: b.example, tier: A, licence: X}\n"
    )
    scope = Scope(link_hosts=frozenset({"sub.gone.example", "stays.example"}), entries=tuple(entries))
    assert without(scope, frozenset({"gone.example"}), entries[:1]) == Scope(
        link_hosts=frozenset({"stays.example"}), entries=tuple(entries[:1])
    )


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("Example.ORG", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("https://a.example/", None),
        ("", None),
    ],
)
def test_a_domain_is_read_in_any_spelling_and_a_url_is_none(text, domain):
    assert domain_named(text) == domain


def test_a_broken_list_of_withdrawals_stops_a_crawl_instead_of_being_ignored(corpus):
    (corpus.path / WITHDRAWALS).write_text('{"kind": "withdrawal"\n')
    with pytest.raises(StorageError, match="line 1"):
        refused_domains(Place(str(corpus.path)))


@pytest.mark.parametrize("at_work", ["crawl-w1", ".withdrawal"])
def test_what_cannot_be_carried_out_now_is_not_written_down_as_a_wish(corpus, at_work):
    before = corpus.everything()
    lock = held(corpus.place, at_work)
    try:
        with pytest.raises(StorageError, match=r"is at work|another withdrawal is running"):
            run(corpus)
    finally:
        lock.release()
    assert not withdrawals(corpus.place) and corpus.everything() == before
    assert run(corpus).found.kept == 4
