"""What a person can set changes something: every setting, option and key of the allowlist is read by the code."""

from __future__ import annotations

import ast
from dataclasses import fields

import pytest

from crawler.config import SECTIONS
from crawler.seeds.allowlist import AllowlistEntry
from tests.support.reads import CRAWLER, Option, is_read, options_declared, settings_read, tree_of

SETTINGS = [(section, field.name) for section, cls in SECTIONS.items() for field in fields(cls)]
OF_ONE_CHOICE = {("duplicates", "what")}
"""Words of which there is one: argparse refuses any other, so nothing is left to be read."""
OPTIONS = sorted(option for option in set(options_declared()) if (option.module.stem, option.dest) not in OF_ONE_CHOICE)


@pytest.fixture(scope="module")
def read():
    files = [path for path in CRAWLER.rglob("*.py") if (CRAWLER / "config") not in path.parents]
    return set().union(*(settings_read(SECTIONS, tree_of(path)) for path in files))


@pytest.mark.parametrize(("section", "name"), SETTINGS, ids=[f"{s}.{n}" for s, n in SETTINGS])
def test_every_setting_is_read_by_somebody_who_does_not_only_check_it(read, section, name):
    assert (section, name) in read


def test_a_setting_of_another_section_with_the_same_name_is_no_read():
    source = ast.parse("def f(config: Config) -> None:\n    pii = config.pii\n    g(config.quality.profile, pii.names)")
    assert settings_read(SECTIONS, source) == {("quality", "profile"), ("pii", "names")}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: f"{o.module.stem}-{o.dest}")
def test_every_option_is_read_by_the_command_that_declares_it(option):
    assert is_read(option)


def test_an_option_that_is_only_declared_is_found():
    (path,) = {option.module for option in options_declared() if option.module.stem == "expire"}
    assert is_read(Option(path, "reason"))
    assert not is_read(Option(path, "nobody_reads_this"))


@pytest.fixture(scope="module")
def keys_read():
    return {
        node.attr
        for path in CRAWLER.rglob("*.py")
        if path.stem != "allowlist_fields"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        if ast.unparse(node.value).split(".")[-1] in ({"self"} if path.stem == "allowlist" else {"entry", "e"})
    }


@pytest.mark.parametrize("name", [field.name for field in fields(AllowlistEntry)])
def test_every_key_of_the_allowlist_is_read_where_it_is_acted_upon(keys_read, name):
    assert name in keys_read
