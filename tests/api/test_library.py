"""What `from crawler import …` promises: every name is there, typed, and shown by an example that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import crawler
from bench.web.prose import prose
from crawler.dataset.exclude import Wish, withdraw
from crawler.storage.files.place import Place
from tests.support.places import PROJECT

PAGE = PROJECT / "docs" / "library.md"
HTML = "<html lang=en><body><main>{}</main></body></html>".format(
    "".join(f"<p>{paragraph} They had pears.</p>" for paragraph in prose("library", 300))
)


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)


def test_every_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redis_url: str) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"HTML": HTML, "REDIS_URL": redis_url}
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)


def test_every_public_name_is_on_the_page_and_can_be_imported() -> None:
    text = PAGE.read_text("utf-8")
    missing = [name for name in crawler.__all__ if name != "__version__" and not re.search(rf"\b{name}\b", text)]
    assert missing == []
    assert [name for name in crawler.__all__ if not hasattr(crawler, name)] == []
    with pytest.raises(AttributeError, match="module 'crawler' has no attribute 'nothing'"):
        _ = crawler.nothing


def test_the_package_alone_loads_nothing_and_the_names_load_no_scrapy() -> None:
    code = "import sys, crawler; assert 'crawler.api' not in sys.modules; crawler.judge; print('scrapy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_types_reach_whoever_imports_the_package(tmp_path: Path) -> None:
    assert (PROJECT / "crawler" / "py.typed").exists()
    (tmp_path / "user.py").write_text(
        "from crawler import Document, Verdict, decide, judge, page\n"
        "doc: Document = judge(page('https://a.example/', b''))\n"
        "said: Verdict = decide('https://a.example/')\n"
        "reveal_type(doc.text)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(tmp_path / "user.py")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert 'Revealed type is "str"' in done.stdout and "error" not in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("given", "ok", "says"),
    [
        ({}, False, "robots.txt is out of reach"),
        ({"robots": (503, b"")}, False, "robots.txt answered 503"),
        ({"robots": (404, b"")}, True, ""),
        ({"robots": (200, b"User-agent: *\nDisallow: /private")}, False, "Disallow: /private"),
        ({"robots": (200, b"User-agent: *\nDisallow: /other")}, True, ""),
        ({"robots": (404, b""), "headers": {"x-robots-tag": "noai"}}, False, "x-robots-tag in header"),
        ({"robots": (404, b""), "headers": {"TDM-Reservation": "1"}}, False, "tdmrep in header"),
        ({"robots": (404, b""), "html": "<meta name=robots content=noai>"}, False, "meta-robots in meta"),
        ({"robots": (404, b""), "html": b"<p>hello"}, True, ""),
    ],
)
def test_the_decision_is_the_crawls_and_doubt_means_no(given: dict[str, object], ok: bool, says: str) -> None:
    found = crawler.decide("https://a.example/private?x=1", **given)  # type: ignore[arg-type]
    assert found.ok is ok
    assert says in (found.drop.detail if found.drop else "")


def test_a_writer_rejects_what_the_corpus_has_withdrawn_by_address_and_by_text(tmp_path: Path) -> None:
    folder = str(tmp_path / "c")
    doc = crawler.judge(crawler.page("https://a.example/", HTML))
    with crawler.corpus_writer(folder) as corpus:
        corpus.add(doc)
    withdraw(Place(folder), Wish("x", urls=frozenset({"https://a.example/"}), reach="text"), now=1.8e9)
    other = crawler.judge(crawler.page("https://a.example/?utm_source=x", HTML.replace("pears", "plums")))
    copy = crawler.judge(crawler.page("https://b.example/", HTML))
    with crawler.corpus_writer(folder, WORKER_ID="w2") as corpus:
        corpus.add(other)
        corpus.add(copy)
    assert list(crawler.read_corpus(folder)) == []
    rejected = list(crawler.read_corpus(folder, "rejected"))
    assert [record["reason"] for record in rejected] == ["withdrawn"] * 2 and "text" not in rejected[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: crawler.configure(LANGUAGE="en"), "unknown setting 'LANGUAGE'; did you mean 'LANGUAGES'?"),
        (lambda: crawler.configure(languages="en"), "unknown setting 'languages'"),
        (lambda: crawler.configure(DOWNLOAD_DELAY=1, PII_MODEL="a"), "unknown setting 'PII_MODEL'"),
        (lambda: crawler.Chain(crawler.configure(), ["langage"]), "unknown stage 'langage'; did you mean 'language'?"),
        (lambda: judged(stages=["extraction", "qualitty"]), "unknown stage 'qualitty'; did you mean 'quality'?"),
        (lambda: judged(stages="extraction"), r"stages: expected a list of names, \['extraction'\]"),
        (lambda: judged(stages="everything"), "unknown stage 'everything'"),
        (lambda: read_of("keep"), "unknown kind of records 'keep'; did you mean 'kept'?"),
        (lambda: read_of(""), "unknown kind of records ''; known: kept, held, rejected"),
        (lambda: written("nowhere", LANGUAGE="en"), "unknown setting 'LANGUAGE'"),
        (lambda: written("nowhere", crawler.configure(), LANGUAGES="en"), "LANGUAGES: belongs into the configuration"),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_the_one_that_was_meant(
    call: Callable[[], object], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(crawler.InputError, match=says):
        call()
    assert list(tmp_path.iterdir()) == []


def read_of(kind: Any) -> object:
    return crawler.read_corpus("nowhere", kind)


def judged(**options: Any) -> crawler.Document:
    return crawler.judge(crawler.page("https://a.example/", HTML), **options)


def written(*given: Any, **values: Any) -> None:
    with crawler.corpus_writer(*given, **values) as corpus:
        corpus.add(judged())


def test_a_chain_refuses_a_stage_that_does_not_exist_when_it_runs() -> None:
    chain = crawler.Chain(crawler.configure(), ["parse", "extraction"])
    with pytest.raises(crawler.InputError, match="unknown stage 'parsing'"):
        chain.run(crawler.page("https://a.example/", HTML), ["parsing"])
    assert "extraction" in chain.run(crawler.page("https://a.example/", HTML)).done


def test_a_writer_with_a_configuration_writes_into_the_folder_it_was_given(tmp_path: Path) -> None:
    written(str(tmp_path / "here"), crawler.configure(CORPUS_DIR=str(tmp_path / "there")))
    assert len(list(crawler.read_corpus(str(tmp_path / "here")))) == 1
    assert not (tmp_path / "there").exists()


def test_a_writer_that_fails_leaves_a_corpus_that_can_be_read(tmp_path: Path) -> None:
    doc = crawler.judge(crawler.page("https://a.example/", HTML))
    with pytest.raises(RuntimeError), crawler.corpus_writer(str(tmp_path / "c")) as corpus:
        corpus.add(doc)
        raise RuntimeError
    assert [record["url"] for record in crawler.read_corpus(str(tmp_path / "c"))] == ["https://a.example/"]
    with pytest.raises(crawler.StorageError):
        list(crawler.read_corpus(str(tmp_path / "nothing")))
