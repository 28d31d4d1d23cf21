"""What becomes of a data set of images: withdrawals reach it, deaths cost nothing, and nothing is in it twice."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.images.build import Built
from crawler.images.folder import FORMAT, Folder
from crawler.images.ledger import Fate, Ledger
from crawler.operations import images as operation
from crawler.storage.files.errors import StorageError
from tests.images import pictures as p
from tests.images.hosts import figure, images, jpeg, page, rows_in
from tests.support import warm
from tests.support.corpus_crawl import SETTINGS, crawl
from tests.support.loopback_web import Answer, PolicyWeb
from tests.support.places import PROJECT


@pytest.fixture
def web() -> Iterator[PolicyWeb]:
    with PolicyWeb() as web:
        yield web


def gristmill(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", *map(str, words)]
    return warm.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)


def members(out: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted((out / "images").glob("*.tar")):
        with tarfile.open(path) as tar:
            for member in tar:
                assert member.name not in found
                content = tar.extractfile(member)
                assert content is not None
                found[member.name] = content.read()
    return found


def kept(out: Path) -> dict[str, str]:
    """URL of each image in the tars, with its page."""
    rows = [json.loads(data) for name, data in members(out).items() if name.endswith(".json")]
    assert rows == sorted((row for row in rows_in(out) if row["outcome"] == "kept"), key=lambda row: str(row["key"]))
    return {row["url"]: row["page_url"].rpartition("/")[2] for row in rows}


def everything(folder: Path) -> bytes:
    packed = {".tar", ".parquet"}
    others = [path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix not in packed]
    return b"\n".join([str(rows_in(folder)).encode(), *members(folder).values(), *others])


def test_what_is_withdrawn_by_page_by_url_or_by_host_leaves_the_tars_and_stays_away(web, tmp_path):
    addresses = {name: f"127.3.0.{number}" for number, name in enumerate("abcd", 1)}
    url = {name: web.site(each, {"/x": jpeg(p.picture(name))}) + "/x" for name, each in addresses.items()}
    site = web.site("127.3.1.1", {
        "/one": page(1, figure(url["a"], "Zuckerhut of page one") + figure(url["b"], "Brandung of page one")),
        "/two": page(2, figure(url["b"], "Seen by two") + figure(url["c"], "A crane") + figure(url["d"], "A dyke")),
    })  # fmt: skip
    corpus = crawl(tmp_path / "corpus", [f"{site}/one", f"{site}/two"], web.port)
    out = tmp_path / "out"
    assert images(corpus.folder, out, web.port)[0] == 0
    assert sorted(kept(out)) == sorted(url.values())
    outcomes = sorted(row["outcome"] for row in rows_in(out))
    assert outcomes == ["duplicate_url", "kept", "kept", "kept", "kept"]
    owner = kept(out)[url["b"]]  # the corpus decides which of both pages comes first
    other = {"one": "two", "two": "one"}[owner]
    asked = {address: list(paths) for address, paths in web.asked.items()}

    done = gristmill("dataset", "exclude", corpus.folder, "--url", f"{site}/{owner}", "--reason", "letter", "--yes")
    assert (done.returncode, f"{out}: " in done.stdout, "still holds" in done.stdout) == (0, True, False), done.stderr
    mine = {"one": {"a", "b"}, "two": {"b", "c", "d"}}[owner]
    assert sorted(kept(out)) == sorted(url[name] for name in set("abcd") - mine)
    words = {"one": [b"Zuckerhut", b"Brandung"], "two": [b"Seen by two", b"A crane", b"A dyke"]}[owner]
    assert [word for word in words if word in everything(out)] == []
    assert gristmill("dataset", "verify", out).returncode == 0
    assert {address: list(paths) for address, paths in web.asked.items()} == asked

    code, answer, log = images(corpus.folder, out, web.port)
    assert (code, kept(out)[url["b"]]) == (0, other), log
    assert answer["samples"] == len(kept(out))
    remaining = sorted({"one": {"a", "b"}, "two": {"b", "c", "d"}}[other])

    address, host = remaining[0], remaining[-1]
    for option, value in (("--url", url[address]), ("--domain", addresses[host])):
        done = gristmill("dataset", "exclude", corpus.folder, option, value, "--reason", "letter", "--yes", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout[done.stdout.index("{") :])["images"] == {str(out): 1}
    assert sorted(kept(out)) == sorted(url[name] for name in remaining[1:-1])
    asked = {address: list(paths) for address, paths in web.asked.items()}
    code, answer, _ = images(corpus.folder, out, web.port)
    assert (code, answer["added"]) == (0, 0)
    assert {address: list(paths) for address, paths in web.asked.items()} == asked
    assert (
        sorted(row["outcome"] for row in rows_in(out) if row["url"] in {url[address], url[host]}) == ["withdrawn"] * 2
    )
    traced = gristmill("dataset", "lineage", "--withdrawn", corpus.folder, "--json")
    holdings = [each for each in json.loads(traced.stdout)["holdings"] if each["folder"] == str(out)]
    assert sum(file["withdrawn"] for each in holdings for file in each["files"]) == 0


def test_a_withdrawn_image_takes_its_copies_along_and_none_comes_back_into_any_folder(web, tmp_path):
    one, other = p.picture("one"), p.picture("other")
    host = web.site("127.3.2.1", {"/a": jpeg(one), "/b": jpeg(one), "/c": jpeg(other)})
    pages = {name: figure(f"{host}/{name}", f"The mill seen from {name}") for name in "abc"}
    site = web.site("127.3.3.1", {f"/{name}": page(n, tags) for n, (name, tags) in enumerate(pages.items())})
    corpus = crawl(tmp_path / "corpus", [f"{site}/{name}" for name in pages], web.port).folder
    out, again = tmp_path / "out", tmp_path / "again"
    assert images(corpus, out, web.port)[0] == 0
    first, second = sorted("ab", key=lambda name: f"{host}/{name}" not in kept(out))
    assert sorted(kept(out)) == sorted([f"{host}/{first}", f"{host}/c"])

    named = f"{host}/{second}"  # the copy, of which the data set has no sample
    done = gristmill("dataset", "exclude", corpus, "--url", named, "--reason", "letter", "--yes")
    assert done.returncode == 0, done.stderr
    assert sorted(kept(out)) == [f"{host}/c"]
    for folder in (out, again):
        assert images(corpus, folder, web.port)[0] == 0
        assert sorted(kept(folder)) == [f"{host}/c"]
    assert {row["outcome"] for row in rows_in(again) if not row["url"].endswith("c")} == {"withdrawn"}

    assert gristmill("dataset", "exclude", corpus, "--undo", "1", "--reason", "not the one").returncode == 0
    assert images(corpus, again, web.port)[0] == 0
    assert sorted(kept(again)) == sorted([f"{host}/{first}", f"{host}/c"])


def test_what_ones_own_settings_forbade_is_asked_for_once_they_allow_it(web, tmp_path):
    host = web.site("127.3.4.1", {"/x": jpeg(p.picture("x"))})
    site = web.site("127.3.5.1", {"/one": page(1, figure(f"{host}/x", "The mill at the brook"))})
    corpus, out = crawl(tmp_path / "corpus", [f"{site}/one"], web.port).folder, tmp_path / "out"
    code, answer, log = images(corpus, out, web.port, NETWORK_ALLOW="127.3.5.0/24")
    assert (code, answer["outcomes"]) == (1, {"guard:network_forbidden": 1}), log
    assert "run the same command again with -s NETWORK_ALLOW=" in log
    code, answer, log = images(corpus, out, web.port)
    assert (code, answer["outcomes"]) == (0, {"kept": 1}), log


def test_a_killed_call_is_continued_without_asking_twice_and_ends_as_an_undisturbed_one(web, tmp_path):
    numbers = range(1, 9)
    victim: list[subprocess.Popen[str]] = []

    def deadly(handler: Any) -> None:
        if victim:
            os.killpg(victim.pop().pid, signal.SIGKILL)
            return
        body = p.picture(5)
        handler.send_response(200)
        handler.send_header("Content-Type", "image/jpeg")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    base = web.site("127.4.0.1", {f"/{n}.jpg": deadly if n == 5 else jpeg(p.picture(n)) for n in numbers})
    site = web.site(
        "127.4.0.2", {"/page": page(1, "".join(figure(f"{base}/{n}.jpg", f"Boat {n} of 8") for n in numbers))}
    )
    corpus = crawl(tmp_path / "corpus", [f"{site}/page"], web.port)
    command = [sys.executable, "-m", "scrapy", "dataset", "images", str(corpus.folder), "--out", str(tmp_path / "out"),
               "--min-bytes", "500"]  # fmt: skip
    for name, value in {**SETTINGS, "NETWORK_PORTS": web.port, "OPTOUT_PROFILE": "strict"}.items():
        command += ["-s", f"{name}={value}"]
    process = warm.Popen(
        command, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    victim.append(process)
    assert process.wait(300) != 0
    assert not (tmp_path / "out" / "images.json").exists()

    code, answer, log = images(corpus.folder, tmp_path / "out", web.port)
    assert (code, answer["samples"]) == (0, 8), log
    requests = [web.asked["127.4.0.1"].count(f"/{n}.jpg") for n in numbers]
    assert requests == [1, 1, 1, 1, 2, 1, 1, 1]
    assert images(corpus.folder, tmp_path / "undisturbed", web.port)[0] == 0
    again, undisturbed = members(tmp_path / "out"), members(tmp_path / "undisturbed")
    assert [name for name in undisturbed if again[name] != undisturbed[name] and not name.endswith(".json")] == []
    assert list(again) == list(undisturbed)


def test_a_host_that_fails_is_left_alone_and_what_it_was_not_asked_for_comes_first_the_next_time(web, tmp_path):
    routes = {f"/{n}.jpg": Answer(500) if n < 3 else jpeg(p.picture(n)) for n in range(1, 6)}
    base = web.site("127.5.0.1", routes)
    boats = "".join(figure(f"{base}/{n}.jpg", f"Boat {n} of 5") for n in range(1, 6))
    site = web.site("127.5.0.2", {"/page": page(1, boats)})
    corpus = crawl(tmp_path / "corpus", [f"{site}/page"], web.port)
    found = []
    for _ in range(2):
        code, answer, log = images(
            corpus.folder, tmp_path / "out", web.port, RETRY_TIMES=0, FRONTIER_BREAKER_FAILURES=2
        )
        assert code == 0, log
        found.append(answer["outcomes"])
    assert found == [{"unreachable": 2, "waiting": 3}, {"kept": 3, "unreachable": 2}]
    pictures = [path for path in web.asked["127.5.0.1"] if path.endswith(".jpg")]
    assert pictures == [f"/{n}.jpg" for n in (1, 2, 3, 4, 5, 1, 2)]


# --- the folder -------------------------------------------------------------------------------------------------------
def listed(**files: bytes) -> dict[str, Any]:
    entries = [
        {"path": f"images/{name}.tar", "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()
    ]
    return {"format": FORMAT, "files": entries}


def test_a_death_at_any_moment_of_a_commit_leaves_the_old_state_or_the_new_one(tmp_path):
    folder = Folder(tmp_path / "set")
    with folder.at_work():
        pass
    tars = folder.root / "images"

    def write(**files: bytes) -> None:
        for path in tars.iterdir():
            path.unlink()
        for name, data in files.items():
            (tars / name.replace("_", ".", 1).replace("_", ".")).write_bytes(data)

    def names() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tars.iterdir()}

    folder.manifest_path.write_text(json.dumps(listed(a=b"old", b=b"gone")))
    write(a_tar=b"old", b_tar=b"gone", a_tar_part=b"new", c_tar_part=b"half")
    folder.recover()
    assert names() == {"a.tar": b"old", "b.tar": b"gone"}

    for before in (
        {"a_tar": b"old", "b_tar": b"gone", "a_tar_part": b"new", "c_tar_part": b"more"},
        {"a_tar": b"new", "b_tar": b"gone", "c_tar_part": b"more"},
        {"a_tar": b"new", "c_tar": b"more"},
    ):
        folder.manifest_path.write_text(json.dumps(listed(a=b"new", c=b"more")))
        write(**before)
        folder.recover()
        assert names() == {"a.tar": b"new", "c.tar": b"more"}


def test_a_line_that_a_death_left_unfinished_is_none_and_one_that_is_damaged_is_named(tmp_path):
    ledger = Ledger(tmp_path / "outcomes.jsonl", tmp_path / "files")
    ledger.add(Fate("https://example.org/a", "gone"))
    ledger.add(Fate("https://example.org/b", "kept", facts={"sha256": "ab" * 32}), b"bytes")
    ledger.close()
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole[:-20])
    assert list(ledger.read()) == ["https://example.org/a"]
    ledger.add(Fate("https://example.org/c", "gone"))
    ledger.close()
    assert list(ledger.read()) == ["https://example.org/a", "https://example.org/c"]
    ledger.path.write_bytes(b"{}\n" + whole)
    with pytest.raises(StorageError, match="line 1 is damaged; restore the file from a copy, or remove it"):
        ledger.read()


def test_a_folder_of_somebody_else_or_with_somebody_at_work_is_left_alone(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="expected a new or empty folder"), Folder(tmp_path / "theirs").at_work():
        pass
    ours = Folder(tmp_path / "ours")
    with ours.at_work(), pytest.raises(StorageError, match="another process is at work"), Folder(ours.root).at_work():
        pass


def test_the_network_is_only_blamed_where_nothing_else_kept_images_away():
    references = SimpleNamespace(read_pages=1, left_out=Counter())
    opts = argparse.Namespace(out="pairs")
    for counts, is_told in (
        ({"guard:network_forbidden": 2, "no_source": 1}, True),
        ({"guard:x": 1, "robots": 1}, False),
    ):
        built = Built({"counts": {"documents": 0}}, 0, 0, Counter(counts))
        problems = operation._answer(opts, references, built, (0, 0), 0).problems
        assert [problem.startswith("no image came: 2 references") for problem in problems] == [True] * is_told
