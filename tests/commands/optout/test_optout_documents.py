"""docs/policy.md and SECURITY.md say what is so: every snippet refuses, every name exists, the shown output is real."""

from __future__ import annotations

import os
import re
import sys

import pytest
from scrapy.settings import default_settings

from crawler.config import declared, from_mapping
from crawler.policy.decide import decide_body, decide_files, decide_headers, decide_robots
from crawler.policy.facts import facts_of
from crawler.policy.robots import parse as robots
from crawler.policy.robots.answer import Reading, RobotsRecord
from crawler.policy.signals import rsl
from crawler.policy.signals.base import Context
from crawler.policy.signals.registry import DETECTORS, files_of, refusals
from demo.run import served
from tests.support import warm
from tests.support.places import PROJECT

POLICY = (PROJECT / "docs" / "policy.md").read_text("utf-8")
SECURITY = (PROJECT / "SECURITY.md").read_text("utf-8")
CONTEXT = Context("CorpusBot", "strict", 1.8e9)
SNIPPETS = re.findall(r"^```([a-z.]+)\n(.*?)^```$", POLICY, re.MULTILINE | re.DOTALL)


def robots_refuses(body: str) -> bool:
    parsed, record = robots.parse(body.encode()), RobotsRecord(Reading.RULES, 200, "", 0.0, 1.0, body.encode())
    return not decide_robots(record, parsed, "/p", product_token="CorpusBot", profile="strict", now=1.8e9).ok


def file_refuses(path: str, body: str) -> bool:
    (file,) = [file for file in files_of("strict").values() if file.path.endswith(path)]
    assert file.unreadable(body.encode()) == ""
    signals = file.signals(file.parse(body.encode()), "/p", CONTEXT)
    if path == "tdmrep.json":  # a page may overrule it, so it is decided on the body
        return not decide_body([], [], product_token="CorpusBot", profile="strict", earlier=signals).ok
    return not decide_files(signals, "strict").ok


def header_refuses(line: str) -> bool:
    name, _, value = line.partition(": ")
    verdict = decide_headers([(name.encode(), value.encode())], "CorpusBot", "strict", 1.8e9)
    body = decide_body([], [], product_token="CorpusBot", profile="strict", earlier=verdict.signals)
    return not (verdict.ok and body.ok)


def meta_refuses(line: str) -> bool:
    metas = re.findall(r'<meta name="([^"]+)" content="([^"]+)">', line)
    assert len(metas) == 1
    return not decide_body(metas, [], product_token="CorpusBot", profile="strict").ok


def lines_of(kind: str) -> list[str]:
    return [line for name, body in SNIPPETS if name == kind for line in body.splitlines()]


def test_every_carrier_has_a_snippet():
    kinds = {kind for kind, _ in SNIPPETS}
    assert kinds == {"robots.txt", "rsl", "http", "html", "tdmrep.json", "ai.txt", "trust.txt", "console"}


def test_every_robots_txt_to_copy_refuses():
    bodies = [body for kind, body in SNIPPETS if kind == "robots.txt" and "License" not in body]
    assert len(bodies) == 3 and all(map(robots_refuses, bodies))
    signals, (usage,) = bodies[2], re.findall(r"Content-Usage.*\n", bodies[2])
    (signal,) = re.findall(r"Content-Signal.*\n", signals)
    assert robots_refuses(signals.replace(usage, "")) and robots_refuses(signals.replace(signal, ""))
    assert not robots_refuses(signals.replace(signal, "").replace(usage, ""))


def test_the_licence_to_copy_refuses_and_robots_txt_names_it():
    (body,) = [body for kind, body in SNIPPETS if kind == "rsl"]
    assert rsl.unreadable(body.encode()) == "" and rsl.verdict_of(rsl.parse(body.encode()), "/p") == "disallow"
    (naming,) = [body for kind, body in SNIPPETS if kind == "robots.txt" and "License" in body]
    assert robots.parse(naming.encode()).records_for("CorpusBot", "license")[0].value.endswith("/licence.xml")


@pytest.mark.parametrize("line", lines_of("http"))
def test_each_header_to_copy_is_enough(line):
    assert header_refuses(line)


@pytest.mark.parametrize("line", lines_of("html"))
def test_each_meta_to_copy_is_enough(line):
    assert meta_refuses(line)


@pytest.mark.parametrize("path", ["tdmrep.json", "ai.txt", "trust.txt"])
def test_each_file_to_copy_refuses(path):
    assert all(file_refuses(path, body) for kind, body in SNIPPETS if kind == path)


def test_the_table_of_detectors_is_the_registry():
    table = POLICY[POLICY.index("| detector | carriers") :].split("\n\n")[0]
    assert set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)) == set(refusals())
    assert set(refusals()) <= {detector.name for detector in DETECTORS}


def test_every_setting_named_exists_and_the_times_are_its_defaults():
    ours = declared()
    for text in (POLICY, SECURITY):
        for name in re.findall(r"`([A-Z][A-Z_]{4,})(?:=[^`]*)?`", text):
            assert name in ours or hasattr(default_settings, name) or name in {"COMPLIANCE", "BOTS", "VERSION"}, name
    assert "`ROBOTS_MAX_AGE_SECONDS` (86,400 s)" in POLICY and ours["ROBOTS_MAX_AGE_SECONDS"].default == 86_400
    assert "`ROBOTS_ERROR_AGE_SECONDS` (3,600 s)" in POLICY and ours["ROBOTS_ERROR_AGE_SECONDS"].default == 3_600


def test_every_test_and_file_that_security_md_names_exists():
    tests = "\n".join(path.read_text("utf-8") for path in (PROJECT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", SECURITY)
    assert len(named) > 20 and not [name for name in named if f"def {name}(" not in tests]
    paths = re.findall(r"`(crawler/[\w./]+)`", SECURITY)
    assert len(paths) > 20 and all((PROJECT / path).exists() for path in paths)


def test_every_row_of_the_threat_table_names_a_test():
    rows = [line for line in SECURITY.splitlines() if line.startswith("| ") and "threat |" not in line]
    assert rows and all(re.search(r"\| `test_\w+` \|$", row) for row in rows)


def test_the_manifest_of_a_run_says_profile_name_and_detectors():
    facts = facts_of(from_mapping({"OPTOUT_PROFILE": "minimal", "CRAWLER_CONTACT": "https://example.org/bot"}))
    assert facts["optout_profile"] == "minimal" and "https://example.org/bot" in facts["user_agent"]
    assert set(facts["detectors"]) == {detector.name for detector in DETECTORS}


def test_the_shown_output_is_what_the_command_prints(tmp_path):
    shown = [body.partition("\n") for kind, body in SNIPPETS if kind == "console"]
    assert len(shown) == 2
    with served(tmp_path) as server:
        port = server.ports[0]
        for command, _, expected in shown:
            arguments = command.removeprefix("$ gristmill optout ").replace("8790", str(port)).split()
            options = ["-s", "NETWORK_ALLOW=127.0.0.0/8", "-s", f"NETWORK_PORTS={port}", "-s", "DOWNLOAD_DELAY=0"]
            done = warm.run(
                [sys.executable, "-m", "scrapy", "optout", *options, *arguments],
                cwd=PROJECT,
                env=os.environ | {"COLUMNS": "116"},
                capture_output=True,
                text=True,
            )
            assert plain(done.stdout, port).startswith(plain(expected, port)), done.stdout + done.stderr


def plain(text: str, port: int) -> str:
    """Without times, port and trailing blanks."""
    dated = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "TIME", text.replace(f":{port}", ":8790"))
    return "\n".join(line.rstrip() for line in dated.splitlines()).strip()
