"""The pre-scan of the personal-data stage loses nothing that Presidio would find, and every process says the same."""

import os
import subprocess
import sys
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.quality.pii_prescan import lost
from bench.quality.pii_set import passages
from crawler.config import from_mapping
from crawler.stages.pii import names
from crawler.stages.pii.ids import TRIGGERS
from crawler.stages.pii.page import lower_keeping_offsets
from crawler.stages.pii.recognise import find
from crawler.stages.pii.scan import MAX_CANDIDATE, plain_marks, scan
from crawler.stages.pii.stage import check_models
from tests.support.places import PROJECT, SHARED_DATA

SENTENCES = SHARED_DATA / "languages/sentences.tsv"


def test_presidio_finds_nothing_in_the_labelled_set_that_the_scan_does_not_mark():
    cases = [case for name in ("structured", "known", "persons") for case in passages(name)]
    assert {case.id: missed for case in cases if (missed := lost(case.text))} == {}


def test_presidio_finds_nothing_in_two_thousand_real_sentences_that_the_scan_does_not_mark():
    if not SENTENCES.exists():
        pytest.skip(f"no {SENTENCES}: the shared data of the development machine")
    sentences = [line.split("\t", 1)[1] for line in SENTENCES.read_text("utf-8").splitlines()][::2][:2_000]
    assert len(sentences) >= 2_000
    blocks = ["\n".join(sentences[start : start + 20]) for start in range(0, 2_000, 20)]
    assert [missed for block in blocks if (missed := lost(block))] == []


VALUES = st.sampled_from(
    [
        "jane@meadow.example",
        "DE89 3704 0044 0532 0130 00",
        "93.184.216.34",
        "4111 1111 1111 1111",
        "2a00:1450:4001::200e",
    ]
)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.one_of(VALUES, st.text(max_size=15), st.sampled_from(["ß", "İ", "\u00a0", ",", "Nr.", "\n"]))))
def test_the_scan_marks_a_value_whatever_stands_around_it(parts):
    assert lost(" ".join(parts)) == []


@given(st.text())
def test_plain_marks_keep_every_character_at_its_place(text):
    assert len(plain_marks(text)) == len(text) == len(lower_keeping_offsets(text))


@pytest.mark.parametrize("seed", ["a@b.", "1 ", "passport x1 ", "tel;1\n", "AB12 ", "(1", "a.b@c.d;", "1;612345678\n"])
def test_hostile_text_makes_candidates_whose_length_is_bounded_by_the_text(seed):
    text = seed * (100_000 // len(seed))
    candidates = list(scan(text, lower_keeping_offsets(text), TRIGGERS))
    assert max((c.end - c.start for c in candidates), default=0) <= MAX_CANDIDATE
    assert sum(c.end - c.start for c in candidates) <= 30 * len(text)


def test_a_column_heading_makes_its_cells_telephone_numbers_and_no_others():
    table = "Name;Phone;Code\nAda;612 345 678;612 345 679\nBob;655 501 234;655 501 235"
    assert [table[hit.start : hit.end] for hit in sorted(find(table, "es"), key=lambda h: h.start)] == [
        "612 345 678",
        "655 501 234",
    ]


PRINT_ALL = """
from bench.quality.pii_set import passages
from crawler.config import from_mapping
from crawler.stages.pii.stage import PiiStage
from crawler.document import Document
stage = PiiStage(from_mapping({"PII_PERSON": "off", "PII_MAX_DENSITY": 1.0}).pii)
for case in passages():
    doc = Document(url="u", language=case.language, text=case.text)
    stage(doc)
    print(repr(doc.text), doc.pii_spans, doc.pii_entity_types)
"""


def test_two_processes_with_different_hash_seeds_redact_byte_for_byte_alike():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PRINT_ALL],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] != b""


MISSING = [name for name in ("pl_core_news_sm", "nl_core_news_sm", "xx_sent_ud_sm") if not names.installed_name(name)]


def test_a_crawl_that_lacks_the_model_of_another_language_stops_with_the_command_that_installs_it(tmp_path):
    if not MISSING:
        pytest.skip("every candidate model is installed here")
    settings_ = ["-s", f"PII_MODELS=en:en_core_web_sm,pl:{MISSING[0]}", "-s", f"CORPUS_DIR={tmp_path / 'corpus'}"]
    run = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "corpus", "-a", "url=http://127.0.0.1:9/", *settings_],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert f"python -m spacy download {MISSING[0]}" in run.stdout + run.stderr
    assert not (tmp_path / "corpus/shards").exists()
    assert check_models(from_mapping({"PII_PERSON": "off", "PII_MODELS": f"pl:{MISSING[0]}"}).pii) == []


def test_a_long_row_without_a_space_is_passed_and_not_read_for_ever():
    text = "stored (47.4900000000000019895196601282805204391479492187) in less than one"
    assert all(found.end > found.start for found in islice(scan(text, text, ()), 100))
    assert len(list(islice(scan(text, text, ()), 100))) < 100
