"""Every version of a corpus or of a derived folder is noted once, by the hash of its manifest, with its parents."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import orjson
import pytest

from crawler.dataset.export import EXPORT, export
from crawler.dataset.registry.derived import standing_hash, versions_in
from crawler.dataset.rewrite import rewrite
from crawler.dataset.select import Selection, select
from crawler.dataset.versions import Cause
from crawler.storage.corpus.registry import HERE, Registry, place_of
from crawler.storage.corpus.version import versions_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.support import three_domains

CAUSE = Cause("dataset test", "because", 1.8e9)


def titled(record):
    return record | {"title": "another"}


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_crawl_and_a_rewrite_are_versions_named_by_the_hash_of_their_manifests(corpus):
    crawled = sha(corpus.path / "manifest.json")
    rewrite(corpus.place, titled, CAUSE)
    found = Registry(corpus.place).versions()
    assert list(found) == sorted(found) and found.keys() == {crawled, sha(corpus.path / "manifest.json")}
    made = found[sha(corpus.path / "manifest.json")]
    assert (found[crawled]["operation"], found[crawled]["parents"]) == ("crawl", [])
    assert (made["operation"], made["parents"]) == ("dataset test", [{"sha256": crawled, "place": HERE}])
    assert made["parameters"]["reason"] == "because" and made["software"]["crawler"]
    manifest = corpus.place.manifest()
    assert made["counts"] == manifest["counts"]
    assert [(f["path"], f["sha256"], f["documents"]) for f in made["files"]] == [
        (f["path"], f["sha256"], f["documents"]) for f in manifest["files"]
    ]


def test_what_nobody_noted_is_read_off_the_manifests_and_reading_writes_nothing(corpus):
    rewrite(corpus.place, titled, CAUSE)
    noted = Registry(corpus.place).versions()
    for path in (corpus.path / "registry").glob("*.json"):
        path.unlink()
    found = versions_of(corpus.place)
    assert found.keys() == noted.keys() and list((corpus.path / "registry").iterdir()) == []
    for sha256, version in found.items():
        assert version | {"software": {}} == noted[sha256] | {"software": {}}


def test_a_derived_folder_names_its_parents_and_they_know_where_it_is(corpus, tmp_path):
    root = sha(corpus.path / "manifest.json")
    subset = Place(str(tmp_path / "subset"))
    select(corpus.place, subset, Selection(languages=frozenset({"en"})), max_bytes=10**6, now=1.8e9)
    export(subset, tmp_path / "out" / "release", "jsonl.gz", max_bytes=10**6, now=1.81e9)
    selected, exported = standing_hash(subset), sha(tmp_path / "out" / "release" / EXPORT)
    assert versions_in(subset)[selected]["parents"] == [{"sha256": root, "place": "../corpus"}]
    assert versions_in(subset)[selected]["operation"] == "dataset select"
    assert versions_in(Place(str(tmp_path / "out/release")))[exported]["parents"] == [
        {"sha256": selected, "place": "../../subset"}
    ]
    told = {(c["sha256"], place_of(str(corpus.path), c["place"])) for c in Registry(corpus.place).children()}
    assert told == {(selected, str(tmp_path / "subset"))}
    assert [c["place"] for c in Registry(subset).children()] == ["../out/release"]


def test_a_source_that_cannot_be_written_is_derived_from_all_the_same(corpus, tmp_path, caplog):
    (corpus.path / "registry" / "derived").write_bytes(b"")  # no folder can be made there
    select(corpus.place, Place(str(tmp_path / "subset")), Selection(), max_bytes=10**6, now=1.8e9)
    assert versions_in(Place(str(tmp_path / "subset"))) and "name it with --also-in" in caplog.text


def test_a_tag_is_not_moved_unless_somebody_says_so_and_its_moves_are_kept(corpus):
    first = sha(corpus.path / "manifest.json")
    registry = Registry(corpus.place)
    registry.set_tag("release", first, time="t1")
    assert registry.set_tag("release", first, time="t2")["time"] == "t1"
    rewrite(corpus.place, titled, CAUSE)
    second = sha(corpus.path / "manifest.json")
    with pytest.raises(StorageError, match=f"names {first[:12]} since t1; --move"):
        registry.set_tag("release", second, time="t3")
    registry.set_tag("release", second, time="t3", move=True)
    assert registry.tags()["release"] == {"name": "release", "sha256": second, "time": "t3", "number": 2}
    assert len(list((corpus.path / "registry" / "tags").iterdir())) == 2


@pytest.mark.parametrize("name", ["", "1st", "a/b", "../x", "abcdef", "x" * 65])
def test_a_name_that_cannot_be_a_tag_is_told(corpus, name):
    with pytest.raises(StorageError, match="cannot be a tag"):
        Registry(corpus.place).set_tag(name, "0" * 64, time="t")


TWO = """
import sys
from crawler.storage.corpus.registry import Registry
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
registry = Registry(Place(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for n in range(50):
    version = {"format": "crawler-version/1", "sha256": f"{n:062d}{sys.argv[2]}", "operation": "x", "parents": [],
               "files": []}
    registry.add(version)
    try:
        registry.set_tag(f"t{n}", sys.argv[2] * 64, time="t")
    except StorageError as error:
        print("told:", error)
"""


def test_two_processes_at_once_lose_no_version_and_no_tag_has_two_owners(corpus):
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, str(corpus.path), f"{n:02d}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for n in (1, 2)
    ]  # fmt: skip
    assert [process.stdout.readline() for process in both] == ["ready\n"] * 2
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    registry = Registry(corpus.place)
    assert len(registry.versions()) == 101
    tags = registry.tags()
    assert len(tags) == 50 == sum(text.count("told:") for text in said)
    assert all(tag["number"] == 1 for tag in tags.values())


def test_a_registry_in_a_bucket_does_the_same(tmp_path, store):
    url = f"{store}/corpus"
    three_domains.fill(url, CORPUS_SPOOL_DIR=str(tmp_path / "spool"))
    place = Place(url, str(tmp_path / "spool"))
    registry, crawled = Registry(place), standing_hash(place)
    assert registry.versions()[crawled]["operation"] == "crawl"
    assert not registry.add(registry.versions()[crawled])
    registry.set_tag("release", crawled, time="t1")
    with pytest.raises(StorageError, match="--move"):
        registry.set_tag("release", "0" * 64, time="t2")
    assert not place.create("registry/tags/release.000001.json", b"{}")
    export(place, tmp_path / "release", "jsonl.gz", max_bytes=10**6, now=1.8e9)
    assert [child["place"] for child in registry.children()] == [str(tmp_path / "release")]
    exported = Place(str(tmp_path / "release"))
    parents = versions_in(exported)[standing_hash(exported)]["parents"]
    assert parents == [{"sha256": crawled, "place": url}]


def test_a_version_that_was_changed_by_hand_is_told(corpus):
    path = next((corpus.path / "registry").glob("*.json"))
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | {"sha256": "0"}))
    with pytest.raises(StorageError, match="restore the file from a copy"):
        versions_of(corpus.place)
