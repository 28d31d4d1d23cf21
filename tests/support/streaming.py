"""A corpus, a stream of it, and a consumer's table, for tests that compare the two ends."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from crawler.dataset.export import export
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_lines
from crawler.stream.consumer import consume, resolved, source_of
from crawler.stream.open import open_target
from crawler.stream.sender import Sender
from crawler.stream.state import State
from crawler.stream.table import Table
from crawler.stream.target import address_of


def stream_at(socket_url: str, name: str = "pages") -> str:
    """The address of a stream on an embedded server."""
    return f"{socket_url.partition('?')[0]}?stream={name}"


class Line:
    """A sender, a stream and a table of one corpus, each at its own pace."""

    def __init__(self, corpus: Path | str, url: str, folder: Path) -> None:
        self.corpus, self.url, self.folder = corpus, url, folder
        self.said: list[str] = []
        self.client_config: Path | None = None

    def send(self, since: str | int | None = None, *, looks: int = 1, state: str = "state") -> dict[str, int]:
        """Start a sender, let it look, end it; answers the messages by kind."""
        return self.sending(lambda sender: [sender.tell() for _ in range(looks)], since, state=state)

    def sending(
        self, work: Callable[[Sender], Any], since: str | int | None = None, *, state: str = "state"
    ) -> dict[str, int]:
        """Start a sender, do this with it, end it."""
        address = address_of(self.url)
        with (
            closing(open_target(address, self.client_config)) as target,
            closing(State(self.folder / state, address.shown, str(self.corpus))) as kept,
        ):
            sender = Sender(Place(str(self.corpus)), kept, target, say=self.said.append)
            sender.start(since)
            work(sender)
            return dict(sender.told.kinds)

    def read(self, table: str = "table.duckdb") -> str:
        """Let the consumer read all there is; answers what it lacks."""
        with (
            closing(Table(self.folder / table)) as rows,
            closing(source_of(self.url, table.partition(".")[0], self.client_config)) as source,
        ):
            return consume(source, rows, follow=False)

    def table(self, table: str = "table.duckdb") -> dict[str, Any]:
        """The records of the table by canonical URL."""
        with closing(Table(self.folder / table)) as rows:
            pages = rows.pages()
        found = {}
        for key, (record, reference) in pages.items():
            content = record.encode() if record is not None else resolved(Place(str(self.corpus)), reference or "")
            found[key] = orjson.loads(content)
        return found


def exported(corpus: Path | str) -> dict[str, Any]:
    """What `gristmill dataset export` writes of the corpus, by canonical URL."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "export"
        try:
            export(Place(str(corpus)), out, "jsonl", max_bytes=2**30, now=1_800_000_000.0)
        except StorageError as error:
            assert "there is no document to write" in str(error)
            return {}
        files = sorted(path for path in out.rglob("*") if path.is_file() and ".jsonl" in path.name)
        records = [orjson.loads(line) for path in files for line in read_lines(path)]
        return {record["canonical_url"]: record for record in records}
