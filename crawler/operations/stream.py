"""`gristmill stream CORPUS_DIR --to URL`: tell a stream what a corpus holds, and with --follow what becomes of it."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.declared import WrongCall

if TYPE_CHECKING:
    from crawler.stream.outgoing import Told

POLL_SECONDS = 1.0
"""Between two looks at a corpus in which nothing happens."""
REMOTE_POLL_SECONDS = 5.0
FIELDS: Fields = {
    "to": ("string", "the stream, without user and password"),
    "state": ("string", "the folder that says what was sent"),
    "messages": ("integer", "messages that were sent"),
    "kinds": ("object", "of these by kind: record, replace, moved, withdraw, …"),
}


def declare(parser: argparse.ArgumentParser) -> None:
    """Where it goes, and from where on."""
    parser.add_argument(
        "--to", metavar="URL", required=True, help="redis://HOST/STREAM, rediss://…, valkey://… or kafka://HOST/TOPIC"
    )
    parser.add_argument("--follow", action="store_true", help="go on with what the corpus becomes, until Ctrl-C")
    parser.add_argument(
        "--from", dest="since", type=_since, metavar="WHERE",
        help="beginning: send all again; now: only what comes; a sequence: what was sent in it and after it; "
        "default: go on where the last call stopped",
    )  # fmt: skip
    parser.add_argument("--state", metavar="DIR", type=Path, help="folder that says what was sent (CORPUS_DIR.stream)")
    parser.add_argument("--client-config", metavar="FILE", type=Path, help="settings of the Kafka client (TLS, SASL)")


def _since(text: str) -> str | int:
    if text in ("beginning", "now"):
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected beginning, now or a sequence from 1 up, not {text!r}")


def stream(corpus: str, opts: argparse.Namespace) -> Answer:
    """Send, and say what was sent. Raises: WrongCall, StorageError, StreamError, FrontierError."""
    from crawler.dataset.outside import check_outside
    from crawler.storage.files.place import Place, identity_of
    from crawler.stream.message import StreamError
    from crawler.stream.open import open_target
    from crawler.stream.reader import Reader
    from crawler.stream.sender import Sender
    from crawler.stream.state import State
    from crawler.stream.target import address_of

    try:
        address = address_of(opts.to)
    except StreamError as error:
        raise WrongCall(f"--to: {error}") from None
    place = Place(corpus)
    if opts.state is None and place.remote:
        raise WrongCall("--state: a corpus in a store needs a folder on this machine that says what was sent")
    folder = opts.state or _beside(Path(corpus).resolve())
    check_outside(folder)
    Reader(place).standing()  # before anything is made for what may be no corpus
    with (
        closing(open_target(address, opts.client_config)) as target,
        closing(State(folder, address.shown, identity_of(place.url))) as state,
    ):
        sender = Sender(place, state, target, say=_say)
        try:
            sender.start(opts.since)
            sender.tell()
            while opts.follow:
                time.sleep(REMOTE_POLL_SECONDS if place.remote else POLL_SECONDS)
                while sender.tell():
                    pass
        except KeyboardInterrupt:  # what is on its way goes out again with the next call
            if not opts.follow:
                raise
        return _answer(sender.told, address.shown, folder)


def _beside(corpus: Path) -> Path:
    return corpus.with_name(f"{corpus.name}.stream")


def _say(sentence: str) -> None:
    sys.stderr.write(f"warning: {sentence}\n")
    sys.stderr.flush()


def _answer(told: Told, to: str, folder: Path) -> Answer:
    kinds = dict(sorted(told.kinds.items()))
    facts = {"to": to, "state": str(folder), "messages": told.messages, "kinds": kinds}
    sent = f"{number_of(told.messages, 'message')} {'was' if told.messages == 1 else 'were'}"
    by_kind = f" ({', '.join(f'{count:,} {kind}' for kind, count in kinds.items())})" if kinds else ""
    return Answer(facts, [f"{sent} sent to {to}{by_kind}"])
