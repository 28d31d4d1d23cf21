"""A detector of another package can only refuse: what it answers is bounded here, whatever it answers.

Its statements stand under its own name and on the carrier that they were read from, so that they overrule no other
protocol and a replay finds them again. An "allow" is recorded as "unknown". Where it fails, nobody knows what was said:
that is a refusal, and of a file a reason to hold the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from crawler.document import Signal
from crawler.policy.signals.base import DISALLOW, UNKNOWN, Detector, OptOutFile, signal


def refusing(detector: Detector) -> Detector:
    """The same detector, whose answers are bounded."""
    name = detector.name

    def bounded(read: Callable[..., list[Signal]] | None, carrier: str) -> Any:
        return read and _bounded(read, name, carrier)

    return replace(
        detector,
        refusal=detector.refusal or f"{name} refuses",
        headers=bounded(detector.headers, "header"),
        metas=bounded(detector.metas, "meta"),
        links=bounded(detector.links, "meta"),
        robots=bounded(detector.robots, "robots.txt"),
        file=detector.file and _holding(detector.file, name),
        resolve=detector.resolve and _resolving(detector.resolve, name),
    )


def _bounded(read: Callable[..., list[Signal]], name: str, carrier: str) -> Callable[..., list[Signal]]:
    def bounded(said: Any, *about: Any) -> list[Signal]:
        try:
            found = [(s.value, s.verdict) for s in read(tuple(said) if isinstance(said, list) else said, *about)]
        except Exception as error:  # whatever foreign code raises
            found = [(f"the detector failed ({type(error).__name__})", DISALLOW)]
        return [signal(name, carrier, value, DISALLOW if verdict == DISALLOW else UNKNOWN) for value, verdict in found]

    return bounded


def _holding(file: OptOutFile, name: str) -> OptOutFile:
    def unreadable(body: bytes) -> str:
        try:
            complaint = file.unreadable(body)
            if not complaint:
                file.parse(body)
        except Exception as error:  # whatever foreign code raises
            return f"the detector {name} cannot read it ({type(error).__name__})"
        return complaint

    return replace(file, unreadable=unreadable, signals=_bounded(file.signals, name, "well-known"))


def _resolving(
    resolve: Callable[[list[Signal], str], Signal | None], name: str
) -> Callable[[list[Signal], str], Signal | None]:
    """Which of its own statements counts; where it fails, the first refusal among them."""

    def resolved(signals: list[Signal], url: str) -> Signal | None:
        own = [s for s in signals if s.protocol == name]
        try:
            found = resolve(list(own), url)
        except Exception:  # whatever foreign code raises
            found = None if not own else next((s for s in own if s.verdict == DISALLOW), None)
        return found if found in own else None

    return resolved
