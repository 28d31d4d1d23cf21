"""What a worker process does in the pool tests: the URL says how badly it ends."""

import hashlib
import os
import signal
import time
from pathlib import Path

from crawler.config import Config
from crawler.document import Document
from crawler.trouble import LackError


def run(doc: Document, names: tuple[str, ...]) -> Document:
    if "crash" in doc.url and not ("crash-late" in doc.url and "extraction" not in names):
        os._exit(13)
    if "no-file" in doc.url:
        raise LackError("no file descriptor left")
    if "hang" in doc.url and not ("hang-late" in doc.url and "extraction" not in names):
        while True:
            time.sleep(0.01)
    if "busy" in doc.url and not ("busy-late" in doc.url and "extraction" not in names):
        while True:
            pass
    if "patient" in doc.url:
        time.sleep(2.0)
    if "one-call" in doc.url:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
    doc.done = list(names)
    doc.text = f"{os.getpid()}"
    doc.links = ["http://example.org/next"]
    doc.html = b""
    return doc


def told_to_end(doc: Document, names: tuple[str, ...]) -> Document:
    """The first time, or always where the URL names no file to remember it by, as a whole process group is."""
    mark = doc.url.partition("?")[2]
    if "end" in doc.url and not (mark and Path(mark).exists()):
        if mark:
            Path(mark).touch()
            os.kill(os.getppid(), signal.SIGTERM)  # the fork server
        os.kill(os.getpid(), signal.SIGTERM)
    return run(doc, names)


def burn(doc: Document, names: tuple[str, ...]) -> Document:
    """Uses 0.7 s of the processor."""
    start = time.process_time()
    while time.process_time() < start + 0.7:
        pass
    return run(doc, names)


def modules(doc: Document, names: tuple[str, ...]) -> Document:
    import sys

    doc.text = ",".join(name for name in ("scrapy", "twisted", "redis") if name in sys.modules)
    return doc


def languages(doc: Document, names: tuple[str, ...]) -> Document:
    import sys

    known = {"crawler.stages.quality.french", "spacy.lang.fr", "spacy.lang.nb"}
    doc.text = ",".join(sorted(known.intersection(sys.modules)))
    return doc


def models(doc: Document, names: tuple[str, ...]) -> Document:
    import gc
    import sys

    from crawler.stages.language import identifiers
    from crawler.stages.pii.names import pipeline

    loaded = {
        "py3langid": identifiers._py3langid.cache_info().currsize,
        "langdetect": identifiers._langdetect.cache_info().currsize,
        "names": pipeline.cache_info().currsize,
        "scipy": "scipy" in sys.modules,
        "frozen": gc.get_freeze_count() > 100_000,
    }
    doc.text = " ".join(name for name, is_there in loaded.items() if is_there)
    return doc


def threads(doc: Document, names: tuple[str, ...]) -> Document:
    import numpy as np

    before = len(list(Path("/proc/self/task").iterdir()))
    some = np.ones((2_000, 2_000), np.float32)
    assert (some @ some)[0, 0] == 2_000
    doc.text = f"{len(list(Path('/proc/self/task').iterdir())) - before} more"
    return doc


def collector(doc: Document, names: tuple[str, ...]) -> Document:
    import gc

    times = sum(of_age["collections"] for of_age in gc.get_stats())
    doc.text = f"{'on' if gc.isenabled() else 'off'}, {'rarely' if times < 200 else 'often'} at work"
    return doc


def nothing(config: object) -> None:
    """Starts a worker without any model."""


def die_once(config: Config) -> None:
    """A process that is killed while it starts; the next one is not."""
    mark = Path(config.crawl.corpus_dir)
    if not mark.exists():
        mark.touch()
        os._exit(9)
