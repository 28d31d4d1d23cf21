"""Duplicates between corpora are those of the crawl's rules, the stated copy stays, and what remains has none."""

from __future__ import annotations

import asyncio
import gzip
import random
from pathlib import Path

import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.deduplication.corpus import write as write_corpus
from crawler.dataset.deduplication.found import Duplicates
from crawler.dataset.deduplication.prints import CRITERIA
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.registry.behind import corpora_behind, refusals_of
from crawler.dataset.rewrite import read_files
from crawler.dataset.verify import verify
from crawler.dataset.withdrawals import log_lines, withdrawals
from crawler.dedup.loading import fingerprints
from crawler.dedup.memory_index import MemoryIndex
from crawler.document import Document, Drop, DropReason
from crawler.stages.fingerprint import exact_id
from crawler.storage.corpus.version import manifest_hash, versions_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import rejection_of
from crawler.storage.files.shards import read_records
from tests.support.corpus_folder import Folder as CorpusFolder
from tests.support.three_domains import Folder, fill

pytest.importorskip("pyarrow", reason="pyarrow is optional")
pytest.importorskip("duckdb", reason="duckdb is optional")
CONFIG = from_mapping({"STAGE_WORKERS": 0})
WORDS = [
    a + b for a in ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti") for b in ("d", "f", "g", "lan", "m", "s", "vor")
]


