"""Fourth text stage: is it worth keeping? Signals first, all of them stored; then the first rule that fails.

Order of the decision: pages that are no content (placeholder, soft 404, login wall), the rule sets of `QUALITY_RULES`
in their order, the score. Everything measured stays in `quality_signals`, so thresholds can be changed by a filter or
a replay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from crawler.config import QualityConfig
from crawler.document import Document, Drop, DropReason
from crawler.problems import InputError
from crawler.stages.quality.field_headings import headings_in
from crawler.stages.quality.legal import FIELDS as LEGAL_FIELDS
from crawler.stages.quality.legal import LegalFacts, legal_spans, read_legal
from crawler.stages.quality.near_misses import NearMisses, shipped
from crawler.stages.quality.no_content import Recognisers
from crawler.stages.quality.profile_file import read_profiles
from crawler.stages.quality.rules.base import Failure, Findings, Page, RuleSet
from crawler.stages.quality.rules.profiles import rules_for
from crawler.stages.quality.score import PROFILES, Profile, choose_profile, measure
from crawler.stages.text.spans import change_text, quote
from crawler.stages.text.words import ruled_by


class QualityStage:
    """Sets `quality_signals` and `quality_score`. Rule sets that clean lines change `text` and its counts."""

    name: ClassVar[str] = "quality"

    def __init__(
        self,
        config: QualityConfig,
        rule_sets: dict[str, dict[str, RuleSet]] | None = None,
        recognisers: Recognisers | None = None,
        near: NearMisses | None = None,
    ) -> None:
        """Build the rule sets once.

        `rule_sets` replaces them: profile name → rule set name → thresholds. `near`: who judges near a limit. Raises:
        KeyError for an unknown rule set; InputError.
        """
        self._names = config.rules
        self._own = read_profiles(config.profiles_file) if config.profiles_file else {}
        self._profiles = PROFILES | {name: made.profile for name, made in self._own.items()}
        self._given = rule_sets or {}
        self._rule_sets: dict[tuple[str, str], dict[str, RuleSet]] = {}
        for profile in PROFILES:
            self._rules_of(profile, "en")
        self._min_score = config.min_score
        self._profile = config.profile
        self._recognisers = recognisers or Recognisers()
        self._near = near or NearMisses(shipped())

    def __call__(self, doc: Document) -> Document | Drop:
        """Measure and judge `doc.text`.

        Drops: placeholder, soft_404, login_wall, form_page, index_page, error_page, every reason of the rule sets,
        unlike_text, not_of_profile, low_quality.
        """
        language = ruled_by(doc.language, doc.language_script) or "en"
        cut = _judged(doc.text)
        page = Page(doc.text[:cut], language, parts=tuple(part for part in doc.parts if part[1] <= cut))
        signals = doc.quality_signals | measure(page) | ({} if cut == len(doc.text) else {"judged_chars": cut})
        profile, chosen_by = self._profile_for(doc, signals)
        doc.quality_signals = signals | {"profile": profile, "profile_by": chosen_by, "tokenizer": page.counter.name}
        kind = self._profiles[profile]
        doc.quality_score = round(kind.score(signals, language), 4)
        if kind.headings_of:
            doc.quality_signals["field_headings"] = headings_in(kind.headings_of, doc.text[:cut])
        if kind.reads_form:
            _note(doc, read_legal(doc.title, doc.text, doc.crawled_at))
        no_content = self._recognisers.judge(doc.title, doc.text, page.number_of_words)
        no_content = no_content or self._recognisers.judge_form(doc.quality_signals, doc.word_count, doc.page_type)
        no_content = no_content or self._recognisers.judge_index(doc.quality_signals, doc.text, doc.page_type)
        failure = self._run_rules(doc, page, self._rules_of(profile, language))
        if no_content is not None:
            return Drop(self.name, *no_content)
        if failure is not None:
            return Drop(self.name, failure.reason, f"{failure.detail} ({profile})".strip())
        if complaint := _missing(doc, kind):
            return Drop(self.name, DropReason.NOT_OF_PROFILE, f"{complaint} ({profile})")
        if doc.quality_score < self._min_score:
            return Drop(self.name, DropReason.LOW_QUALITY, f"{doc.quality_score:.2f} < {self._min_score:g} ({profile})")
        return doc

    def _profile_for(self, doc: Document, signals: Mapping[str, Any]) -> tuple[str, str]:
        """The profile, and who chose it: the domain's allowlist entry before QUALITY_PROFILE before the page."""
        if doc.profile in self._profiles:
            return doc.profile, "allowlist"
        if self._profile != "auto":
            return self._profile, "setting"
        return choose_profile(signals, doc.document_kind), "page"

    def _rules_of(self, profile: str, language: str) -> dict[str, RuleSet]:
        """The rule sets of a profile with the limits of a language; made once, as there are few of both."""
        if profile in self._given:
            return self._given[profile]
        found = self._rule_sets.get((profile, language))
        if found is None:
            own = self._own.get(profile)
            found = own.rules_for(self._names, language) if own else rules_for(profile, self._names, language)
            self._rule_sets[profile, language] = found
        return found

    def _base_of(self, doc: Document) -> str:
        """The built-in profile that a document's is, or is based on."""
        profile = str(doc.quality_signals["profile"])
        return self._own[profile].based_on if profile in self._own else profile

    def _run_rules(self, doc: Document, page: Page, rule_sets: dict[str, RuleSet]) -> Failure | None:
        """Every rule set measures; the first failure decides, unless it is a near miss. A set that cleans lines hands
        its text to the next.
        """
        whole = page.text
        judged: list[tuple[RuleSet, Findings]] = []
        skipped: dict[str, str] = {}
        for name in self._names:
            found = rule_sets[name].judge(page)
            judged.append((rule_sets[name], found))
            doc.quality_signals.update(found.values)
            skipped |= found.skipped
            if found.text is not None and found.text != page.text:
                page = page.cleaned(found.text)
        failure = self._near.judge(judged, doc.quality_signals, skipped, page.language, self._base_of(doc))
        if skipped:
            doc.quality_signals["skipped_rules"] = skipped
        if failure is None and page.text != whole:
            _replace_text(doc, page.text + doc.text[len(whole) :])
        return failure


