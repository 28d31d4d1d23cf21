"""Public robots.txt files: crawler-commons' collection, and 4,231 files of real hosts against Protego."""

from __future__ import annotations

import tarfile

import pytest

from bench.quality.robots import LARGE, REASONS, cost, differences
from crawler.policy.robots.parse import parse

CASES = [  # file, bot, path, allowed: the expectations that the files' comments and names state
    ("rfc9309-example-simple-robots.txt", "foobot", "/example/page.html", True),
    ("rfc9309-example-simple-robots.txt", "barbot", "/example/page.html", False),
    ("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/disallowed.gif", False),
    ("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/x.gif", True),
    ("rfc9309-example-rule-group-merging.txt", "ExampleBot", "/foo", False),
    ("rfc9309-example-rule-group-merging.txt", "ExampleBot", "/baz", False),
    ("rfc9309-example-rule-group-merging.txt", "BazBot", "/foo", True),
    ("rfc9309-example-rule-group-merging.txt", "BazBot", "/baz", False),
    ("rfc9309-example-rule-group-merging.txt", "anybot", "/bar", False),
    ("crawl-delay-group-merging.txt", "mybot", "/private/", False),
    ("crawl-delay-group-merging.txt", "yourbot", "/private/", False),
    ("crawl-delay-group-merging.txt", "yourbot", "/login/", False),
    ("crawl-delay-group-merging.txt", "mybot", "/login/", True),
    ("extensions-group-merging.txt", "mybot", "/private/", False),
    ("extensions-group-merging.txt", "yourbot", "/login/", False),
    ("extensions-group-merging.txt", "mybot", "/login/", False),
    ("extensions-group-merging.txt", "anybot", "/llms.txt", True),
    ("extensions-group-merging.txt", "anybot", "/x", False),
    ("directive-typos-robots.txt", "bot1", "/desallow/", False),
    ("directive-typos-robots.txt", "bot1", "/dissalow/", False),
    ("directive-typos-robots.txt", "bot2", "/useragent/", False),
    ("directive-typos-robots.txt", "bot3", "/useg-agent/", False),
    ("directive-typos-robots.txt", "bot4", "/useragent-no-colon/", False),
    ("format-errors-robots.txt", "bot1", "/whitespace-before-colon/", False),
    ("format-errors-robots.txt", "bot1", "/no-colon/", False),
    ("format-errors-robots.txt", "bot2", "/no-colon-useragent/", False),
    ("format-errors-robots.txt", "bot3", "/whitespace-before-colon", True),
    ("format-errors-robots.txt", "bot3", "/x", False),
    ("malformed-path.txt", "anybot", "/wiki/Wikipedia_talk:Mediation_Committee/", False),
    ("extension-robots.txt", "mybot", "/private/x", False),
    ("extension-robots.txt", "otherbot", "/private/x", True),
]


@pytest.mark.parametrize("name, bot, path, expected", CASES)
def test_crawler_commons_files_are_read_as_meant(shared_data, name, bot, path, expected):
    body = (shared_data / "crawler-commons" / "robots" / name).read_bytes()
    assert parse(body).decide(bot, path).allowed is expected


def test_every_byte_order_mark_of_crawler_commons_is_understood(shared_data):
    folder = shared_data / "crawler-commons" / "robots"
    files = [parse((folder / f"robots-with-{bom}-bom.txt").read_bytes()) for bom in ("utf8", "utf16le", "utf16be")]
    assert all(file.groups and not file.closed for file in files)


def test_delays_of_crawler_commons_files_belong_to_the_agents_they_name(shared_data):
    folder = shared_data / "crawler-commons" / "robots"
    merged = parse((folder / "crawl-delay-group-merging.txt").read_bytes())
    assert [merged.crawl_delay(bot) for bot in ("mybot", "yourbot", "anybot")] == [10.0, 10.0, 30.0]
    rates = parse((folder / "extensions-group-merging.txt").read_bytes())
    assert [rates.crawl_delay(bot) for bot in ("mybot", "yourbot", "anybot")] == [6.0, 6.0, 2.0]


@pytest.fixture(scope="module")
def wild(shared_data):
    with tarfile.open(shared_data / "robots-wild.tar.gz") as tar:
        files = [(m.name.partition("/")[2], tar.extractfile(m).read()) for m in tar if m.isfile()]
    assert len(files) == 4_231
    return files


def test_no_real_file_makes_it_raise_or_closes_its_host(wild):
    for name, body in wild:
        file = parse(body)
        assert not file.closed, name
        file.decide("CorpusBot", "/some/page?x=1")
        file.crawl_delay("CorpusBot")


def test_where_protego_differs_on_real_files_the_engine_is_stricter_for_a_known_reason(wild):
    compared, known, unexplained = differences(wild)
    assert unexplained == []
    assert set(known) == set(REASONS)
    assert sum(known.values()) < compared / 50


@pytest.mark.parametrize("what", LARGE)
def test_large_files_are_parsed_within_their_limit(what):
    make, limit = LARGE[what]
    assert cost(make()) < 2 * limit  # the limit itself is the bench's, on a machine that does nothing else
