"""An object store for crawls on this machine: moto's server of the S3 protocol, on loopback, with one bucket."""

from __future__ import annotations

import itertools
import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec

OPTIONS = {"key": "test", "secret": "test", "s3_additional_kwargs": {"ServerSideEncryption": "AES256"}}
_serial = itertools.count()  # the servers of one process share their buckets
_NAME = "FSSPEC_S3"
logging.getLogger("werkzeug").setLevel(logging.WARNING)  # not a line for each request


@contextmanager
def object_store() -> Iterator[str]:
    """Yields the URL of an empty bucket; processes that start meanwhile find it by their environment, as a user's."""
    from moto.server import ThreadedMotoServer  # late: no other campaign needs it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = OPTIONS | {"endpoint_url": f"http://{host}:{port}"}
    before, known = os.environ.get(_NAME), fsspec.config.conf.get("s3")
    os.environ[_NAME] = json.dumps(options)
    fsspec.config.conf["s3"] = options
    try:
        bucket = f"corpora-{next(_serial)}"
        fsspec.filesystem("s3").mkdir(bucket)
        yield f"s3://{bucket}"
    finally:
        os.environ.pop(_NAME) if before is None else os.environ.__setitem__(_NAME, before)
        fsspec.config.conf.pop("s3") if known is None else fsspec.config.conf.__setitem__("s3", known)
        server.stop()


def download(url: str, folder: Path) -> None:
    """Copy a corpus out of the store, file by file."""
    fs, base = fsspec.core.url_to_fs(url)
    fs.invalidate_cache()
    for name in fs.find(base):
        target = folder / name.removeprefix(base).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        fs.get_file(name, str(target))
