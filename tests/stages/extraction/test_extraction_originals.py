"""Parts of trafilatura, justext and htmldate are replaced or reached into only where they are the known ones."""

from __future__ import annotations

import inspect
import logging
import sys
from importlib import import_module

import htmldate.core
import htmldate.extractors
import pytest
from trafilatura import main_extractor

from crawler.stages.extraction import faster, metadata, originals
from crawler.stages.extraction.metadata import dates
from crawler.stages.extraction.stage import trafilatura_text
from crawler.stages.parse.stage import parse_html
from demo.pages import load_web
from demo.render import Web, page_html
from tests.support.places import PROJECT

NAMES = [(library, name) for library in originals.RECORDED for v in originals.RECORDED[library].values() for name in v]


@pytest.fixture(autouse=True)
def afresh():
    faster.uninstall()
    faster._replacements.cache_clear()
    dates._readers.cache_clear()
    yield
    faster.uninstall()
    faster._replacements.cache_clear()
    dates._readers.cache_clear()
    faster.install()


def pages():
    sites = load_web()
    web = Web(sites, dict.fromkeys(sites, "http://localhost"))
    return [(page.path, parse_html(page_html(web, page))) for page in list(web.pages())[:40]]


def texts() -> list[str]:
    return [trafilatura_text(tree, url, fast=fast) for url, tree in pages() for fast in (True, False)]


def replaced() -> set[str]:
    """Libraries of which anything is replaced now."""
    ours = {library: import_module(f"crawler.stages.extraction.faster_{library}") for library in faster.LIBRARIES}
    names = {(module, name) for module, name, _ in faster._theirs}
    return {library for library, of in ours.items() if names & {(module, name) for module, name, _ in of.REPLACEMENTS}}


@pytest.mark.parametrize("library", faster.LIBRARIES)
def test_the_pinned_version_is_recognised(library):
    assert originals.problem_of(library) is None


@pytest.mark.parametrize("library", faster.LIBRARIES)
def test_the_requirements_pin_a_version_whose_originals_are_recorded(library):
    lines = (PROJECT / "requirements.txt").read_text().splitlines()
    pinned = [line.split()[0].partition("==")[2] for line in lines if line.startswith(f"{library}==")]
    assert len(pinned) == 1
    assert pinned[0] in originals.RECORDED[library]


def test_known_versions_are_replaced_whole():
    faster.install()
    assert replaced() == {"trafilatura", "justext"}
    assert len(faster._theirs) == 12
    assert main_extractor.prune_unwanted_nodes.__module__.startswith("crawler.")


@pytest.mark.parametrize(("library", "name"), NAMES, ids=[name for _, name in NAMES])
def test_any_changed_original_is_noticed(library, name, monkeypatch):
    read = originals._source
    monkeypatch.setattr(
        originals,
        "_source",
        lambda original: read(original) + (" # changed" if original is originals_of(name) else ""),
    )
    assert str(originals.problem_of(library)).endswith(f"differs from its release in {name}")


def originals_of(name: str) -> object:
    module, _, attribute = name.partition(":")
    return getattr(sys.modules[module], attribute)


@pytest.mark.parametrize("library", faster.LIBRARIES)
def test_a_changed_original_leaves_its_library_as_it_is_and_warns_once(library, monkeypatch, caplog):
    expected = texts()
    read = inspect.getsource
    changed = {"trafilatura": "prune_unwanted_nodes", "justext": "PathInfo"}[library]
    monkeypatch.setattr(
        inspect,
        "getsource",
        lambda original: (
            read(original).replace("return", "return  ") if original.__name__ == changed else read(original)
        ),
    )
    with caplog.at_level(logging.WARNING, logger="crawler"):
        faster.install()
        faster.uninstall()
        faster.install()
    assert replaced() == {"trafilatura", "justext"} - {library}
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert changed in caplog.text
    assert texts() == expected


def test_an_unknown_version_leaves_its_library_as_it_is(monkeypatch, caplog):
    monkeypatch.setattr(originals, "version", lambda library: "2.4.0")
    faster.install()
    assert replaced() == set()
    assert "trafilatura 2.4.0 is not among the versions known here (2.3.1)" in caplog.text
    assert len(caplog.records) == 2


@pytest.mark.parametrize("gone", ["module", "name", "source"])
def test_what_cannot_be_read_is_not_recognised(gone, monkeypatch):
    def unreadable(original: object) -> str:
        raise OSError("could not get source code")

    if gone == "source":
        monkeypatch.setattr(inspect, "getsource", unreadable)
    name = {"module": "trafilatura.nothing:trim", "name": "trafilatura.utils:nothing"}.get(
        gone, "trafilatura.utils:trim"
    )
    assert originals.digest(name) == ""


def test_white_space_at_line_ends_and_indentation_do_not_count(monkeypatch):
    plain = originals.digest("trafilatura.utils:trim")
    read = originals._source
    monkeypatch.setattr(originals, "_source", lambda o: "\r\n".join(f"    {line}" for line in read(o).split("\n")))
    assert originals.digest("trafilatura.utils:trim") == plain


HEAD = '<html><head><meta property="article:published_time" content="2024-03-05T10:00:00Z"></head><body>x</body></html>'


def forget_readers(monkeypatch):
    monkeypatch.delitem(sys.modules, "crawler.stages.extraction.metadata.date_readers", raising=False)
    monkeypatch.delattr(metadata, "date_readers", raising=False)


def test_a_missing_part_of_htmldate_costs_its_own_order_and_not_the_date(monkeypatch, caplog):
    monkeypatch.delattr(htmldate.extractors, "extract_url_date")
    forget_readers(monkeypatch)
    tree = parse_html(HEAD)
    assert dates.read_date(tree, "https://example.org/", (), "2026-01-01") == "2024-03-05"
    assert dates.read_date(tree, "https://example.org/", (), "2023-01-01") is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "extract_url_date" in caplog.text


def test_a_part_of_htmldate_that_takes_other_arguments_is_as_good_as_missing(monkeypatch, caplog):
    monkeypatch.setattr(htmldate.core, "json_search", lambda tree: None)
    forget_readers(monkeypatch)
    assert dates.read_date(parse_html(HEAD), "https://example.org/", (), "2026-01-01") == "2024-03-05"
    assert "takes other arguments now" in caplog.text
