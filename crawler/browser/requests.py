"""What a page in the browser may ask for: pure, by type, method and address. Everything else is refused with its name.

The text needs scripts and data. Style sheets are answered empty, because loaders of scripts wait for them and nobody
looks at the page; pictures, sound, fonts and trackers are refused.
"""

from __future__ import annotations

from urllib.parse import urlsplit

FETCHED = frozenset({"script", "xhr", "fetch"})
"""Types (of the browser's own naming) that are asked of the site."""
EMPTY = frozenset({"stylesheet"})
"""Types that are answered with nothing, as if all went well."""
METHODS = frozenset({"GET", "HEAD"})
"""A crawler reads; it never sends."""

TRACKERS = frozenset(
    (
        *("google-analytics.com", "googletagmanager.com", "googlesyndication.com", "doubleclick.net", "adnxs.com"),
        *("googleadservices.com", "googletagservices.com", "facebook.net", "hotjar.com", "mixpanel.com", "segment.io"),
        *("segment.com", "amplitude.com", "scorecardresearch.com", "quantserve.com", "criteo.com", "criteo.net"),
        *("taboola.com", "outbrain.com", "newrelic.com", "nr-data.net", "sentry.io", "bugsnag.com", "fullstory.com"),
        *("clarity.ms", "matomo.cloud", "chartbeat.com", "chartbeat.net", "parsely.com", "optimizely.com", "heap.io"),
        *("heapanalytics.com", "mouseflow.com", "crazyegg.com", "adsrvr.org", "rubiconproject.com", "pubmatic.com"),
        *("amazon-adsystem.com", "moatads.com", "plausible.io", "cookielaw.org", "onetrust.com", "cookiebot.com"),
        *("demdex.net", "omtrdc.net", "branch.io", "appsflyer.com", "hs-analytics.net", "hs-scripts.com", "zopim.com"),
        *("intercom.io", "intercomcdn.com", "drift.com", "hcaptcha.com", "datadoghq-browser-agent.com"),
    )
)
"""Registrable domains of services that count, advertise or ask for consent, well known in 2026; none serves a page's
text. Own list, from their own documentation."""


def refusal(kind: str, method: str, url: str) -> str:
    """Why a request of a page is not made, as the name under which it is counted; empty where it may be made."""
    if method not in METHODS:
        return "method"
    if kind not in FETCHED and kind not in EMPTY:
        return kind if kind.isalpha() else "other"
    if is_tracker(url):
        return "tracker"
    return ""


def is_tracker(url: str) -> bool:
    """True where the host belongs to one of TRACKERS."""
    try:
        labels = (urlsplit(url).hostname or "").split(".")
    except ValueError:
        return False
    return any(".".join(labels[-n:]) in TRACKERS for n in (2, 3))
