"""LOG_JSON: a log that machines read, and that nothing from the web can break into."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from crawler.observe.live.json_log import MOST_CHARACTERS, JsonFormatter

FORMATTER = JsonFormatter("main", "worker-0")


def line(message: str, **values: object) -> str:
    record = logging.LogRecord("crawler.x", logging.WARNING, __file__, 1, message, (), None)
    record.created, record.msecs = 1_764_000_000.25, 250.0
    for name, value in values.items():
        setattr(record, name, value)
    return FORMATTER.format(record)


def test_a_line_says_when_how_grave_where_and_who():
    assert json.loads(line("no answer")) == {
        "time": "2025-11-24T16:00:00.250Z",
        "level": "WARNING",
        "logger": "crawler.x",
        "message": "no answer",
        "crawl": "main",
        "worker": "worker-0",
    }


@pytest.mark.parametrize("number", [*range(32), 0x7F, 0x85, 0x9B, 0x2028, 0x202E, 0xFEFF, 0xD800, 0x1F600])
def test_no_character_of_a_page_leaves_the_line_or_reaches_a_terminal(number):
    said = line(f'before{chr(number)}"after\\')
    assert all(" " <= character <= "~" for character in said)
    assert json.loads(said)["message"] == f'before{chr(number)}"after\\'


def test_a_traceback_is_a_field_and_long_messages_are_cut():
    try:
        raise ValueError("from\nthe web")  # noqa: TRY301
    except ValueError:
        found = json.loads(line("x" * 100_000, exc_info=sys.exc_info()))
    assert found["exception"].endswith("ValueError: from\nthe web")
    assert found["message"] == "x" * MOST_CHARACTERS + "… (100,000 characters)"


def test_the_log_of_a_crawl_is_json_where_it_is_asked_for_and_text_elsewhere(crawl, make_site):
    site = make_site(pages=1)
    done = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, LOG_JSON=1, LOG_LEVEL="INFO", WORKER_ID="w1")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    first = next(number for number, text in enumerate(lines) if text.startswith('{"time"'))
    found = [json.loads(text) for text in lines[first:]]
    assert {(one["crawl"], one["worker"]) for one in found} == {("crawl", "w1")}
    assert "Spider opened" in {one["message"] for one in found}
    done = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, LOG_LEVEL="INFO")
    assert not [text for text in done.stderr.splitlines() if text.startswith('{"time"')]
    assert "Spider opened" in done.stderr


def test_the_log_goes_into_the_file_that_is_named(crawl, make_site, tmp_path):
    site = make_site(pages=1)
    file = tmp_path / "log"
    settings = {"LOG_JSON": 1, "LOG_LEVEL": "INFO", "LOG_FILE": file}
    done = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, **settings)
    assert done.returncode == 0, done.stderr
    assert '"time"' not in done.stderr
    lines = file.read_text().splitlines()
    assert {"Spider opened", "Spider closed (finished)"} <= {
        json.loads(text)["message"] for text in lines if text.startswith('{"time"')
    }
