"""Settings of the accounts: what things cost, how many documents are audited, what the corpus should be made of."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.config.declare import setting


def _check_targets(values: tuple[str, ...]) -> str | None:
    shares: dict[str, float] = {}
    for value in values:
        name, _, share = value.partition(":")
        try:
            shares[name.strip()] = float(share)
        except ValueError:
            return f"expected language:share, such as en:0.6, not {value!r}"
        if not (name.strip() and 0 < shares[name.strip()] <= 1):
            return f"expected a language and a share above 0, at most 1, not {value!r}"
    if len(shares) < len(values):
        return "expected each language once"
    if values and not 0.999 <= sum(shares.values()) <= 1.001:
        return f"expected shares that add up to 1, not to {sum(shares.values()):g}"
    return None


@dataclass(frozen=True, slots=True)
class ReportConfig:
    """What `gristmill report` goes by; no verdict depends on it."""

    cost_request: float = setting("COST_REQUEST", 0.0, "price of one request, in COST_CURRENCY; 0 = not counted",
                                  minimum=0.0, digest=False)  # fmt: skip
    cost_browser_minute: float = setting("COST_BROWSER_MINUTE", 0.0, "price of a minute in which a browser draws a page; "
                                         "0 = not counted", minimum=0.0, digest=False)  # fmt: skip
    cost_gb: float = setting("COST_GB", 0.0, "price of 10^9 bytes received; 0 = not counted", minimum=0.0, digest=False)  # fmt: skip
    cost_cpu_hour: float = setting("COST_CPU_HOUR", 0.0, "price of an hour of CPU in the stages; 0 = not counted",
                                   minimum=0.0, digest=False)  # fmt: skip
    cost_currency: str = setting("COST_CURRENCY", "EUR", "what the prices are in: a name, nothing is converted", digest=False)  # fmt: skip
    audit_sample: int = setting("AUDIT_SAMPLE", 400, "kept documents in which the report looks for redacted personal "
                                "data, spread over languages and licence tiers; 0 = no audit", minimum=0, digest=False)  # fmt: skip
    audit_seed: int = setting("AUDIT_SEED", 0, "another number chooses other documents for the audit", digest=False)  # fmt: skip
    concentration_warn: float = setting("CONCENTRATION_WARN", 0.5, "share of the kept tokens (0 to 1) of the largest "
                                        "domain, above which the report warns; 1 = never", minimum=0.0, maximum=1.0,
                                        digest=False)  # fmt: skip
    target_languages: tuple[str, ...] = setting("TARGET_LANGUAGES", (), "shares of the kept tokens that each language "
                                                "should have, adding up to 1: en:0.6,de:0.4; empty = no target",
                                                check=_check_targets, digest=False)  # fmt: skip
