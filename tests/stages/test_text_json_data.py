"""What pages carry as data is read as it was meant, and nothing is read that could mean two things."""

import contextlib
import time

import pytest

from crawler.stages.text.json_data import MAX_CHARS, NoJSONError, read_json

MEANT = {"@type": "Article", "headline": "The mill", "n": [1, 2]}
PLAIN = '{"@type": "Article", "headline": "The mill", "n": [1, 2]}'


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"\ufeff{PLAIN}",
        f"  {PLAIN} ;\n",
        f"<![CDATA[{PLAIN}]]>",
        f"//<![CDATA[\n{PLAIN}\n//]]>",
        f"// <![CDATA[ {PLAIN} // ]]>",
        f"/*<![CDATA[*/ {PLAIN} /*]]>*/",
        f"<!-- {PLAIN} -->",
        f"/* made by a plugin */ {PLAIN}",
        f"// made by a plugin\n{PLAIN} // end",
        '{"@type": "Article", /* the " title */ "headline": "The mill", "n": [1, 2]}',
        '{"@type": "Article", "headline": "The mill", "n": [1, 2,],}',
        PLAIN.replace('"', "&quot;"),
        PLAIN.replace('"', "&#34;"),
        PLAIN.replace('"', "'"),
        '{"@type": "Article", headline: "The mill", n: [1, 2]}',
        f"{PLAIN},",
    ],
)
def test_what_is_nearly_json_is_read_as_it_was_meant(text):
    assert read_json(text) == MEANT
    assert read_json(text.encode()) == MEANT


@pytest.mark.parametrize("between", ["", "\n", ", ", ";\n", "/* and */"])
def test_values_in_a_row_are_a_list(between):
    assert read_json(PLAIN + between + '{"b": 1}') == [MEANT, {"b": 1}]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"a": "one\ntwo"}', "one\ntwo"),
        ('{"a": "one\r\ntwo",}', "one\n\ntwo"),
        ('{"a": "tab\there"}', "tab\there"),
        ('{"a": "half \\ud83d of one"}', "half  of one"),
        ('{"a": "half \\ude00 of one",}', "half  of one"),
        ('{"a": "whole \\ud83d\\ude00"}', "whole \U0001f600"),
        ('{"a": "a path C:\\\\ud83d"}', "a path C:\\ud83d"),
        ("{'a': 'say \"yes\"'}", 'say "yes"'),
        ("{'a': 'it\\'s'}", "it's"),
        ('{"a": "\\x41\\-b",}', "A-b"),
        ('{"a": "http://example.org/ // no comment",}', "http://example.org/ // no comment"),
        ('{"a": undefined}', None),
        ('{"a": "Жито, 麦, قمح",}', "Жито, 麦, قمح"),
    ],
)
def test_a_string_is_what_its_author_wrote(text, meant):
    assert read_json(text) == {"a": meant}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "var a = 1;",
        "{'a': 'it's'}",
        '{"a": "he said "yes" twice"}',
        '{"a": yes}',
        '{"a": 1',
        '{"a": 1; "b": 2}',
        "{'a': \"b}",
        "[1,,2]",
        "function () { return {}; }",
    ],
)
def test_what_could_mean_something_else_is_not_read(text):
    with pytest.raises(NoJSONError):
        read_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{" * 100_000 + ";",
        '{"a":' * 100_000,
        "/*" * 400_000,
        "'" * 900_001,
        '{"a":"' + "\\" * 900_001,
        "{a:1}," * 150_000,
        "[" + "'" * 500_001,
        "&quot;" * 100_000,
        "//" * 400_000,
        " " * (MAX_CHARS + 1),
    ],
)
def test_hostile_data_take_a_bounded_time(text):
    started = time.process_time()
    with contextlib.suppress(NoJSONError):
        read_json(text)
    assert time.process_time() - started < 5
