"""One reader of the YAML that people write: every problem has file, line and column, and nothing is executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import yaml_file
from crawler.config.yaml_file import Value
from crawler.problems import InputError


def schema(root: Value) -> dict[str, object]:
    top = root.mapping(("name", "sizes", "share", "parts"))
    found: dict[str, object] = {}
    if "name" in top:
        found["name"] = top["name"].text(str)
    if "sizes" in top:
        found["sizes"] = [size.number(least=1) for size in top["sizes"].sequence("expected a list of sizes")]
    if "share" in top:
        found["share"] = top["share"].plain()
    if "parts" in top:
        found["parts"] = {name: part.plain() for name, part in top["parts"].items("expected names with values")}
    return found


def problems(text: str | bytes) -> list[str]:
    with pytest.raises(InputError) as caught:
        yaml_file.parse(text.encode() if isinstance(text, str) else text, schema, "f")
    return caught.value.problems


def test_values_are_read_with_their_types() -> None:
    text = b"\xef\xbb\xbfname: no\nsizes: [1, 2.5]\nshare: [null, true, x, 2026-01-02]\nparts: {a: 1, no: 2}\n"
    found = yaml_file.parse(text, schema, "f")
    assert found["name"] == "no"
    assert found["sizes"] == [1.0, 2.5]
    assert [str(value) for value in found["share"]] == ["None", "True", "x", "2026-01-02"]
    assert found["parts"] == {"a": 1, "no": 2}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: x\nnmae: y\n", "f:2:1: nmae: unknown key; did you mean 'name'?"),
        ("zzz:\n  - 1\n", "f:1:1: zzz: unknown key; known: name, sizes, share, parts"),
        ("name: x\nname: y\n", "f:2:1: name: given twice"),
        ("parts:\n  a: 1\n  a: 2\n", "f:3:3: parts.a: given twice"),
        ("name: [x]\n", "f:1:7: name: expected a single value, found a nested structure"),
        ("sizes: 3\n", "f:1:8: sizes: expected a list of sizes"),
        ("sizes:\n- 1\n-   0\n", "f:3:5: sizes: expected a number from 1, found 0"),
        ("sizes: [.nan]\n", "f:1:9: sizes: expected a number from 1, found nan"),
        ("sizes: [yes]\n", "f:1:9: sizes: expected a number from 1, found True"),
        ("share: {a: 1}\n", "f:1:8: share: expected a value or a list of values, found a nested structure"),
        ("share: 2026-13-45\n", "f:1:8: share: expected a plain value (month must be in 1..12)"),
        ("? [1, 2]\n: 3\n", "f:1:3: a key has to be a plain word"),
        ("", "f:1:1: expected a mapping with the keys name, sizes, share, parts"),
        ("<<: {name: x}\n", "f:1:1: <<: unknown key; known: name, sizes, share, parts"),
        ("share: !!python/object/apply:os.getcwd x\n", "f:1:8: share: expected a plain value (could not determine"),
        ("name: [\n", "f:2:1: expected YAML: "),
        (b"name: x\nshare: \xe9\n", "f:2:1: expected UTF-8: save the file in that encoding"),
        ("[" * 100_000, "f:1:1001: expected YAML: nested more than 8 levels deep"),
        ("share: &a [*a]\n", "f:1:8: share: expected a value or a list of values, found a nested"),
    ],
)
def test_what_cannot_be_used_has_line_and_column(text: str | bytes, problem: str) -> None:
    assert problems(text)[0].startswith(problem)


def test_all_problems_are_reported_together() -> None:
    assert len(problems("nmae: 1\nsizes: 3\nshare: {}\n")) == 3


def test_a_file_that_cannot_be_read_or_is_too_large_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none: expected a list: No such file"):
        yaml_file.read(tmp_path / "none", schema, most=10, what="a list")
    (tmp_path / "large").write_bytes(b"name: 12345678")
    with pytest.raises(InputError, match=r"large: 14 bytes, expected at most 10"):
        yaml_file.read(tmp_path / "large", schema, most=10)
