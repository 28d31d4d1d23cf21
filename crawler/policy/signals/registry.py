"""Every detector there is, in the order in which their signals are recorded. A new protocol is one more line here."""

from __future__ import annotations

from crawler.policy.signals import ai_bots, content_signal, content_usage, meta_robots, tdmrep, x_robots_tag

DETECTORS = (
    ai_bots.DETECTOR,
    content_signal.DETECTOR,
    content_usage.DETECTOR,
    x_robots_tag.DETECTOR,
    meta_robots.DETECTOR,
    tdmrep.DETECTOR,
)


def versions() -> dict[str, str]:
    """Name and version of each detector, for the manifest."""
    return {detector.name: detector.version for detector in DETECTORS}
