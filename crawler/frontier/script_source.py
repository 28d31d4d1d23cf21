"""The Lua text of each script, composed of the files in `scripts/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from crawler.frontier.member import lua_front, lua_members, lua_visits
from crawler.server.client import Script

SCRIPTS = Path(__file__).with_name("scripts")
_WITH_VISITS = frozenset({"ack", "adopt", "recall", "sweep", "hasten", "due"})
_WITH_VALUE = frozenset({"put", "lease", "ack", "requeue"})
_WITH_PAUSING = frozenset({"pause", "resume", "budget"})
_BUSIEST = frozenset({"lease", "ack", "finish", "extend"})
_ALWAYS = frozenset(
    {"ack", "finish", "nack", "hold", "extend", "lease", "reserve", "address", "block", "clock", "delay",
     "budget", "spent", "prefer", "mode", "pause", "resume", "purge"}
)  # fmt: skip
"""Scripts that run at full memory, too: they free some, or a person or a site asks for less."""
_DIRTY = "redis.call('DEL', KEYS[1] .. 'none')\n"
"""A server whose memory is full refuses the first write of a script that could need more, and none after a first one
that cannot: whatever was begun is completed. (From Redis 7 on a flag of the script says the same.)"""
_INNER = "local function run()\n{}end\nreturn run()\n"
"""What stands behind the head is one function: in Lua 5.1 a function that is made looks for each outer local it uses
among all that are in use, one after the other; one within a function takes over what that one has found."""


@cache
def script_source(name: str) -> Script:
    """A script, with the functions that it shares with others in front of it."""
    shared = ["common"]
    shared += ["visits"] if name in _WITH_VISITS else []
    shared += ["focus", "value"] if name in _WITH_VALUE else []
    shared += ["pausing"] if name in _WITH_PAUSING else []
    shapes = ["shapes"] if name in _WITH_VALUE else []
    if name == "ack":
        parts = ["tally", *shapes, _as_function(shared), "lazy", "requests", "outcomes", name]
    elif name in _BUSIEST:
        own = ["requests", name] if name == "finish" else [name]
        parts = ["tally", _as_function([*shapes, *shared]), "lazy", *own]
    else:
        parts = ["tally", *shapes, *shared, name]
    text = "".join(part if "\n" in part else _lua(part) for part in parts)
    front = (_DIRTY if name in _ALWAYS else "") + lua_front()
    return Script.of(front + _lua("head") + _INNER.format(text))


def read_all() -> None:
    """Read every file now: a worker without a file descriptor left could not, and has pages to acknowledge."""
    for path in SCRIPTS.glob("*.lua"):
        _lua(path.stem)


@cache
def _lua(part: str) -> str:
    text = (SCRIPTS / f"{part}.lua").read_text()
    begins = {"common": lua_members, "visits": lua_visits}
    return begins[part]() + text if part in begins else text


def _as_function(parts: Sequence[str]) -> str:
    """Their functions as one that makes them: a server runs a script's whole text at every call."""
    text = "".join(map(_lua, parts))
    names = re.findall(r"^local function (\w+)", text, re.MULTILINE)
    exports = ", ".join(f"{name} = {name}" for name in names)
    return f"local function common()\n{text}return {{{exports}}}\nend\n"
