"""Duplicates between corpora are those of the crawl's rules, the stated copy stays, and what remains has none."""

from __future__ import annotations

import asyncio
import gzip
import random
from pathlib import Path

import orjson
import pytest

from crawler.config import from_mapping
from crawler.config.storage import export_formats
from crawler.dataset.across.across import ACROSS, DUPLICATES, Across
from crawler.dataset.across.prints import CRITERIA
from crawler.dataset.exclude import Wish, withdraw
from crawler.dedup.loading import fingerprints
from crawler.dedup.memory_index import MemoryIndex
from crawler.storage.files.errors import StorageError
from crawler.storage.files.shards import read_lines
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


def write(path: Path, found: list[dict]) -> str:
    path.write_bytes(gzip.compress(b"".join(orjson.dumps(r) + b"\n" for r in found), mtime=0))
    return str(path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("across"), records(240)
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
    with Across(names, CONFIG) as across:
        decisions = list(across.decisions())
        staying = [r["url"] for r in across.remaining()]
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


@pytest.mark.parametrize("block", [7, 50_000])
def test_the_verdicts_are_those_of_the_index_of_the_crawl_asked_in_rank_whatever_the_block(unclear, monkeypatch, block):
    names, found = unclear

    async def ask():
        index, gone = MemoryIndex(CONFIG.dedup), {}
        for _, record in in_rank(found):
            ((doc_id, signature, count, url),) = fingerprints(CONFIG.dedup, [(record["url"], record["text"])])
            match = await index.check(doc_id, signature, count, url)
            if match is not None:
                gone[url] = (match.owner, round(match.similarity, 4), "exact" if match.exact else "near")
        return gone

    monkeypatch.setattr("crawler.dataset.across.decide.BLOCK", block)
    with Across(names, CONFIG) as across:
        said = {d["url"]: (d["kept_url"], d["similarity"], d["kind"]) for d in across.decisions()}
    assert (
        said == asyncio.run(ask())
        and 50 < len(said) < 200
        and {kind for *_, kind in said.values()} == {"exact", "near"}
    )


def test_the_report_counts_each_pair_of_corpora_and_what_stays(made):
    names, _ = made
    with Across(names, CONFIG) as across:
        found, decisions = across.found, list(across.decisions())
    assert sum(pair.documents for pair in found.pairs) == len(decisions)
    for pair in found.pairs:
        of = [d for d in decisions if (d["corpus"], d["kept_corpus"], d["kind"]) == pair[:3]]
        assert len(of) == pair.documents
    gone = [sum(d["corpus"] == name for d in decisions) for name in names]
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
    with Across(names, CONFIG, keep=keep) as across:
        assert [record["url"] for record in across.remaining()] == [stays]
        assert across.found.rule.startswith(CRITERIA[keep[0]][1]) and CRITERIA["order"][1] in across.found.rule


def test_the_thresholds_are_those_of_the_settings(made):
    names, _ = made
    strict = from_mapping({"STAGE_WORKERS": 0, "NEARDUP_THRESHOLD": 1.0})
    with Across(names, CONFIG) as usual, Across(names, strict) as other:
        kinds = [{pair.kind for pair in each.found.pairs} for each in (usual, other)]
    assert kinds == [{"exact", "near"}, {"exact"}]


@pytest.mark.parametrize("to", export_formats())
def test_what_remains_is_written_with_the_list_and_a_manifest_and_twice_the_same_bytes(made, tmp_path, to):
    names, _ = made
    for out in ("one", "two"):
        with Across(names, CONFIG) as across:
            done = across.write(tmp_path / out, to, max_bytes=50_000)
            stay, decisions = across.found.stay, list(across.decisions())
    said = orjson.loads((tmp_path / "one" / ACROSS).read_bytes())
    assert done.documents == sum(stay) == sum(file["documents"] for file in said["files"])
    assert list(map(orjson.loads, (tmp_path / "one" / DUPLICATES).read_bytes().splitlines())) == decisions
    files = [path for path in (tmp_path / "one").rglob("*") if path.is_file()]
    for path in (path for path in files if path.parent.name != "registry"):  # it says when
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_what_remains_has_no_duplicates_any_more(made, tmp_path):
    names, _ = made
    with Across(names, CONFIG) as across:
        across.write(tmp_path / "out", "jsonl.gz", max_bytes=50_000)
    with Across([str(tmp_path / "out" / "data")], CONFIG) as again:
        assert not again.found.pairs and again.found.stay == again.found.documents


def test_corpora_and_versions_are_compared_and_withdrawn_documents_are_left_out(tmp_path):
    for name in ("a", "b"):
        fill(tmp_path / name, pages=3)
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    with Across([a, b], CONFIG) as across:
        assert [pair[:3] for pair in across.found.pairs] == [(b, a, "exact")] and across.found.stay == [9, 0]
    withdraw(Folder(tmp_path / "a").place, Wish("asked for", domains=frozenset({"alder.example"})), now=1.8e9)
    with Across([a, b], CONFIG) as across:
        assert (across.found.documents, across.found.withdrawn) == ([6, 6], 3)
        assert not [r for r in across.remaining() if r["domain"] == "alder.example"]
    with pytest.raises(StorageError, match="is named twice"), Across([a, a], CONFIG):
        pass
    with (
        pytest.raises(StorageError, match=r"none: no manifest.json; expected"),
        Across([a, str(tmp_path / "none")], CONFIG),
    ):
        pass


def test_lines_of_the_list_name_documents_by_their_number_where_they_have_no_address(tmp_path):
    names = [write(tmp_path / f"{n}.jsonl.gz", [{"text": "one text"}, {"text": f"text of {n}"}]) for n in "ab"]
    with Across(names, CONFIG) as across:
        (only,) = across.decisions()
    assert (only["corpus"], only["document"], only["kept_corpus"], only["kept_document"]) == (names[1], 0, names[0], 0)


def test_files_are_read_again_as_they_were_written(made, tmp_path):
    names, found = made
    with Across(names, CONFIG) as across:
        across.write(tmp_path / "out", "jsonl.zst", max_bytes=10**9)
    (path,) = (tmp_path / "out" / "data").iterdir()
    texts_of = {r["url"]: r["text"] for r in found}
    for record in map(orjson.loads, read_lines(path)):
        assert record["text"] == texts_of[record["url"]]
