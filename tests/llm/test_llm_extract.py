"""`gristmill llm extract`: a value is taken only where it follows from its passage; what a model invents is counted."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.annotate import Annotations
from crawler.llm.extract import OVERLAP, windows
from crawler.operations.llm_extract import WORK
from crawler.problems import InputError
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder
from tests.support.models import Ask, ModelServer, Say, Script
from tests.support.operations import answer_of

Serve = Callable[[Script], ModelServer]
PricesOf = Callable[..., str]
SCHEMA = {
    "type": "object",
    "properties": {
        "maker": {"type": ["string", "null"], "description": "who makes it"},
        "volume": {"type": "number", "unit": "l"},
        "since": {"type": "string", "format": "date"},
        "parts": {"type": "integer"},
        "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
    },
}
KETTLE = "The kettle of Ada Smith & Sons holds 1.7 l.\nIt has been sold since 4 March 2026, in Red and blue.\n"
RIGHT = {
    "maker": {"quote": "kettle of Ada Smith & Sons", "value": "Ada Smith & Sons"},
    "volume": {"quote": "holds 1.7 l", "value": 1.7},
    "since": {"quote": "since 4 March 2026", "value": "2026-03-04"},
    "parts": None,
    "colours": [{"quote": "Red and blue", "value": "red"}, {"quote": "Red and blue", "value": "blue"}],
}
NULLS: dict[str, Any] = {"maker": None, "volume": None, "since": None, "parts": None, "colours": []}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "product.json"
    path.write_text(json.dumps(SCHEMA))
    return path


def extract(folder: Folder, server: ModelServer, prices: str, schema: Path, *more: object) -> dict[str, Any]:
    words = ("--model", server.model(), "--prices", prices, "--budget", "9000EUR", "--schema", schema)
    return dict(answer_of(WORK, folder.path, *words, *more).facts)


def rows(folder: Folder) -> list[dict[str, Any]]:
    found = Annotations(Place(str(folder.path))).read("llm_extract_product")
    return sorted(found, key=lambda row: int(row["canonical_url"].rpartition("/")[2]))


def filled(folder: Folder, kept: Any, *texts: str, language: str = "en") -> None:
    corpus = folder.opened()
    for number, text in enumerate(texts):
        corpus.keep(kept(number, text=text, language=language))
    corpus.close()


def test_right_values_come_with_the_place_that_they_follow_from(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, schema: Path
) -> None:
    filled(folder, kept, KETTLE)
    extract(folder, serve(lambda ask: Say(json.dumps(RIGHT))), prices(), schema)
    (row,) = rows(folder)
    record, evidence = orjson.loads(row["record"]), orjson.loads(row["evidence"])
    assert record == {
        "maker": "Ada Smith & Sons", "volume": 1.7, "since": "2026-03-04", "parts": None, "colours": ["red", "blue"],
    }  # fmt: skip
    places = {name: KETTLE[each["begin"] : each["end"]] for name, each in evidence.items() if isinstance(each, dict)}
    assert places == {"maker": "Ada Smith & Sons", "volume": "1.7 l", "since": "4 March 2026"}
    assert [each["by"] for each in evidence["colours"]] == ["verbatim", "verbatim"]
    assert (row["found"], row["refused"]) == (4, 0)


def test_what_a_model_invents_is_refused_and_counted(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, schema: Path
) -> None:
    filled(folder, kept, KETTLE)
    invented = {
        "maker": {"quote": "The kettle of Ada Smith & Sons", "value": "Hamburger 3000"},
        "volume": {"quote": "holds 1.7 l", "value": 2.7},
        "since": {"quote": "since 5 March 2026", "value": "2026-03-05"},
        "parts": {"quote": "It has", "value": 3},
        "colours": [{"quote": "Red and blue", "value": "red"}, {"quote": "green", "value": "blue"}],
    }
    found = extract(folder, serve(lambda ask: Say(json.dumps(invented))), prices(), schema)
    (row,) = rows(folder)
    assert orjson.loads(row["record"]) == NULLS | {"colours": ["red"]}
    assert (row["refused"], found["refused"]) == (5, 5)


def test_no_value_of_a_model_that_invents_freely_is_taken_and_every_planted_one_is(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, schema: Path
) -> None:
    filled(folder, kept, *(f"{KETTLE}Page {number}." for number in range(60)))
    chance, planted = random.Random(5), set[str]()

    def script(ask: Ask) -> Say:
        if ask.page.endswith("7."):
            planted.add(ask.page)
            return Say(json.dumps(RIGHT))
        words = KETTLE.split()
        quotes = [" ".join(words[(at := chance.randrange(len(words))) : at + 4]) for _ in range(4)]
        return Say(
            json.dumps(
                {
                    "maker": {"quote": quotes[0], "value": chance.choice(["Bo Jones", "ettle", "Ad", "Acme"])},
                    "volume": {"quote": quotes[1], "value": chance.choice([17, 0.17, 7, 4, 2026])},
                    "since": {
                        "quote": quotes[2],
                        "value": f"20{chance.randrange(10, 26)}-01-0{chance.randrange(1, 9)}",
                    },
                    "parts": {"quote": quotes[3], "value": chance.choice([1, 17, 2, 202, 26])},
                    "colours": [{"quote": quotes[0], "value": "red"}] * (not {"Red"} & set(quotes[0].split())),
                }
            )
        )

    extract(folder, serve(script), prices(), schema)
    taken = [row for row in rows(folder) if row["found"]]
    assert len(planted) == 6
    assert [row["canonical_url"][-1] for row in taken] == ["7"] * 6
    assert all(row["found"] == 4 for row in taken)
    assert sum(row["refused"] for row in rows(folder)) >= 54 * 4


def test_a_text_in_windows_gives_one_record(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, schema: Path
) -> None:
    filler = "Nothing to read in this line of the page.\n" * 60
    text = f"{filler}The maker is Ada Smith.\n{filler}It holds 1.7 l.\n{filler}Some say Bo Jones.\n"
    filled(folder, kept, text)

    def script(ask: Ask) -> Say:
        said = dict(NULLS)
        for name, quote in (("maker", "Ada Smith"), ("maker", "Bo Jones")):
            if quote in ask.page:
                said[name] = {"quote": quote, "value": quote}
        if "1.7 l" in ask.page:
            said["volume"] = {"quote": "holds 1.7 l", "value": 1.7}
        return Say(json.dumps(said))

    server = serve(script)
    extract(folder, server, prices(), schema, "--window", 1_500)
    (row,) = rows(folder)
    record, evidence = orjson.loads(row["record"]), orjson.loads(row["evidence"])
    assert (record["maker"], record["volume"], row["conflicts"]) == ("Ada Smith", 1.7, 1)
    assert text[evidence["volume"]["begin"] : evidence["volume"]["end"]] == "1.7 l"
    assert row["windows"] > 4
    assert len(server.asks) == len({ask.page for ask in server.asks})


def test_a_page_of_which_one_window_failed_has_no_record_and_is_counted(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, schema: Path
) -> None:
    filled(folder, kept, KETTLE, KETTLE + "".join(f"Line {number} of it.\n" for number in range(200)))
    server = serve(lambda ask: Say(json.dumps(NULLS), ended="length" if "Line 20 of" in ask.page else "stop"))
    found = extract(folder, server, prices(), schema, "--window", 1_500)
    assert (len(rows(folder)), found["incomplete"], found["outcomes"]["truncated"]) == (1, 1, 1)


def test_windows_cover_a_text_and_share_what_a_passage_may_need() -> None:
    for text in ("word " * 2_000, "x" * 9_000, "\n".join(["line"] * 3_000), "short", "語" * 5_000):
        spans = windows(text, 1_600)
        assert spans[0][0] == 0
        assert spans[-1][1] == len(text)
        assert all(after[0] <= before[1] - OVERLAP for before, after in itertools.pairwise(spans))
        assert all(end - begin <= 1_600 for begin, end in spans)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"ok": {"type": "boolean"}}, "ok: expected type string, number, integer, or an array of one"),
        ({"ok": {"type": "object"}}, "ok: expected type string, number, integer, or an array of one"),
        ({"ok": {"type": "string", "format": "email"}}, "ok: expected format date"),
        ({"ok": {"type": "string", "unit": "l"}}, "ok: expected unit as a text, of a number"),
        ({"ok": {"$ref": "#/x"}}, r"ok: '\$ref' is not understood here"),
        ({"ok": {"type": "array", "items": {"type": "array"}}}, "ok: expected type string"),
        ({}, "expected type object, with properties"),
    ],
)
def test_a_schema_of_what_no_rule_derives_is_refused(tmp_path: Path, said: Any, problem: str) -> None:
    path = tmp_path / "form.json"
    path.write_text(json.dumps({"type": "object", "properties": said}))
    with pytest.raises(InputError, match=problem):
        answer_of(WORK, tmp_path, "--model", "openai:gpt-5-mini", "--budget", "1USD", "--schema", path)
