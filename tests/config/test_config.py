"""Settings are read once, converted, checked together, and frozen."""

import dataclasses
import importlib.util
import re

import pytest

from crawler.config import ConfigError, declared, from_mapping
from crawler.config.config import _FETCHING
from tests.support.places import PROJECT


def test_all_problems_are_reported_together_with_setting_value_and_fix():
    with pytest.raises(ConfigError) as caught:
        from_mapping({"STAGE_WORKERS": "many", "SHARD_FORMAT": "csv", "NETWORK_ALLOW": "home", "DOWNLOAD_DELAY": "-1"})
    problems = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 4
    for expected in ("STAGE_WORKERS='many'", "one of jsonl.zst", "127.0.0.0/8", "at least 0"):
        assert expected in problems


def test_a_remote_corpus_needs_a_local_spool():
    with pytest.raises(ConfigError, match="CORPUS_SPOOL_DIR"):
        from_mapping({"CORPUS_DIR": "s3://bucket/corpus"})
    assert from_mapping({"CORPUS_DIR": "s3://bucket/corpus", "CORPUS_SPOOL_DIR": "/data"}).storage.spool_dir == "/data"


@pytest.mark.parametrize("name", ["../evil", "a/b", "", " ", "ä"])
def test_a_crawl_id_that_is_no_file_name_is_refused(name):
    with pytest.raises(ConfigError, match="CRAWL_ID"):
        from_mapping({"CRAWL_ID": name})


def test_a_number_whose_meaning_a_description_gives_is_taken_and_one_below_its_least_is_not():
    named = [
        (name, number)
        for name, field in declared().items()
        for number in re.findall(r"(?:^|[ ,;:])(-?\d+(?:\.\d+)?) = ", field.metadata["doc"])
    ]
    assert len(named) > 25
    for name, number in named:
        from_mapping({name: number})
    below = {name: field.metadata["minimum"] for name, field in declared().items() if field.metadata["minimum"] == 0}
    for name in below:
        with pytest.raises(ConfigError, match=name):
            from_mapping({name: "-1"})


@pytest.mark.parametrize("raw", ["nan", "inf", "1e999"])
def test_a_number_that_is_not_finite_is_refused(raw):
    with pytest.raises(ConfigError, match="finite"):
        from_mapping({"DOWNLOAD_DELAY": raw})


def test_lists_are_comma_separated_and_typed():
    config = from_mapping({"NETWORK_PORTS": "80, 8080", "LANGUAGES": "en,de"})
    assert config.policy.network_ports == (80, 8080)
    assert config.language.languages == ("en", "de")


def test_the_digest_changes_with_a_verdict_setting_and_not_with_a_path():
    base = from_mapping({}).digest
    assert from_mapping({"QUALITY_MIN_SCORE": "0.9"}).digest != base
    assert from_mapping({"CORPUS_DIR": "elsewhere", "STAGE_WORKERS": "1"}).digest == base


def test_sections_cannot_be_changed_after_reading():
    with pytest.raises(dataclasses.FrozenInstanceError):
        from_mapping({}).crawl.contact = "x"  # type: ignore[misc]


def test_a_worker_without_a_name_gets_a_unique_one():
    assert from_mapping({}).crawl.worker_id
    assert from_mapping({"WORKER_ID": "w7"}).crawl.worker_id == "w7"


def test_no_setting_is_declared_twice():
    from crawler.config import SECTIONS

    assert len(declared()) == sum(len(dataclasses.fields(s)) for s in SECTIONS.values())


def test_the_settings_page_lists_what_the_code_declares():
    spec = importlib.util.spec_from_file_location("settings_table", PROJECT / "scripts" / "settings_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8") == module.render()


def test_an_empty_list_is_a_list_and_not_the_default():
    assert from_mapping({"QUALITY_RULES": ""}).quality.rules == ()
    assert from_mapping({}).quality.rules != ()
    assert from_mapping({"QUALITY_RULES": ""}).digest != from_mapping({}).digest
    assert from_mapping({"NEARDUP_ROWS": "", "REDIS_URL": ""}).dedup == from_mapping({}).dedup


@pytest.mark.parametrize(
    ("name", "words"), [("NETWORK_PORTS", "at least one port"), ("PII_MODELS", "PII_PERSON=off looks for no names")]
)
def test_an_empty_list_with_which_nothing_would_work_is_refused(name, words):
    with pytest.raises(ConfigError, match=words):
        from_mapping({name: ""})


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("COMMIT_SECONDS", "1e20", "at most 1e+09"),
        ("DOWNLOAD_DELAY", "9" * 20, "at most 1e+09"),
        ("CONCURRENT_REQUESTS", "9" * 20, "at most 9.0072e+15"),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", "1024", "at most 1023"),  # the scripts count them in ten bits
        ("NETWORK_PORTS", "80,0,-1,65536", "ports from 1 to 65535, not 0, -1, 65536"),
        ("RECRAWL_DECAY_YIELD", "-1", "at least 0"),
        ("RECRAWL_DECAY_QUALITY", "1.5", "at most 1"),
    ],
)
def test_a_number_with_which_the_crawl_would_fail_in_the_middle_is_refused(name, raw, words):
    with pytest.raises(ConfigError, match=re.escape(f"{name}={raw!r}: expected {words}")):
        from_mapping({name: raw})


def test_what_is_usable_is_read_although_something_else_is_not():
    with pytest.raises(ConfigError) as raised:
        from_mapping({"NEARDUP_ROWS": "many", "NEARDUP_BANDS": "20", "LANGUAGES": "de"})
    rest = raised.value.rest
    assert (rest.dedup.rows, rest.dedup.bands, rest.language.languages) == (6, 20, ("de",))


def test_settings_of_fetching_change_the_digest_and_not_that_of_judging():
    plain, asked = from_mapping(), from_mapping({"NETWORK_ALLOW": "127.0.0.0/8", "DEPTH_LIMIT": 3})
    assert plain.digest != asked.digest and plain.judging_digest == asked.judging_digest
    assert plain.judging_digest != from_mapping({"LANGUAGE_MIN_SCORE": 0.2}).judging_digest
    assert plain.deciding().keys() >= _FETCHING


@pytest.mark.parametrize("name", ["REDIS_URL", "DEDUP_REDIS_URL"])
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis://:ab/c+d==@redis:6379/0", "/ is written %2F"),  # of `openssl rand -base64`
        ("redis://:a#b@redis:6379/0", "# %23"),
        ("redis://:p@ss/word@redis/0", "@ %40"),
        ("redis://redis:99999/0", "Port out of range"),
        ("redis://redis:6379/main", "the number of a database"),
        ("http://:secret@redis:6379", "expected redis://host:port/db"),
    ],
)
def test_a_server_address_that_cannot_be_meant_is_told_without_its_password(name, url, words):
    with pytest.raises(ConfigError) as caught:
        from_mapping({name: url})
    (problem,) = caught.value.problems
    assert problem.startswith(f"{name}=")
    assert words in problem
    assert not any(secret in problem for secret in ("ab/c", "a#b", "p@ss", "secret"))


@pytest.mark.parametrize("url", ["redis://h", "rediss://u:p%2F@h:1/3", "valkey://[::1]:6379/", "unix:///s?db=1"])
def test_server_addresses_of_every_form_are_taken(url):
    assert from_mapping({"REDIS_URL": url}).crawl.redis_url == url
