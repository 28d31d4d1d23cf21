"""CONTRIBUTING, "Add a shard format": made for xz, in the files that it names and no others."""

from __future__ import annotations

from tests.examples.copied import Copied, files_of

ROUND_TRIP = """
import json
from pathlib import Path
from crawler.storage.files.shards import ShardWriter, read_lines
from crawler.storage.corpus.recovery import owner_of

sealed = []
writer = ShardWriter(Path("."), "crawl-one", shard_format="jsonl.xz", max_bytes=10_000, first_number=0,
                     on_seal=lambda path, entry: sealed.append((path, entry)))
for number in range(3):
    writer.add(json.dumps({"url": f"https://example.org/{number}", "text": "words"}).encode() + b"\\n")
writer.seal()
(path, entry), = sealed
is_xz = path.read_bytes()[:6] == b"\\xfd7zXZ\\x00"
print(path.name, is_xz, len(list(read_lines(path))), owner_of(path.name))
"""


def test_a_compression_is_these_files_and_reads_what_it_wrote(copied: Copied) -> None:
    formats = "crawler/storage/files/formats.py"
    copied.insert(formats, r"^import gzip\n", "import lzma\n")
    copied.insert(
        formats,
        r"also=\(\"json\.gz\",\), features=_JSON\),\n",
        '        Format("jsonl.xz", "jsonl.xz", lines(lambda file: lzma.open(file, "wb")), lzma.open,\n'
        '               damaged=(lzma.LZMAError,), media_type="application/x-xz", features=_JSON),\n',
    )
    copied.replace("crawler/config/storage.py", r'"jsonl\.gz", "jsonl"', '"jsonl.gz", "jsonl.xz", "jsonl"')
    copied.replace("docs/settings.md", r"jsonl\.gz, jsonl, parquet", "jsonl.gz, jsonl.xz, jsonl, parquet")

    assert copied.python(ROUND_TRIP).split() == ["crawl-one-000000.jsonl.xz", "True", "3", "crawl-one"]
    config = "from crawler.config import from_mapping as m; print(m({'SHARD_FORMAT': 'jsonl.xz'}).storage.shard_format)"
    assert copied.python(config).strip() == "jsonl.xz"
    assert copied.touched == files_of("Add a shard format", "")
