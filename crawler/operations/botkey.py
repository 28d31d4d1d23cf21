"""`gristmill botkey`: make a key, write the directory that publishes it, see whether the published one holds it."""

from __future__ import annotations

import argparse
import http.client
import time
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.config.signature import WELL_KNOWN
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Operation, Work, by_name
from crawler.operations.numbers import whole
from crawler.times import rfc3339

if TYPE_CHECKING:
    from crawler.botauth.key import Key
    from crawler.config import Config

EXAMPLE = f"https://bot.example.org{WELL_KNOWN}"
NAME = WELL_KNOWN.rpartition("/")[2]


def _declare_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="file of the private key; an existing file is never overwritten")


def _declare_directory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("keys", nargs="+", metavar="KEY", help="files of private keys: all that are to be published")
    parser.add_argument("--to", metavar="FOLDER", required=True, help="where the directory and its headers go")
    parser.add_argument("--days", type=whole(1), default=90, help="for how long the headers are signed (90)")


def _declare_check(parser: argparse.ArgumentParser) -> None:  # settings say it all
    """Nothing but settings."""


def _new(opts: argparse.Namespace, load: Load) -> Answer:
    from crawler.botauth.key import KeyFileError, make_key

    agent = load().signature.agent or EXAMPLE
    try:
        key = make_key(opts.file)
    except KeyFileError as error:
        return Answer(problems=[f"{opts.file} {error}"])
    lines = [
        f"{opts.file}: a new private key, readable by you only. Anyone who has it can sign in your name.",
        f"keyid {key.keyid}",
        f"Next: gristmill botkey directory {opts.file} --to public -s BOT_SIGNATURE_AGENT={agent}",
    ]
    return Answer({"file": opts.file, "keyid": key.keyid}, lines)


def _directory(opts: argparse.Namespace, load: Load) -> Answer:
    from crawler.botauth import directory
    from crawler.botauth.configured import agent_of

    agent = agent_of(load().signature)
    keys, problems = _read(opts.keys)
    if problems:
        return Answer(problems=problems)
    created = int(time.time())
    expires = created + opts.days * 86_400
    file = Path(opts.to) / NAME
    try:
        _write(file, list(keys.values()), agent, created, expires)
    except OSError as error:
        return Answer(problems=[f"{error.filename or file} cannot be written: {error.strerror}"])
    url = directory.directory_url(agent)
    lines = [
        f"{file}: the directory, with the public half of {' and '.join(keys)}",
        f"{file}.headers: the headers of its answer, signed until {rfc3339(expires)}",
        f"{file}.nginx: both as a location for nginx",
        f"Publish them at {url}, then: gristmill botkey check "
        f"-s BOT_SIGNATURE_KEY_FILE={opts.keys[0]} -s BOT_SIGNATURE_AGENT={agent}",
    ]
    return Answer({"file": str(file), "keyids": list(keys), "signed_until": rfc3339(expires), "url": url}, lines)


def _read(names: list[str]) -> tuple[dict[str, Key], list[str]]:
    """Keys by keyid in the order in which they are named, and a sentence for each file that holds none."""
    from crawler.botauth.key import KeyFileError, read_key

    keys: dict[str, Key] = {}
    problems = []
    for name in names:
        try:
            key = read_key(name)
            keys[key.keyid] = key
        except KeyFileError as error:
            problems.append(f"{name} {error}")
    return keys, problems


def _write(file: Path, keys: list[Key], agent: str, created: int, expires: int) -> None:
    """Raises: OSError."""
    from crawler.botauth import directory

    headers = directory.headers(keys, agent, created, expires)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(directory.directory(keys))
    Path(f"{file}.headers").write_text("".join(f"{name}: {value}\n" for name, value in headers.items()), "ascii")
    Path(f"{file}.nginx").write_text(directory.nginx(keys, agent, created, expires), "ascii")


def _check(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # settings say it all
    from crawler.botauth import directory, published
    from crawler.botauth.configured import agent_of, signing_key

    config = load()
    agent, key = agent_of(config.signature), signing_key(config.signature)
    try:
        answer = published.get(agent, _identity(config))
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return Answer(problems=[f"{directory.directory_url(agent)} cannot be read: {why}"])
    found = published.findings(answer, agent, key, time.time())
    return Answer({"url": directory.directory_url(agent), "notes": found.notes}, found.notes, found.problems)


def _identity(config: Config) -> str:
    from crawler.policy.facts import user_agent
    from crawler.version import __version__

    return user_agent(config.crawl.product_token, __version__, config.crawl.contact)


OPERATIONS = by_name(
    Operation(
        "new",
        "make a private key",
        Work(
            "new bot-key.pem",
            _declare_new,
            _new,
            {"file": ("string", "the file of the private key"), "keyid": ("string", "name of the key in signatures")},
        ),
    ),
    Operation(
        "directory",
        "write the directory of public keys, and the signed headers of its answer",
        Work(
            f"directory bot-key.pem --to public -s BOT_SIGNATURE_AGENT={EXAMPLE}",
            _declare_directory,
            _directory,
            {
                "file": ("string", "the directory; FILE.headers and FILE.nginx lie beside it"),
                "keyids": ("list of string", "keys in it"),
                "signed_until": ("string", "until when the headers hold, RFC 3339"),
                "url": ("string", "where it is to be published"),
            },
        ),
    ),
    Operation(
        "check",
        "see whether the published directory holds the key in use",
        Work(
            f"check -s BOT_SIGNATURE_KEY_FILE=bot-key.pem -s BOT_SIGNATURE_AGENT={EXAMPLE}",
            _declare_check,
            _check,
            {
                "url": ("string", "the directory that was read"),
                "notes": ("list of string", "what is right, or only recommended"),
            },
        ),
    ),
)
