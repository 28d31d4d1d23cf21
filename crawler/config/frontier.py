"""Settings of the frontier: which URL next, how fast, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.config.address_delays import check_address_delays
from crawler.config.budget import check_budget
from crawler.config.declare import setting


def check_tracking(value: tuple[str, ...]) -> str | None:
    """Pairs of domain and query parameter; a parameter alone belongs to the domain before it."""
    for at, pair in enumerate(value):
        domain, colon, name = pair.rpartition(":")
        named = bool(name) and pair.isascii() and not any(c in "&=#?/" or c.isspace() for c in name)
        placed = domain.replace(".", "").replace("-", "").isalnum() if colon else at > 0
        if not (named and placed):
            return f"expected a domain and its parameters, such as example.org:foo,bar,example.net:baz, not {pair!r}"
    return None


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """Which URL next, how fast, and when to stop."""

    delay_seconds: float = setting("DOWNLOAD_DELAY", 1.0, "seconds between requests to one domain, all workers together",
                                   minimum=0.0, digest=False)  # fmt: skip
    concurrency: int = setting("CONCURRENT_REQUESTS_PER_DOMAIN", 1, "requests to one domain at a time, all workers "
                               "together", minimum=1, maximum=1023, digest=False)  # fmt: skip  # common.lua, SLOTS
    scope_by: str = setting("POLITENESS_SCOPE", "domain", "what one politeness budget covers: registrable domain, host, or "
                            "all hosts of an IP address", choices=("domain", "host", "address"),
                            digest=False)  # fmt: skip
    address_delay: float | None = setting("ADDRESS_DELAY", None, "seconds between requests to one IP address, whatever "
                                          "their domains; not set: 0.5, or DOWNLOAD_DELAY where that is shorter; 0 = off",
                                          minimum=0.0, digest=False)  # fmt: skip
    address_delays_file: str | None = setting("ADDRESS_DELAYS_FILE", None, "networks with another such delay, one a line: "
                                              "192.0.2.0/24 2.5", check=check_address_delays, digest=False)  # fmt: skip
    crawl_rules: str = setting("CRAWL_RULES", "keep", "settings that belong to the whole crawl and differ from those it "
                               "works by: keep = of delay and concurrency the strictest holds, anything that decides "
                               "verdicts is refused; replace = this worker's hold from now on",
                               choices=("keep", "replace"), digest=False)  # fmt: skip
    lease_seconds: float = setting("FRONTIER_LEASE_SECONDS", 120.0, "leases of a silent worker expire after this time",
                                   minimum=1.0, digest=False)  # fmt: skip
    idle_seconds: float = setting("FRONTIER_IDLE_SECONDS", 1.0, "end after this time with nothing to do; 0 = never",
                                  minimum=0.0, digest=False)  # fmt: skip
    depth_limit: int = setting("DEPTH_LIMIT", 0, "links followed from a seed; 0 = no limit", minimum=0)
    retry_times: int = setting("RETRY_TIMES", 3, "further tries after a failed download", minimum=0)
    max_pages: int = setting("FRONTIER_MAX_PAGES", 0, "pages of the whole crawl, all workers and runs together; "
                             "0 = no limit", minimum=0, digest=False)  # fmt: skip
    budget: tuple[str, ...] = setting("FRONTIER_BUDGET", (), "what the crawl may spend, all workers and runs together: "
                                      "fetched, kept, bytes, hours or money (by the COST_ settings), such as "
                                      "kept:500,money:5; of one run: run.kept:50,run.name:NAME; of each politeness "
                                      "scope: seed.kept:50; empty = no limit",
                                      check=check_budget, digest=False)  # fmt: skip
    max_pages_per_domain: int = setting("FRONTIER_MAX_PAGES_PER_DOMAIN", 0, "pages taken of one domain, sitemap files "
                                        "not counted; 0 = no cap", minimum=0)  # fmt: skip
    tracking_params: tuple[str, ...] = setting("FRONTIER_TRACKING_PARAMS", (), "query parameters that name no page, by "
                                               "domain: example.org:foo,bar,example.net:baz",
                                               check=check_tracking)  # fmt: skip
    feeds: int = setting("FRONTIER_FEEDS", 0, "feeds (RSS, Atom, JSON) of one host that its pages name and each worker "
                         "reads, where the allowlist says nothing else; 0 = none", minimum=0)  # fmt: skip
    shards: int = setting("FRONTIER_SHARDS", 1, "hash slots the frontier spreads over (Redis Cluster)", minimum=1,
                          maximum=4096, digest=False)  # fmt: skip
    max_inflight: int = setting("CONCURRENT_REQUESTS", 16, "requests in flight in this worker; 1 = none before "
                               "the page before it is settled, so that one worker asks a site in the same order again",
                               minimum=1, digest=False)  # fmt: skip
    latency_factor: float = setting("FRONTIER_LATENCY_FACTOR", 1.0, "a host rests this many times its last answer took, "
                                    "where that is longer than the delay", minimum=0.0, digest=False)  # fmt: skip
    retry_backoff_seconds: float = setting("FRONTIER_RETRY_BACKOFF_SECONDS", 2.0, "first back-off after a failed try; "
                                           "doubles", minimum=0.0, digest=False)  # fmt: skip
    patience_seconds: float = setting("FRONTIER_PATIENCE_SECONDS", 60.0, "a host blocked for longer (429, 503) does not "
                                      "keep a crawl from ending", minimum=0.0, digest=False)  # fmt: skip
    max_queued_per_domain: int = setting("FRONTIER_MAX_QUEUED_PER_DOMAIN", 128, "URLs of a domain kept in order of "
                                         "priority; the rest waits in a compact list, first come, first served; 0 = no "
                                         "list", minimum=0, digest=False)  # fmt: skip
    max_bytes_per_domain: int = setting("FRONTIER_MAX_BYTES_PER_DOMAIN", 64 * 2**20, "bytes that the URLs that wait of one "
                                        "domain may take up on the server (about a million of usual length); links beyond "
                                        "are left out and counted; 0 = no limit", minimum=0,
                                        digest=False)  # fmt: skip
    breaker_failures: int = setting("FRONTIER_BREAKER_FAILURES", 5, "URLs of a domain that fail in a row (no connection, "
                                    "timeout, 5xx) until it is left alone for a while; 0 = never", minimum=0,
                                    digest=False)  # fmt: skip
    breaker_seconds: float = setting("FRONTIER_BREAKER_SECONDS", 30.0, "first such pause; doubles, with jitter, each time "
                                     "the one URL that is tried after it fails", minimum=0.1, digest=False)  # fmt: skip
    breaker_max_seconds: float = setting("FRONTIER_BREAKER_MAX_SECONDS", 3600.0, "longest such pause", minimum=0.1,
                                         digest=False)  # fmt: skip
    slowdown_max_seconds: float = setting("FRONTIER_SLOWDOWN_MAX_SECONDS", 60.0, "longest delay that 429 and 503 without "
                                          "Retry-After bring about (it doubles each time, and shrinks with every answer); "
                                          "0 = off", minimum=0.0, digest=False)  # fmt: skip
    barren_pages: int = setting("FRONTIER_BARREN_PAGES", 100, "pages of one shape in a row that bring nothing new until its "
                                "links are parked; twice as many of one domain park all of its links; 0 = never", minimum=0,
                                digest=False)  # fmt: skip
    explore: float = setting("FRONTIER_EXPLORE", 0.05, "share of a domain's requests that go to the shape of URLs asked "
                             "least, whatever it has brought", minimum=0.0, maximum=0.5, digest=False)  # fmt: skip
    quality_weight: float = setting("FRONTIER_QUALITY_WEIGHT", 0.5, "how much a kept token counts by the first score in "
                                    "classifier_scores of its page, without one by quality_score, and how much links go "
                                    "by such scores of pages alike: 0 = not at all, 1 = in proportion", minimum=0.0, maximum=1.0,
                                    digest=False)  # fmt: skip
    recrawl: bool = setting("RECRAWL", False, "fetch again what is due, with conditional GET", digest=False)
    recrawl_interval_seconds: float = setting("RECRAWL_INTERVAL_SECONDS", 7 * 86_400.0, "from the first visit of a page "
                                              "to the second; 0 = everything is due at once", minimum=0.0,
                                              digest=False)  # fmt: skip
    recrawl_min_seconds: float = setting("RECRAWL_MIN_SECONDS", 86_400.0, "shortest interval, of pages that change often "
                                         "and of sitemaps", minimum=0.0, digest=False)  # fmt: skip
    recrawl_max_seconds: float = setting("RECRAWL_MAX_SECONDS", 90 * 86_400.0, "longest interval, of pages that do not "
                                         "change", minimum=0.0, digest=False)  # fmt: skip
    recrawl_decay_yield: float = setting("RECRAWL_DECAY_YIELD", 0.25, "a page that was kept is rejected as decayed when its text is less "
                                         "than half as long as it was, and its extraction yield below this share of what "
                                         "it was; 0 = off", minimum=0.0, maximum=1.0)  # fmt: skip
    recrawl_decay_quality: float = setting("RECRAWL_DECAY_QUALITY", 0.5, "a page that was kept is rejected as decayed when its quality_score "
                                           "is below this share of what it was; 0 = off", minimum=0.0,
                                           maximum=1.0)  # fmt: skip
    recrawl_remember: bool = setting("RECRAWL_REMEMBER", True, "keep the validators of every page (docs/recrawl.md says "
                                     "what that costs), so that a later RECRAWL is possible", digest=False)  # fmt: skip
