"""Does the allowlist of a data set of images grant an image? Asked before each request, and ever after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawler.images.outcomes import LICENCE_EXPIRED, OFF_SCOPE
from crawler.problems import InputError
from crawler.seeds.arguments import plan_of
from crawler.seeds.scope import AdmissionReason, Scope
from crawler.storage.files.errors import StorageError


def read_grants(allowlist: str | None) -> Scope | None:
    """None: without an allowlist every host is granted. Raises: InputError."""
    return plan_of({"allowlist": allowlist}).scope if allowlist else None


def grants_of(manifest: Mapping[str, Any]) -> Scope | None:
    """What the allowlist of a data set says now. Raises: StorageError where it cannot be read: doubt grants nothing."""
    path = manifest.get("allowlist")
    try:
        return read_grants(path)
    except InputError as error:
        raise StorageError(f"its allowlist cannot be read ({'; '.join(error.problems)}); put it back") from error


def place_of(allowlist: str | None) -> str | None:
    """As the manifest names the file."""
    return str(Path(allowlist).resolve()) if allowlist else None


def refusal_of(scope: Scope | None, *urls: str | None) -> str:
    """The outcome of an image with these URLs, redirects included; empty where all of them are granted."""
    if scope is None:
        return ""
    for url in filter(None, urls):
        if not (admission := scope.admits(url, via="seed")).ok:
            return LICENCE_EXPIRED if admission.reason is AdmissionReason.LICENCE_EXPIRED else OFF_SCOPE
    return ""
