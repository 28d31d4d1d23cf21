"""Evidence is what policy has seen of a request so far; it goes onto the Document and into the decision record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.config.text import CHOICES, PROFILE_NAME
from crawler.document import ControlFile, Drop, Reason, Signal


@dataclass(slots=True)
class Evidence:
    """Kept on `request.meta["evidence"]`; the middlewares fill it in flow order.

    robots_status: "allowed", "no_rules", "stale" (allowed by a last good copy), "disallowed", "denied" (401, 403,
        …), "unreachable" or "".
    robots_sha256: hex digest of the robots.txt body that decided; None where there was none.
    robots_fetched_at: RFC 3339 UTC time at which that body was fetched.
    robots_rule: the matched line, such as "line 12: Disallow: /private"; empty where no rule matched.
    signals: every opt-out statement seen, whatever it says.
    redirects: the URLs that led here, oldest first.
    files: the host's control files that were there, beside robots.txt.
    """

    robots_status: str = ""
    robots_sha256: str | None = None
    robots_fetched_at: str | None = None
    robots_rule: str = ""
    signals: list[Signal] = field(default_factory=list)
    redirects: list[str] = field(default_factory=list)
    files: list[ControlFile] = field(default_factory=list)

    def dump(
        self,
        profile: str = "",
        fields: Mapping[str, str] | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> bytes:
        """JSON for the archive: what a replay cannot find out again, that is, everything from before the request.

        profile: of the quality rules, as the allowlist asks for it; empty where it does not. fields: where those of a
        record of a JSON source stand; None or empty for a page. choices: what the allowlist asks of the extraction.
        """
        values = {name: getattr(self, name) for name in _TEXTS}
        signals = [[s.protocol, s.carrier, s.value, s.verdict] for s in self.signals if s.carrier in EARLY_CARRIERS]
        values |= {"signals": signals, "profile": profile} | ({"fields": dict(fields)} if fields else {})
        values |= {"choices": dict(choices)} if choices else {}
        values |= {"files": [[f.url, f.protocol, f.sha256, f.fetched_at] for f in self.files]} if self.files else {}
        return json.dumps(values, separators=(",", ":")).encode()


EARLY_CARRIERS = frozenset({"robots.txt", "well-known"})
"""Where signals stand that are read before the request; all others are in the archived response itself."""
_TEXTS = ("robots_status", "robots_sha256", "robots_fetched_at", "robots_rule")


def _values(blob: bytes) -> dict[str, Any]:
    """What stands in an archive as evidence; empty where it is something else."""
    try:
        values = json.loads(blob)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def load(blob: bytes) -> Evidence | None:
    """The evidence that `dump` wrote; None where these bytes are something else."""
    try:
        values = _values(blob)
        texts = {name: values[name] for name in _TEXTS}
        signals = [Signal(*entry) for entry in values["signals"]]
        files = [ControlFile(*entry) for entry in values.get("files", ())]
    except (TypeError, KeyError):
        return None
    said = [text for file in files for text in (file.url, file.protocol, file.sha256, file.fetched_at)]
    strings = [*texts.values(), *said, *(text for s in signals for text in (s.protocol, s.carrier, s.value, s.verdict))]
    if not all(text is None or isinstance(text, str) for text in strings):
        return None
    return Evidence(**texts, signals=[s for s in signals if s.carrier in EARLY_CARRIERS], files=files)


@dataclass(frozen=True, slots=True)
class History:
    """What only the crawl knew of a page: how it got there, and what earlier visits found. Fields as on `Document`."""

    redirects: list[str]
    first_seen: str
    last_changed: str
    change_count: int
    past_text: bytes = b""
    past: bytes = b""


def with_history(blob: bytes, history: History) -> bytes:
    """The evidence `blob` (may be empty) with the history beside it, for the archive."""
    facts = [history.redirects, history.first_seen, history.last_changed, history.change_count]
    facts += [history.past_text.hex(), history.past.hex()] if history.past_text or history.past else []
    return json.dumps(_values(blob) | {"history": facts}, separators=(",", ":")).encode()


def load_history(blob: bytes) -> History | None:
    """The history that `with_history` wrote; None where these bytes are something else."""
    try:
        redirects, first_seen, last_changed, changes, *before = _values(blob)["history"]
        past_text, past = map(bytes.fromhex, before or ("", ""))
    except (ValueError, TypeError, KeyError):
        return None
    texts = [*redirects, first_seen, last_changed] if isinstance(redirects, list) else [None]
    if not all(isinstance(text, str) for text in texts) or type(changes) is not int:
        return None
    return History(redirects, first_seen, last_changed, changes, past_text, past)


def with_verdict(blob: bytes, verdict: Drop, status: int) -> bytes:
    """The evidence `blob` with the verdict on a visit that left no page, and its HTTP status (0: no answer)."""
    facts = [verdict.stage, verdict.reason, verdict.detail]
    return json.dumps(_values(blob) | {"verdict": facts, "status": status}, separators=(",", ":")).encode()


def load_verdict(blob: bytes) -> tuple[Drop, int] | None:
    """The verdict and the status that `with_verdict` wrote; None where these bytes are something else."""
    try:
        values = _values(blob)
        (stage, reason, detail), status = values["verdict"], values["status"]
    except (ValueError, TypeError, KeyError):
        return None
    is_sound = isinstance(stage, str) and isinstance(detail, str) and type(status) is int and Reason.is_name(reason)
    return (Drop(stage, found, detail), status) if is_sound and (found := Reason.of(reason)).is_final else None


def load_profile(blob: bytes) -> str:
    """The quality profile noted beside the evidence; empty where there is none, also in archives of others."""
    profile = _values(blob).get("profile")
    return profile if isinstance(profile, str) and PROFILE_NAME.fullmatch(profile) else ""


def load_choices(blob: bytes) -> dict[str, str]:
    """What the allowlist asked of the extraction, as `dump` wrote it; empty where it asked nothing."""
    found = _values(blob).get("choices")
    given = found if isinstance(found, dict) else {}
    return {name: given[name] for name, known in CHOICES.items() if given.get(name) in known}


def load_fields(blob: bytes) -> dict[str, str]:
    """Where the fields of a record of a JSON source stand, as `dump` wrote it; empty for a page."""
    fields = _values(blob).get("fields")
    return fields if isinstance(fields, dict) and all(isinstance(path, str) for path in fields.values()) else {}


def load_browser(blob: bytes) -> dict[str, Any] | None:
    """How rendering the page went, as our crawl noted it; None where no browser was asked."""
    facts = _values(blob).get("browser")
    failed = facts.get("failed", ["", ""]) if isinstance(facts, dict) else None
    is_sound = isinstance(failed, list) and len(failed) == 2 and all(isinstance(part, str) for part in failed)
    return facts if is_sound else None