def check_profiles(config: QualityConfig, wanted: Mapping[str, str] | None = None) -> list[str]:
    """What is wrong with QUALITY_PROFILES_FILE, and with names of profiles that are asked for, one sentence each.

    `wanted`: name of a profile → who asks for it, such as an entry of the allowlist; QUALITY_PROFILE is always asked.
    Rule sets of other packages are loaded, too, where QUALITY_RULES names them.
    """
    try:
        rules_for("datatrove", config.rules)
        known = {*PROFILES, "auto", *read_profiles(config.profiles_file)}
    except InputError as error:
        return error.problems
    asked = {config.profile: "QUALITY_PROFILE", **(wanted or {})}
    return [
        f"{who}: there is no quality profile {name!r}; known: {', '.join(sorted(known))}"
        for name, who in asked.items()
        if name not in known
    ]


LONGEST = 1_000_000
"""Characters of a text by which it is judged: more words than Gopher keeps (100,000), in any language. Five times as
many take up to two gigabytes."""


def _judged(text: str) -> int:
    """Where what is judged ends: of a very long text at the last line or word within `LONGEST`."""
    if len(text) <= LONGEST:
        return len(text)
    return max(text.rfind("\n", LONGEST // 2, LONGEST), text.rfind(" ", LONGEST // 2, LONGEST)) + 1 or LONGEST


def _note(doc: Document, facts: LegalFacts) -> None:
    doc.legal_jurisdiction, doc.legal_document_type = facts.jurisdiction, facts.document_type
    doc.legal_court, doc.legal_court_level = facts.court, facts.court_level
    doc.legal_decision_date, doc.legal_validity = facts.decision_date, facts.validity
    doc.legal_parties, doc.legal_spans = facts.parties, legal_spans(doc.text, facts)
    quote(doc)


def _missing(doc: Document, kind: Profile) -> str:
    """The first thing that the profile requires and the text has not; empty where it has all."""
    for wanted in kind.requires:
        value = getattr(doc, wanted.name) if wanted.name in LEGAL_FIELDS else doc.quality_signals.get(wanted.name)
        if complaint := wanted.complaint(value):
            return complaint
    return ""


def _replace_text(doc: Document, text: str) -> None:
    doc.quality_signals["cleaned_chars"] = len(doc.text) - len(text)
    change_text(doc, text)
