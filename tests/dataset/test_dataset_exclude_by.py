"""The log of withdrawals says who asked."""

import json
import sys

import pytest

from crawler.dataset.exclude import NOT_GIVEN, Wish, withdraw, withdrawals
from crawler.storage.files.place import Place
from tests.support import warm
from tests.support.places import PROJECT


def exclude(folder, *options):
    command = [sys.executable, "-m", "scrapy", "dataset", "exclude", "--reason", "a letter", "--yes", *options]
    return warm.run([*command, folder], cwd=PROJECT, capture_output=True, text=True)


def log(folder):
    lines = (folder.path / "withdrawals.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["kind"] == "withdrawal"]


@pytest.mark.parametrize(("options", "by"), [(("--by", "Jo of a.test"), "Jo of a.test"), ((), NOT_GIVEN)])
def test_who_asked_stands_in_the_log_and_is_said(folder, kept, options, by):
    folder.filled(range(2))
    done = exclude(str(folder.path), "--domain", "example.org", *options)
    assert done.returncode == 0, done.stderr
    assert f"requested by: {by}" in done.stdout
    assert [line["by"] for line in log(folder)] == [by]


def test_the_same_call_again_is_the_same_wish_and_another_person_makes_another_line(folder):
    folder.filled(range(2))
    place = Place(str(folder.path))
    wish = Wish("a letter", frozenset({"example.org"}), by="Jo")
    for _ in range(2):
        withdraw(place, wish, now=1.8e9)
    withdraw(place, Wish("a letter", frozenset({"example.org"}), by="Kim"), now=1.8e9)
    assert [line["by"] for line in withdrawals(place)] == ["Jo", "Kim"]


def test_a_log_of_an_older_version_is_read_and_its_wish_known_again(folder):
    folder.filled(range(2))
    place = Place(str(folder.path))
    withdraw(place, Wish("a letter", frozenset({"example.org"})), now=1.8e9)
    path = folder.path / "withdrawals.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "by"}) + "\n" for line in lines))
    withdraw(place, Wish("a letter", frozenset({"example.org"})), now=1.9e9)
    assert len(withdrawals(place)) == 1
