"""Data files of words and phrases, as the stages read them."""

import sys
import zipfile
from pathlib import Path

import pytest

from crawler.stages.text.tables import alternatives, sections

FILE = """\
before any section

[names]
# a comment
anna
  bo|bob  # is no comment behind an entry

[empty]
[greetings]
hello {names}{1,2}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder := tmp_path / "words_of_a_test").mkdir()
    (folder / "__init__.py").touch()
    (folder / "words.txt").write_text(FILE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, folder.name, raising=False)  # of the test before
    return folder.name


def test_entries_stand_under_their_section_without_comments_and_blank_lines(package: str):
    found = sections(package, "words.txt")
    assert found[""] == ["before any section"]
    assert found["names"] == ["anna", "bo|bob  # is no comment behind an entry"]
    assert found["empty"] == []


def test_a_name_in_braces_stands_for_the_entries_of_an_earlier_section_and_numbers_stay(package: str):
    assert sections(package, "words.txt")["greetings"] == [
        "hello (?:anna|bo|bob  # is no comment behind an entry){1,2}"
    ]


def test_a_section_that_is_not_there_is_an_error_when_the_file_is_read(package: str, tmp_path: Path):
    (tmp_path / package / "words.txt").write_text("[late]\n{later}\n[later]\nx\n")
    with pytest.raises(KeyError, match="later"):
        sections(package, "words.txt")


def test_a_file_is_read_from_a_package_in_a_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as file:
        file.writestr("zipped_words/__init__.py", "")
        file.writestr("zipped_words/words.txt", FILE)
    monkeypatch.syspath_prepend(str(tmp_path / "code.zip"))
    assert sections("zipped_words", "words.txt")["names"][0] == "anna"
    sys.modules.pop("zipped_words", None)


def test_alternatives_are_one_group():
    assert alternatives(["a", "b|c"]) == "(?:a|b|c)"
