"""Every detector there is, in the order in which their signals are recorded. A new protocol is one more line here."""

from __future__ import annotations

from collections.abc import Collection

from crawler.policy.signals import (
    ai_bots,
    ai_txt,
    content_signal,
    content_usage,
    creative_commons,
    meta_robots,
    noted,
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
    creative_commons.DETECTOR,
    noted.AI_POLICY,
    noted.LLMS_TXT,
)


def files_of(profile: str, noted_files: Collection[str] = ()) -> dict[str, OptOutFile]:
    """The optional files that a profile asks every host for, by the name of their detector.

    `noted_files` (OPTOUT_NOTED_FILES) adds files that are only recorded, whatever the profile.
    """
    wanted = {detector.name: detector.file for detector in DETECTORS if detector.file}
    return {name: file for name, file in wanted.items() if _is_wanted(file, profile, noted_files)}


def _is_wanted(file: OptOutFile, profile: str, noted_files: Collection[str]) -> bool:
    if file.noted:
        return file.noted in noted_files
    return file.in_minimal or profile != "minimal"


def versions() -> dict[str, str]:
    """Name and version of each detector, for the manifest."""
    return {detector.name: detector.version for detector in DETECTORS}
