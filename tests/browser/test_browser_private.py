"""Each private part of scrapy-playwright that the renderer stands on is there, under its name, with its parameters."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from pathlib import Path

import pytest
from scrapy_playwright.handler import BrowserContextWrapper, Config, ScrapyPlaywrightDownloadHandler

from crawler.browser import private

METHODS = {
    "_launch": [],
    "_maybe_launch_browser": [],
    "_download_request": ["request"],
    "_create_browser_context": ["name", "context_kwargs", "spider"],
}
"""Methods, and the parameters that are given by position."""
FIELDS = ("launch_options", "max_pages_per_context", "target_closed_max_retries", "restart_disconnected_browser")
ATTRIBUTES = {"config", "context_wrappers", "_crawler", "browser"}
"""Of the handler itself; `browser` is there once one was launched."""


def used(of: str) -> set[str]:
    """The names that `private.py` takes from `of` (`self`, `self.config`)."""
    tree = ast.parse(Path(private.__file__).read_text("utf-8"))
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == of}
    asked = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "getattr"]
    return found | {ast.literal_eval(n.args[1]) for n in asked if ast.unparse(n.args[0]) == of}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_a_coroutine_with_the_parameters_that_it_is_given(name):
    method = getattr(ScrapyPlaywrightDownloadHandler, name)
    assert inspect.iscoroutinefunction(inspect.unwrap(method))
    assert list(inspect.signature(method).parameters)[1 : len(METHODS[name]) + 1] == METHODS[name]


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_the_configuration_is_there(name):
    assert name in {field.name for field in dataclasses.fields(Config)}


def test_the_handler_keeps_its_configuration_and_its_contexts_under_these_names():
    sources = [textwrap.dedent(inspect.getsource(each)) for each in ScrapyPlaywrightDownloadHandler.__mro__[:-1]]
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    kept = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    assert kept >= ATTRIBUTES
    assert "context" in {field.name for field in dataclasses.fields(BrowserContextWrapper)}


def test_no_other_private_part_is_used():
    assert used("self") == METHODS.keys() | ATTRIBUTES
    assert used("self.config") == set(FIELDS)
