"""A secret is named by its place, env:NAME or file:PATH, wherever a crawl needs one; it is read where it is used."""

from __future__ import annotations

import os
import re
from pathlib import Path

PLACE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+")


def secret_at(place: str, expected: str) -> tuple[str, str]:
    """What a place of the form `PLACE` holds, without the end of its line, and the name of the variable or file.

    expected: what it should hold, such as user:password. Raises: ValueError with a sentence that shows nothing of it.
    """
    kind, _, name = place.partition(":")
    try:
        text = os.environ[name] if kind == "env" else Path(name).read_text("utf-8")
    except KeyError:
        raise ValueError(f"the environment variable {name} is not set: give it {expected}") from None
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise ValueError(f"{name} cannot be read ({why}): write {expected} into it") from None
    return text.strip("\r\n"), name
