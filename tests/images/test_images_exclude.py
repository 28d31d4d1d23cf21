"""Who withdraws an image by its address is told that it leaves, and not that no record has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.operations import exclude
from tests.images.in_process import built, reference, url_of
from tests.support.corpus_folder import Folder
from tests.support.operations import answer_of


def test_an_image_is_called_one_and_another_unknown_address_is_not(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.filled(range(2))
    out = tmp_path / "out"
    built(folder.path, out, [reference(record, number) for number, record in enumerate(folder.records())])
    addresses = ("--url", url_of(1), "--url", "https://elsewhere.example/x.jpg")
    answer = answer_of(exclude.WORK, *addresses, "--reason", "a letter", "--yes", folder.path, CORPUS_DIR=folder.path)
    said = capsys.readouterr().out
    assert f"{url_of(1)}: an image in {out}; it and its copies leave there, and none is asked for again" in said
    assert f"{url_of(1)}: no record" not in said
    assert "https://elsewhere.example/x.jpg: no record of this corpus has it; it is refused from now on" in said
    assert (answer.problems, answer.facts["images"]) == ([], {str(out): 1})
    assert f"{out}: 1 image left" in said
