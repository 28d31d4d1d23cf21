"""QUALITY_PROFILES_FILE: profiles of one's own change verdicts and digest; what is wrong in the file has its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.config import Config, ConfigError, from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.observe.diagnose.thresholds import Thresholds
from crawler.problems import InputError
from crawler.stages import chain
from crawler.stages.quality.profile_file import read_profiles
from crawler.stages.quality.stage import QualityStage, check_profiles
from demo.pages import load_web

TEXT = next(page.body for page in load_web()["almanac"].pages.values() if page.expect == "kept")
EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "profiles.yaml"


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "profiles.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def config_with(path: str, **values: str) -> Config:
    return from_mapping({"QUALITY_PROFILES_FILE": path, "PII_PERSON": "off", **values})


def verdict(config: Config, text: str = TEXT, profile: str = "") -> tuple[Document, Drop | None]:
    doc = Document("https://example.org/", text=text, language="en", profile=profile)
    result = QualityStage(config.quality)(doc)
    return doc, result if isinstance(result, Drop) else None


def problems(path: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_profiles(path)
    return [problem.removeprefix(f"{path}:") for problem in caught.value.problems]


def test_a_threshold_of_an_own_profile_decides(written: Callable[[str], str]) -> None:
    path = written("long:\n  based_on: prose\n  thresholds:\n    gopher_quality.min_words: 100000\n")
    doc, drop = verdict(config_with(path, QUALITY_PROFILE="long"))
    assert (drop.reason if drop else None) is DropReason.GOPHER_SHORT_DOC
    assert (doc.quality_signals["profile"], doc.quality_signals["profile_by"]) == ("long", "setting")
    assert verdict(config_with(path, QUALITY_PROFILE="prose"))[1] is None


def test_a_profile_with_the_name_of_a_built_in_one_holds_where_a_page_chooses_that(
    written: Callable[[str], str],
) -> None:
    config = config_with(written("prose:\n  thresholds:\n    gopher_quality.min_words: 100000\n"))
    doc, drop = verdict(config)
    assert (drop.reason if drop else None) is DropReason.GOPHER_SHORT_DOC
    assert (doc.quality_signals["profile"], doc.quality_signals["profile_by"]) == ("prose", "page")
    code = "\n".join(f"def item_{n}(value):  # the {n}. of them\n    return value + {n}" for n in range(60))
    doc, drop = verdict(config, f"{TEXT}\n\n{code}")
    assert doc.quality_signals["profile"] == "technical" and (
        drop is None or drop.reason != DropReason.GOPHER_SHORT_DOC
    )
    record = {"reason": "gopher_short_doc", "quality_signals": verdict(config)[0].quality_signals, "quality_score": 1}
    (miss, *_) = Thresholds(config).misses(json.loads(json.dumps(record))) or []
    assert (miss.limit.setting, miss.limit.value) == ("gopher_quality.min_words", "gopher_words")


def test_the_allowlist_chooses_an_own_profile_before_the_setting(written: Callable[[str], str]) -> None:
    path = written("long:\n  thresholds: {gopher_quality.min_words: 100000}\n")
    doc, drop = verdict(config_with(path), profile="long")
    assert drop is not None
    assert doc.quality_signals["profile_by"] == "allowlist"


def test_null_switches_a_rule_off_and_an_n_gram_is_named_by_its_n(written: Callable[[str], str]) -> None:
    path = written(
        "own:\n  based_on: datatrove\n  thresholds:\n    gopher_quality.min_stop_words: null\n"
        "    gopher_repetition.duplicate_n_grams[5]: 0.9\n    gopher_repetition.top_n_grams: null\n"
    )
    rules = read_profiles(path)["own"].rules
    assert rules["gopher_quality"].min_stop_words is None
    assert dict(rules["gopher_repetition"].duplicate_n_grams)[5] == 0.9
    assert rules["gopher_repetition"].top_n_grams == ()


def test_bounds_of_the_score_change_the_score(written: Callable[[str], str]) -> None:
    path = written(
        "own:\n  score:\n    stop_words: {low_good: 0.98, low_bad: 0.97, high_good: 0.99, high_bad: 1, weight: 50}\n"
    )
    lower = verdict(config_with(path, QUALITY_PROFILE="own", QUALITY_MIN_SCORE="0"))[0].quality_score
    usual = verdict(config_with(path, QUALITY_PROFILE="prose", QUALITY_MIN_SCORE="0"))[0].quality_score
    assert lower is not None
    assert usual is not None
    assert lower < usual / 2


def test_what_a_profile_requires_selects(written: Callable[[str], str]) -> None:
    path = written(
        "courts:\n  based_on: law\n  require:\n    legal_jurisdiction: [us, us-or]\n    digits: {maximum: 0.5}\n"
    )
    kept = (Path(__file__).with_name("golden") / "legal" / "trial_order.txt").read_text("utf-8").partition("\n---\n")[2]
    other = (
        (Path(__file__).with_name("golden") / "legal" / "eu_judgment.txt").read_text("utf-8").partition("\n---\n")[2]
    )
    config = config_with(path, QUALITY_PROFILE="courts", QUALITY_RULES="c4", QUALITY_MIN_SCORE="0")
    assert verdict(config, kept)[1] is None
    drop = verdict(config, other)[1]
    assert drop is not None
    assert drop.reason is DropReason.NOT_OF_PROFILE
    assert "legal_jurisdiction eu" in drop.detail


def test_the_digest_takes_the_content_and_not_the_path(tmp_path: Path) -> None:
    for name, text in (
        ("a", "own: {based_on: prose}\n"),
        ("b", "own: {based_on: prose}\n"),
        ("c", "own: {based_on: law}\n"),
    ):
        (tmp_path / name).write_text(text)
    a, b, c = (config_with(str(tmp_path / name)).digest for name in "abc")
    assert a == b
    assert len({a, c, from_mapping({"PII_PERSON": "off"}).digest}) == 3


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("own:\n  based_on: prosa\n", 2, "based_on: expected one of prose"),
        ("own:\n  threshold: {}\n", 2, "did you mean 'thresholds'?"),
        ("own:\n  thresholds:\n    gopher_quality.min_word: 3\n", 3, "did you mean 'gopher_quality.min_words'?"),
        ("own:\n  thresholds:\n    gopher_quality.min_words: many\n", 3, "expected a number, found 'many'"),
        ("own:\n  thresholds:\n    gopher_quality.min_words: -3\n", 3, "expected a number from 0 up"),
        ("own:\n  thresholds:\n    gopher_quality.min_words: .nan\n", 3, "expected a number"),
        ("own:\n  thresholds:\n    gopher_quality.min_words: [3]\n", 3, "expected a single value"),
        ("own:\n  thresholds:\n    gopher_repetition.top_n_grams[9]: 0.1\n", 3, "expected n out of 2, 3, 4"),
        ("own:\n  thresholds:\n    c4.curly_bracket: perhaps\n", 3, "expected true or false"),
        ("own:\n  score:\n    stopwords: {weight: 1}\n", 3, "did you mean 'stop_words'?"),
        ("own:\n  score:\n    digits: {wait: 1}\n", 3, "did you mean 'weight'?"),
        ("own:\n  score:\n    stop_words: {low_bad: 0.5, low_good: 0.1}\n", 3, "expected low_bad < low_good"),
        ("own:\n  require:\n    digits: 5\n", 3, "expected {minimum: …} or {maximum: …}"),
        ("own:\n  require:\n    legal_court: ['']\n", 3, "expected a value or a list"),
        ("datatrove:\n  based_on: datatrove\n", 1, "is built in and stays as it is"),
        ("auto: {}\n", 1, "is built in and stays as it is"),
        ("technical:\n  based_on: prose\n", 2, "based_on: expected technical: a profile with the name of a built-in"),
        ("Own Profile:\n  based_on: prose\n", 1, "small letters"),
        ("own: 5\n", 1, "own: expected a mapping"),
        ("own: {}\nown: {}\n", 2, "given twice"),
        ("- own\n", 1, "expected a mapping of names to profiles"),
        ("own: [\n", 2, "expected YAML"),
        ("", 1, "expected a mapping of names to profiles"),
    ],
)
def test_every_mistake_is_named_with_its_line(written: Callable[[str], str], text: str, line: int, says: str) -> None:
    (problem,) = problems(written(text))
    assert problem.startswith(f"{line}:")
    assert says in problem


def test_all_mistakes_are_named_at_once(written: Callable[[str], str]) -> None:
    assert len(problems(written("own:\n  based_on: x\n  thresholds: {a.b: 1}\n  score: {c: {}}\n"))) == 3


def test_a_start_names_what_is_wrong_before_the_first_page(written: Callable[[str], str], tmp_path: Path) -> None:
    path = written("own:\n  based_on: prosa\n")
    assert [f"{path}:2:" in problem for problem in chain.problems(config_with(path))] == [True]
    good = written("own: {based_on: prose}\n")
    (problem,) = chain.problems(config_with(good, QUALITY_PROFILE="owl"))
    assert "no quality profile 'owl'" in problem
    assert check_profiles(config_with(good).quality, {"owl": "allowlist, line 4, example.org"})[0].startswith(
        "allowlist, line 4"
    )
    with pytest.raises(ConfigError, match="needs QUALITY_PROFILES_FILE"):
        from_mapping({"QUALITY_PROFILE": "own"})
    with pytest.raises(ConfigError, match="cannot be read"):
        config_with(str(tmp_path / "nowhere.yaml"))


def test_diagnose_counts_misses_by_the_thresholds_of_an_own_profile(written: Callable[[str], str]) -> None:
    path = written("long:\n  thresholds: {gopher_quality.min_words: 100000}\n")
    config = config_with(path, QUALITY_PROFILE="long")
    doc, drop = verdict(config)
    assert drop is not None
    record = {"reason": drop.reason.value, "quality_signals": doc.quality_signals, "quality_score": doc.quality_score}
    misses = Thresholds(config).misses(json.loads(json.dumps(record)))
    assert misses is not None
    assert misses[0].limit.setting == "gopher_quality.min_words"


def test_the_example_of_the_documentation_is_a_valid_file() -> None:
    assert set(read_profiles(str(EXAMPLE))) == {"minutes", "us-courts"}
