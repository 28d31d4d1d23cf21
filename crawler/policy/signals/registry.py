"""Every detector there is, in the order in which their signals are recorded: the built-in ones, then those of others.

A new built-in protocol is one more line here.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from crawler.plugins import registry
from crawler.policy.signals import (
    ai_bots,
    ai_txt,
    content_signal,
    content_usage,
    creative_commons,
    in_files,
    meta_robots,
    noted,
    rsl,
    tdmrep,
    trust_txt,
    x_robots_tag,
)
from crawler.policy.signals.base import Detector, OptOutFile
from crawler.policy.signals.outside import refusing
from crawler.problems import InputError

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
    in_files.PLUS_DETECTOR,
    in_files.PERMISSIONS_DETECTOR,
    creative_commons.DETECTOR,
    noted.AI_POLICY,
    noted.LLMS_TXT,
)
"""The built-in ones."""


@cache
def detectors() -> tuple[Detector, ...]:
    """Every detector; what those of other packages say is bounded. Raises: InputError where one cannot be used."""
    built_in = {detector.name: detector for detector in DETECTORS}
    every = registry("signals", Detector, built_in)
    return tuple(one if name in built_in else refusing(one) for name, one in every.items())


def problems() -> list[str]:
    """What is wrong with detectors of other packages, one sentence each: asked before the first request."""
    try:
        detectors()
    except InputError as error:
        return error.problems
    return []


def refusals() -> dict[str, str]:
    """What a refusal of each detector means, in words; those that never decide are left out."""
    return {detector.name: detector.refusal for detector in detectors() if detector.refusal}


def files_of(profile: str, noted_files: Collection[str] = ()) -> dict[str, OptOutFile]:
    """The optional files that a profile asks every host for, by the name of their detector.

    `noted_files` (OPTOUT_NOTED_FILES) adds files that are only recorded, whatever the profile.
    """
    wanted = {detector.name: detector.file for detector in detectors() if detector.file}
    return {name: file for name, file in wanted.items() if _is_wanted(file, profile, noted_files)}


def _is_wanted(file: OptOutFile, profile: str, noted_files: Collection[str]) -> bool:
    if file.noted:
        return file.noted in noted_files
    return file.in_minimal or profile != "minimal"


def versions() -> dict[str, str]:
    """Name and version of each detector, for the manifest."""
    return {detector.name: detector.version for detector in detectors()}
