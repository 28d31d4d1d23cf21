"""Every detector there is, in the order in which their signals are recorded. A new protocol is one more line here."""

from __future__ import annotations

from crawler.policy.signals import (
    ai_bots,
    ai_txt,
    content_signal,
    content_usage,
    meta_robots,
    rsl,
    tdmrep,
    trust_txt,
    x_robots_tag,
)
from crawler.policy.signals.base import OptOutFile

DETECTORS = (
    ai_bots.DETECTOR,
    content_signal.DETECTOR,
    content_usage.DETECTOR,
    x_robots_tag.DETECTOR,
    meta_robots.DETECTOR,
    tdmrep.DETECTOR,
    rsl.DETECTOR,
    ai_txt.DETECTOR,
    trust_txt.DETECTOR,
)


def files_of(profile: str) -> dict[str, OptOutFile]:
    """The optional files that a profile asks every host for, by the name of their detector."""
    wanted = {detector.name: detector.file for detector in DETECTORS if detector.file}
    return {name: file for name, file in wanted.items() if file.in_minimal or profile != "minimal"}


def versions() -> dict[str, str]:
    """Name and version of each detector, for the manifest."""
    return {detector.name: detector.version for detector in DETECTORS}
