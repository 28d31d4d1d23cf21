"""What a worker process does in the pool tests: the URL says how badly it ends."""

import os
import time
from pathlib import Path

from crawler.config import Config
from crawler.document import Document


def run(doc: Document, names: tuple[str, ...]) -> Document:
    if "crash" in doc.url and not ("crash-late" in doc.url and "extraction" not in names):
        os._exit(13)
    if "hang" in doc.url and not ("hang-late" in doc.url and "extraction" not in names):
        while True:
            time.sleep(0.01)
    if "busy" in doc.url:
        while True:
            pass
    doc.done = list(names)
    doc.text = f"{os.getpid()}"
    doc.links = ["http://example.org/next"]
    doc.html = b""
    return doc


def modules(doc: Document, names: tuple[str, ...]) -> Document:
    import sys

    doc.text = ",".join(name for name in ("scrapy", "twisted", "redis") if name in sys.modules)
    return doc


def nothing(config: object) -> None:
    """Starts a worker without any model."""


def die_once(config: Config) -> None:
    """A process that is killed while it starts; the next one is not."""
    mark = Path(config.crawl.corpus_dir)
    if not mark.exists():
        mark.touch()
        os._exit(9)
