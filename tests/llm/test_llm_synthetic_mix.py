"""Texts that models wrote, in mixtures: capped by default, their share shown, and marked wherever they go."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.mix.mixture import MIX, UnreachableError
from crawler.operations.mix import WORK
from tests.support.operations import answer_of


def write(path: Path, count: int, **more: Any) -> None:
    lines = [
        orjson.dumps(
            {"url": f"https://{path.stem}.example/{n}", "doc_id": f"{path.stem}{n}", "text": f"{path.stem} text {n}",
             "token_estimate": 100, "language": "en", **more}
        )
        for n in range(count)
    ]  # fmt: skip
    path.write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "web.jsonl.gz", 300)
    marks = {"synthetic": True, "synthetic_kind": "text", "synthetic_model": "openai:small"}
    write(tmp_path / "made.jsonl.gz", 300, **marks)
    return tmp_path


def mixed(folder: Path, *lines: str, to: str = "jsonl.gz", out: str = "mixed") -> list[dict[str, Any]]:
    spec = folder / f"{out}.yaml"
    spec.write_text("\n".join(["sources: {web: {files: web.jsonl.gz}, made: {files: made.jsonl.gz}}", *lines]))
    answer_of(WORK, spec, "--out", folder / out, "--to", to)
    if to == "parquet":
        return []
    data = (folder / out / "data").iterdir()
    return [orjson.loads(line) for path in sorted(data) for line in gzip.decompress(path.read_bytes()).splitlines()]


def share(records: list[dict[str, Any]]) -> float:
    made = sum(one["token_estimate"] for one in records if one.get("synthetic"))
    return float(made / sum(one["token_estimate"] for one in records))


@pytest.mark.parametrize(("line", "most"), [("", 0.1), ("synthetic: 0.25", 0.25), ("synthetic: 0", 0.0)])
def test_no_more_than_their_cap_gets_in_and_the_manifest_says_how_much(folder: Path, line: str, most: float) -> None:
    records = mixed(folder, "tokens: 20_000", line)
    said = orjson.loads((folder / "mixed" / MIX).read_bytes())["synthetic"]
    assert share(records) == pytest.approx(said["share"], abs=1e-6)
    assert most * 0.9 <= said["share"] <= most == said["most_share"]
    assert said["documents"] == sum(one.get("synthetic") is True for one in records)
    assert said["tokens"] == sum(one["token_estimate"] for one in records if one.get("synthetic"))


def test_a_target_may_ask_for_a_share_of_them_up_to_the_cap(folder: Path) -> None:
    target = "targets: [{by: synthetic, shares: {'true': 0.05, '*': 0.95}}]"
    assert share(mixed(folder, "tokens: 20_000", target)) == pytest.approx(0.05, abs=0.001)
    with pytest.raises(UnreachableError, match=r"language models wrote, and those may be at most 0\.1 of the budget"):
        mixed(folder, "tokens: 20_000", target.replace("0.05", "0.5").replace("0.95", "0.5"), out="more")


def test_a_mixture_that_only_they_could_fill_is_refused_with_the_reason(folder: Path) -> None:
    with pytest.raises(UnreachableError, match="language models wrote"):
        mixed(folder, "tokens: 40_000")


@pytest.mark.parametrize("to", ["jsonl.gz", "parquet"])
def test_what_says_who_wrote_them_passes_through_a_mixture_of_a_mixture(folder: Path, to: str) -> None:
    mixed(folder, "tokens: 20_000", to=to, out="first")
    spec = folder / "second.yaml"
    spec.write_text("sources: {first: {files: first/data}}\ntokens: 10_000\n")
    answer_of(WORK, spec, "--out", folder / "second", "--to", "jsonl.gz")
    said = orjson.loads((folder / "second" / MIX).read_bytes())["synthetic"]
    assert 0 < said["share"] <= 0.1
    card = (folder / "second" / "README.md").read_text()
    assert f"Language models wrote {said['tokens']:,} of these tokens" in card
    assert "| text by openai:small |" in card