def texts(count: int, seed: int = 1) -> list[str]:
    """Of every base text copies that differ in nothing, in one word, or in most of them."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        base = rng.choices(WORDS, k=200)
        found.append(" ".join(base))
        for kind in rng.choices(("same", "near", "far"), k=rng.randint(0, 3)):
            words = list(base)
            if kind == "near":
                words[rng.randrange(len(words))] = "changed"
            if kind == "far":
                words = [rng.choice(WORDS) if n % 4 == 0 else word for n, word in enumerate(words)]
            found.append(" ".join(words))
    rng.shuffle(found)
    return found[:count]


def records(count: int, seed: int = 1) -> list[dict]:
    rng = random.Random(seed)
    return [
        {
            "url": f"https://x{number}.example/",
            "text": text,
            "license_tier": rng.choice(["A", "B", None]),
            "quality_score": rng.choice([0.5, 0.501, 0.9]),
            "pub_date": rng.choice([None, "2020-01-01", "2024-01-01"]),
        }
        for number, text in enumerate(texts(count, seed))
    ]


def records_of(duplicates: Duplicates) -> list[dict]:
    return [record for number in range(len(duplicates.names)) for record in duplicates.remaining(number)]


def write(path: Path, found: list[dict]) -> str:
    path.write_bytes(gzip.compress(b"".join(orjson.dumps(r) + b"\n" for r in found), mtime=0))
    return str(path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("dedup"), records(240)
    return [write(folder / f"{name}.jsonl.gz", found[n::3]) for n, name in enumerate("abc")], found


def in_rank(found: list[dict]) -> list[tuple[tuple, dict]]:
    """The rule, written once more: tier, quality to 0.01, date, order."""
    ranked = []
    for source in range(3):
        for n, record in enumerate(found[source::3]):
            tier = "AB".find(record["license_tier"] or "") if record["license_tier"] else 2
            key = (tier, -round(record["quality_score"], 2), record["pub_date"] or "9", source, n)
            ranked.append((key, record))
    return sorted(ranked, key=lambda pair: pair[0])


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = text.split()
    return frozenset(tuple(words[n : n + 5]) for n in range(len(words) - 4))


def jaccard(one: frozenset, two: frozenset) -> float:
    return len(one & two) / len(one | two)


def test_what_goes_is_what_real_jaccard_similarities_say_of_every_pair(made):
    names, found = made
    kept: list[tuple[dict, frozenset]] = []
    expected: dict[str, float] = {}
    for _, record in in_rank(found):
        mine = shingles(record["text"])
        best = max((jaccard(mine, theirs) for _, theirs in kept), default=0.0)
        assert not 0.6 < best < 0.85, "the texts of the test are meant to be clear"
        if best >= CONFIG.dedup.threshold:
            expected[record["url"]] = best
        else:
            kept.append((record, mine))
    text_of = {r["url"]: r["text"] for r in found}
    with Duplicates(names, CONFIG) as duplicates:
        decisions = list(duplicates.decisions())
        staying = [r["url"] for r in records_of(duplicates)]
    assert {d["url"] for d in decisions} == set(expected) and len(expected) > 40
    assert set(staying) == {record["url"] for record, _ in kept} and len(staying) == len(kept)
    for each in decisions:
        similar = jaccard(shingles(text_of[each["url"]]), shingles(text_of[each["kept_url"]]))
        assert each["kept_url"] in staying and (each["kind"] == "exact") == (similar == 1.0)
        assert each["similarity"] == pytest.approx(similar, abs=0.15)


@pytest.fixture(scope="module")
def unclear(tmp_path_factory):
    """Copies of ten texts that differ more and more: most share some bands, many are near the threshold."""
    rng, folder, found = random.Random(5), tmp_path_factory.mktemp("unclear"), records(240, seed=3)
    bases = [rng.choices(WORDS, k=200) for _ in range(10)]
    for record in found:
        words = list(rng.choice(bases))
        for _ in range(rng.randint(0, 14)):
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        record["text"] = " ".join(words)
    for record in found[::4]:
        record["text"] = rng.choice(found)["text"]
    return [write(folder / f"{name}.jsonl.gz", found[n::3]) for n, name in enumerate("abc")], found


def test_the_verdicts_are_those_of_the_index_of_the_crawl_asked_in_rank(unclear):
    names, found = unclear

    async def ask():
        index, gone = MemoryIndex(CONFIG.dedup), {}
        for _, record in in_rank(found):
            ((doc_id, signature, count, url),) = fingerprints(CONFIG.dedup, [(record["url"], record["text"])])
            match = await index.check(doc_id, signature, count, url)
            if match is not None:
                gone[url] = (match.owner, round(match.similarity, 4), "exact" if match.exact else "near")
        return gone

    with Duplicates(names, CONFIG) as duplicates:
        said = {d["url"]: (d["kept_url"], d["similarity"], d["kind"]) for d in duplicates.decisions()}
    assert (
        said == asyncio.run(ask())
        and 50 < len(said) < 200
        and {kind for *_, kind in said.values()} == {"exact", "near"}
    )


def test_the_report_counts_each_pair_of_corpora_and_what_stays(made):
    names, _ = made
    with Duplicates(names, CONFIG) as duplicates:
        found, decisions = duplicates.found, list(duplicates.decisions())
    assert sum(pair.documents for pair in found.pairs) == len(decisions)
    for pair in found.pairs:
        of = [d for d in decisions if (d["source"], d["kept_source"], d["kind"]) == pair[:3]]
        assert len(of) == pair.documents
    gone = [sum(d["source"] == name for d in decisions) for name in names]
    assert found.stay == [80 - count for count in gone]


@pytest.mark.parametrize(
    ("keep", "stays"),
    [
        (["tier"], "tier"),
        (["quality"], "quality"),
        (["date"], "date"),
        (["order"], "first"),
        (["tier", "quality"], "tier"),
        (["date", "tier"], "date"),
    ],
)
def test_the_rule_says_which_copy_stays(tmp_path, keep, stays):
    text = " ".join(random.Random(2).choices(WORDS, k=100))
    plain = {"license_tier": "B", "quality_score": 0.5, "pub_date": "2024-01-01"}
    copies = {
        "first": {},
        "tier": {"license_tier": "A"},
        "quality": {"quality_score": 0.9},
        "date": {"pub_date": "2020-01-01"},
    }
    names = []
    for name, better in copies.items():
        names.append(write(tmp_path / f"{name}.jsonl.gz", [{"url": name, "text": text} | plain | better]))
    with Duplicates(names, CONFIG, keep=keep) as duplicates:
        assert [record["url"] for record in records_of(duplicates)] == [stays]
        assert duplicates.found.rule.startswith(CRITERIA[keep[0]][1]) and CRITERIA["order"][1] in duplicates.found.rule


def test_the_thresholds_are_those_of_the_settings(made):
    names, _ = made
    strict = from_mapping({"STAGE_WORKERS": 0, "NEARDUP_THRESHOLD": 1.0})
    with Duplicates(names, CONFIG) as usual, Duplicates(names, strict) as other:
        kinds = [{pair.kind for pair in each.found.pairs} for each in (usual, other)]
    assert kinds == [{"exact", "near"}, {"exact"}]


def test_corpora_and_versions_are_compared_and_withdrawn_documents_are_left_out(tmp_path):
    for name in ("a", "b"):
        fill(tmp_path / name, pages=3)
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    with Duplicates([a, b], CONFIG) as duplicates:
        assert [pair[:3] for pair in duplicates.found.pairs] == [(b, a, "exact")] and duplicates.found.stay == [9, 0]
    withdraw(Folder(tmp_path / "a").place, Wish("asked for", domains=frozenset({"alder.example"})), now=1.8e9)
    with Duplicates([a, b], CONFIG) as duplicates:
        assert (duplicates.found.documents, duplicates.found.withdrawn) == ([6, 6], 3)
        assert not [r for r in records_of(duplicates) if r["domain"] == "alder.example"]
    with pytest.raises(StorageError, match="is named twice"), Duplicates([a, a], CONFIG):
        pass
    with (
        pytest.raises(StorageError, match=r"none: there is no such folder; expected"),
        Duplicates([a, str(tmp_path / "none")], CONFIG),
    ):
        pass


def test_lines_of_the_list_name_documents_by_their_number_where_they_have_no_address(tmp_path):
    names = [write(tmp_path / f"{n}.jsonl.gz", [{"text": "one text"}, {"text": f"text of {n}"}]) for n in "ab"]
    with Duplicates(names, CONFIG) as duplicates:
        (only,) = duplicates.decisions()
    assert (only["source"], only["document"], only["kept_source"], only["kept_document"]) == (names[1], 0, names[0], 0)


# --- what remains, as a corpus ---------------------------------------------------------------------------------------
def corpus_of(place: Place) -> list[dict]:
    return [record for entry in read_files(place) for record in read_records(place, entry["path"])]


def three(tmp_path) -> tuple[str, str, str]:
    """Two corpora of the same pages, and files of others with one text of theirs and one more."""
    for name in ("a", "b"):
        fill(tmp_path / name, pages=3, WORKER_ID=name)
    known = corpus_of(Place(str(tmp_path / "a")))[0]["text"]
    lines = [{"url": "https://other.example/1", "text": known}, {"url": "https://other.example/2", "text": "their own"}]
    return str(tmp_path / "a"), str(tmp_path / "b"), write(tmp_path / "other.jsonl.gz", lines)


def test_what_remains_is_a_corpus_that_holds_and_names_its_sources_and_they_do_not_change(tmp_path):
    names = three(tmp_path)
    before = {path: path.read_bytes() for name in "ab" for path in (tmp_path / name).rglob("*") if path.is_file()}
    target = Place(str(tmp_path / "out"))
    with Duplicates(names, CONFIG, keep=["order"]) as duplicates:
        run = write_corpus(duplicates, target, now=1.8e9)
        assert duplicates.found.stay == [9, 0, 1]
        theirs = records_of(duplicates)[-1] | {"doc_id": exact_id("their own")}
    assert corpus_of(target) == [*corpus_of(Place(names[0])), theirs] and theirs["url"] == "https://other.example/2"
    findings = verify(target)
    assert (findings.documents, findings.damage, findings.surplus) == (10, [], [])
    assert all(path.read_bytes() == content for path, content in before.items())
    assert target.manifest()["runs"][-1] == run and run["deduplicated_from"]["gone"] == {
        "exact": 10,
        "near": 0,
        "replaced": 0,
    }
    (version,) = versions_of(target).values()
    hashes = [manifest_hash(Place(name)) for name in names[:2]]
    assert version["operation"] == "dataset dedup" and [p["sha256"] for p in version["parents"]] == hashes
    assert [place.url for place in corpora_behind([target])] == list(names[:2])


def test_the_archives_of_two_sources_with_one_name_are_told_apart(tmp_path):
    fill(tmp_path / "a", pages=2)
    fill(tmp_path / "b", pages=4)
    target = Place(str(tmp_path / "out"))
    with Duplicates([str(tmp_path / name) for name in "ab"], CONFIG) as duplicates:
        write_corpus(duplicates, target, now=1.8e9)
    hashes = {
        path: source["sha256"] for entry in target.manifest()["files"] for path, source in entry["archives"].items()
    }
    for name, folder in (("a", "archive/"), ("b", f"archive/{manifest_hash(Place(str(tmp_path / 'b')))[:12]}/")):
        own = [e["sha256"] for e in Place(str(tmp_path / name)).manifest()["files"] if e["kind"] == "archive"]
        assert own == [sha256 for path, sha256 in hashes.items() if path.rpartition("/")[0] + "/" == folder]
    assert not verify(target).damage


def test_withdrawals_of_every_source_hold_in_what_remains_also_those_that_come_later(tmp_path):
    a, b, other = three(tmp_path)
    withdraw(Place(a), Wish("first", domains=frozenset({"alder.example"})), now=1.8e9)
    withdraw(Place(b), Wish("second", domains=frozenset({"birch.example"})), now=1.8e9)
    target = Place(str(tmp_path / "out"))
    with Duplicates([a, b, other], CONFIG) as duplicates:
        write_corpus(duplicates, target, now=1.8e9)
    assert {r["domain"] for r in corpus_of(target)} == {"cedar.example", "other.example"}
    assert [(wish["number"], wish["reason"]) for wish in withdrawals(target)] == [(1, "first"), (2, "second")]
    assert {line["number"] for line in log_lines(target) if line["kind"] == "page"} == {1, 2}
    withdraw(target, Wish("third", domains=frozenset({"other.example"})), now=1.8e9)
    withdraw(Place(b), Wish("fourth", domains=frozenset({"cedar.example"})), now=1.8e9)
    assert {r["domain"] for r in corpus_of(target)} == {"cedar.example"} and not verify(target).damage
    refused = refusals_of([target])
    assert all(refused.of_record(record) for record in corpus_of(target))


def test_of_a_page_in_several_sources_the_text_that_was_fetched_last_counts_whatever_the_rule(tmp_path):
    one, two = texts(2)[0], "another text that has nothing of the first"
    page = {"url": "https://x.example/", "text": one, "crawled_at": "2026-01-01T00:00:00Z"}
    later = page | {"text": two, "crawled_at": "2026-02-01T00:00:00Z"}
    copy = {"url": "https://copy.example/", "text": one, "crawled_at": "2026-03-01T00:00:00Z"}
    names = [write(tmp_path / f"{n}.jsonl.gz", found) for n, found in (("a", [page]), ("b", [later, copy]))]
    with Duplicates(names, CONFIG, keep=["order"]) as duplicates:
        assert [r["text"] for r in records_of(duplicates)] == [two, one]
        assert [(p.gone, p.kept, p.kind) for p in duplicates.found.pairs] == [(names[0], names[1], "replaced")]
        write_corpus(duplicates, Place(str(tmp_path / "out")), now=1.8e9)
    assert not verify(Place(str(tmp_path / "out"))).surplus


def test_what_was_fetched_before_a_visit_of_another_source_found_an_opt_out_is_left_out(tmp_path):
    fill(tmp_path / "a", pages=3, WORKER_ID="a")
    known = corpus_of(Place(str(tmp_path / "a")))
    early, late = known[0], known[1]
    made = CorpusFolder(tmp_path / "b")
    corpus = made.opened("b")
    for page, at in ((early, "2999-01-01T00:00:00Z"), (late, "2000-01-01T00:00:00Z")):  # the other one says yes since
        refused = Document(page["url"], canonical_url=page["canonical_url"], domain=page["domain"], crawled_at=at)
        corpus.reject(rejection_of(refused, Drop("optout", DropReason.OPTOUT, "tdmrep")))
    corpus.close()
    with Duplicates([str(tmp_path / "a"), str(tmp_path / "b")], CONFIG) as duplicates:
        assert duplicates.found.withdrawn == 1
        assert [r["url"] for r in records_of(duplicates)] == [r["url"] for r in known if r is not early]


def test_a_document_without_a_url_is_in_no_corpus_and_nothing_is_written(tmp_path):
    name = write(tmp_path / "a.jsonl.gz", [{"url": "https://x.example/", "text": "one"}, {"text": "two"}])
    with Duplicates([name], CONFIG) as duplicates, pytest.raises(StorageError, match="a document has no url"):
        write_corpus(duplicates, Place(str(tmp_path / "out")), now=1.8e9)
    assert not (tmp_path / "out").exists()


def test_a_source_that_changes_meanwhile_and_a_folder_in_use_end_with_a_sentence_and_without_a_corpus(tmp_path):
    name = write(tmp_path / "a.jsonl.gz", [{"url": "https://x.example/", "text": "one"}])
    with Duplicates([name], CONFIG) as duplicates:
        (tmp_path / "used").mkdir()
        (tmp_path / "used" / "note").touch()
        with pytest.raises(StorageError, match="expected an empty or new folder"):
            write_corpus(duplicates, Place(str(tmp_path / "used")), now=1.8e9)
        write(tmp_path / "a.jsonl.gz", [{"url": "https://x.example/", "text": "one"}] * 2)
        with pytest.raises(StorageError, match="a source changed while it was compared"):
            write_corpus(duplicates, Place(str(tmp_path / "out")), now=1.8e9)
    assert not (tmp_path / "out").exists() and [p.name for p in (tmp_path / "used").iterdir()] == ["note"]


def test_equal_sources_give_equal_shards_and_no_duplicates_are_left(made, tmp_path):
    names, _ = made
    for out in ("one", "two"):
        with Duplicates(names, CONFIG) as duplicates:
            write_corpus(duplicates, Place(str(tmp_path / out)), now=1.8e9)
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / out / "shards").iterdir()} for out in ("one", "two")
    )
    assert one == two and one
    with Duplicates([str(tmp_path / "one")], CONFIG) as again:
        assert not again.found.pairs and again.found.stay == again.found.documents
