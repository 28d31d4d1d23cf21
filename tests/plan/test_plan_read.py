"""`crawl.yaml` is read with a sentence for each mistake, at its line and column; settings are those of `-s`."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.commands.plan_words import wrong_with
from crawler.config import declared
from crawler.plan.check import problems_of
from crawler.plan.read import read
from crawler.plan.tasks import as_facts, tasks_of
from crawler.problems import InputError
from crawler.runtime import known_settings, load

OTHERS = {
    "LANGUAGES": "en,de",
    "TARGET_LANGUAGES": "en:0.6,de:0.4",
    "FRONTIER_TRACKING_PARAMS": "example.org:foo,bar",
    "CRAWLER_CONTACT": "https://example.org/bot",
}
"""Values of settings that take a certain form."""
TEXT = "name: a\ncorpus: c\nseeds: [https://example.org/]\n"


def config_of(values):
    settings = Settings()
    for name, value in values.items():
        settings.set(name, value, priority="cmdline")
    return load(settings)


def problems(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "p.yaml"
    path.write_text(text, "utf-8")
    try:
        return problems_of(read(path, known_settings()), wrong_with, config_of)
    except InputError as error:
        return error.problems


def other_value(field) -> str | None:
    """Another value than the default, as text; None where only certain files or names will do."""
    name, meta, default = field.metadata["name"], field.metadata, field.default
    if name in OTHERS:
        return OTHERS[name]
    if meta["choices"]:
        return next((choice for choice in meta["choices"] if choice != default), None)
    if isinstance(default, bool):
        return str(not default).lower()
    if isinstance(default, int | float):
        for number in (default + 1, default - 1, default / 2):
            if (meta["minimum"] is None or number >= meta["minimum"]) and (
                meta["maximum"] is None or number <= meta["maximum"]
            ):
                return str(number)
    return None


def test_every_setting_of_a_plan_gives_the_digest_of_the_same_setting_after_s(tmp_path: Path) -> None:
    taken, usual = 0, config_of({}).digest
    for name, field in declared().items():
        value = other_value(field)
        if value is None or name in {
            "RECRAWL",
            "FRONTIER_MAX_PAGES",
            "FRONTIER_MAX_PAGES_PER_DOMAIN",
            "FRONTIER_BUDGET",
        }:
            continue
        try:
            expected = config_of({name: value}).digest
        except InputError:
            continue  # it goes with another setting only
        path = tmp_path / "p.yaml"
        path.write_text(f"{TEXT}settings:\n  {name}: {value}\n", "utf-8")
        plan = read(path, known_settings())
        (task,) = as_facts(plan, config_of)["tasks"]
        words = tasks_of(plan)[0].words
        assert f"{name}={value}" in words
        assert task["config_digest"] == expected, name
        taken += expected != usual
    assert taken > 30


def test_a_limit_of_a_seed_and_recrawl_are_the_settings_that_they_stand_for(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(f"{TEXT}recrawl: yes\nlimits: {{seed: {{fetched: 7}}, in_all: {{fetched: 70}}}}\n", "utf-8")
    (crawl,) = read(path, known_settings()).crawls
    assert config_of(crawl.settings).digest == config_of({"FRONTIER_MAX_PAGES_PER_DOMAIN": "7"}).digest
    config = config_of(crawl.settings)
    assert (config.frontier.recrawl, config.frontier.max_pages) == (True, 70)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("corpus: c\nseeds: [https://example.org/]\nworker: 2\n", ":3:1: worker: unknown key; did you mean 'workers'?"),
        (f"{TEXT}settings:\n  DOWNLOAD_DELAI: 1\n", ":5:3: settings.DOWNLOAD_DELAI: unknown setting; did you mean"),
        (f"{TEXT}settings:\n  DOWNLOAD_DELAY: -1\n", ":5:19: settings.DOWNLOAD_DELAY: expected at least 0"),
        (f"{TEXT}settings:\n  CORPUS_DIR: x\n", ":5:3: settings.CORPUS_DIR: give the key corpus"),
        (f"{TEXT}settings:\n  REDIS_URL: redis://u:secret@h/\n", ":5:14: settings.REDIS_URL: a password"),
        (f"{TEXT}limits: {{seed: {{fetchd: 1}}}}\n", ":4:17: limits.seed.fetchd: unknown key; did you mean 'fetched'?"),
        (f"{TEXT}limits: {{seed: {{fetched: 1.5}}}}\n", ":4:26: limits.seed.fetched: expected a whole number"),
        (f"{TEXT}limits: {{in_all: {{money: 1}}}}\n", "nothing has a price"),
        (f"{TEXT}limits: {{run: {{keptt: 1}}}}\n", ":4:16: limits.run.keptt: unknown key; did you mean 'kept'?"),
        (f"{TEXT}limits: {{run: {{kept: 0}}}}\n", ":4:22: limits.run.kept: expected a number from 1"),
        (f"{TEXT}steps:\n  - dataset verfy corpus\n", ":5:5: dataset-verfy: argument OPERATION: invalid choice"),
        (f"{TEXT}steps:\n  - dataset verify --fixx corpus\n", ":5:5: dataset-verify: "),
        (f"{TEXT}steps:\n  - explore corpus\n", ":5:5: explore-corpus: explore is a command for a person"),
        (f"{TEXT}steps:\n  - dataset export c --to jsonl.gz --out c\n", "a makes c, too: give another --out"),
        (f"{TEXT}gates: none.yaml\n", "none.yaml"),
        ("name: a\ncorpus: c\n", ": seeds: expected seeds, sitemap, allowlist, api or oai"),
        ("name: a\nname: b\ncorpus: c\nseeds: [https://example.org/]\n", ":2:1: name: given twice"),
        ("crawls: []\n", ":1:9: crawls: expected at least one crawl"),
        ("crawls:\n- {name: a, corpus: c, seeds: [https://a.org/]}\n- {name: a, corpus: d, seeds: [https://b.org/]}\n",
         "2 crawls have the name 'a'"),
        ("crawls:\n- {name: a, corpus: c, seeds: [https://a.org/], steps: [dataset verify c]}\n",
         ":2:49: crawls[0].steps: steps belong beside crawls, once"),
        (f"{TEXT}steps:\n  - report c; rm c\n", ":5:5: steps[0]: no shell reads a step, so 'c;'"),
        (f"{TEXT}steps:\n  - report c > out.txt\n", ":5:5: steps[0]: no shell reads a step, so '>'"),
        (f"{TEXT}steps:\n  - dataset export c --to jsonl.gz --out r-{{rn}}\n", ":5:5: steps[0]: {rn} has no meaning"),
        (f"{TEXT}steps:\n  - crawl foo\n", ":5:5: crawl-foo: there is no spider 'foo'"),
        ("crawls:\n- {name: a, corpus: c, seeds: [https://a.org/]}\n- {name: b, corpus: ./c/, seeds: [https://b.org/]}\n",
         "2 crawls have the corpus 'c'"),
        ("- a\n", ":1:1: expected a plan"),
        ("a: &x\n  b: *x\n", ""),
    ],
)  # fmt: skip
def test_a_mistake_is_a_sentence_at_its_line_and_column(tmp_path: Path, text: str, said: str) -> None:
    found = problems(tmp_path, text)
    assert found
    assert any(said in problem and "p.yaml:" in problem for problem in found), found
    assert len(found) == len(set(found)), found
    assert "secret" not in "".join(found)


def test_a_sound_plan_has_no_problems_and_its_tasks_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text("whole: {uniqueness: {min: 0.1}}\n")
    signs = '- "dataset query c \\"SELECT 1 > 0;\\""\n- crawl https://example.org/?a=1&b=2 --out d\n'
    assert problems(tmp_path, f"{TEXT}steps:\n{signs}") == []
    steps = "steps:\n- dataset verify c\n- {name: x, run: 'dataset export c --to jsonl.gz --out r'}\n"
    text = f"{TEXT}workers: 3\ngates: gates.yaml\n{steps}"
    assert problems(tmp_path, text) == []
    found = {task.name: task for task in tasks_of(read(tmp_path / "p.yaml", known_settings()))}
    assert list(found) == ["a", "a.gates", "dataset-verify", "x"]
    assert found["a"].words[:4] == ("work", "corpus", "--workers", "3")
    assert found["a.gates"].words[:3] == ("report", "--check", "gates.yaml")
    assert (found["x"].inputs, found["x"].outputs, found["x"].after) == (("c",), ("r",), ("dataset-verify",))
