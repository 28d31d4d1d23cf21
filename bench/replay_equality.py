"""Crawl = replay on real sites: every field of every record; replay twice; replay with 1 % damaged.

`python -m bench.replay_equality [--pages 1600] [--packages …]` crawls documentation sites on loopback (bench.realweb),
replays the archive twice with different numbers of stage processes, damages 1 % of the response records, and replays
what is left. Exit code 1 where anything differs that should not.
"""

from __future__ import annotations

import argparse
import gzip
import random
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from bench.realweb import RealWeb, serve
from demo.outputs import Record, read_corpus

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = ["python3.11-doc", "postgresql-doc-15", "git-doc"]
OWN = {"warc_file", "worker_id"}
"""Fields that say which run wrote the record, and under which path it found the archive."""
LIMIT_SECONDS = 3600


def scrapy(folder: Path, spider: str, arguments: dict[str, str], settings: dict[str, str]) -> Path:
    """Run one spider into a new corpus folder."""
    command = [sys.executable, "-m", "scrapy", "crawl", spider]
    for name, value in arguments.items():
        command += ["-a", f"{name}={value}"]
    for name, value in {"CORPUS_DIR": str(folder), "PROGRESS": "off", "CRAWL_ID": "bench", **settings}.items():
        command += ["-s", f"{name}={value}"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
    if done.returncode:
        raise SystemExit(f"{spider} failed:\n{done.stderr[-3000:]}")
    return folder


def settings_for(web: RealWeb, pages: int) -> dict[str, str]:
    """Those of the crawl; the replays get them, too, because they are part of the configuration digest."""
    return {
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": str(urlsplit(web.seeds[0]).port),
        "DOWNLOAD_DELAY": "0",
        "CONCURRENT_REQUESTS_PER_DOMAIN": "8",
        "FRONTIER_MAX_PAGES_PER_DOMAIN": str(-(-pages // len(web.bases))),
    }


def archived(folder: Path) -> dict[str, Record]:
    """The records of the pages that the archive holds, by URL."""
    corpus = read_corpus(folder)
    kept = [{"stage": "", "reason": "kept", **record} for record in corpus.kept]
    return {record["url"]: record for record in [*kept, *corpus.rejected] if record["warc_file"]}


def differences(left: dict[str, Record], right: dict[str, Record]) -> Counter[str]:
    """What differs, by field; "missing" and "extra" count documents."""
    found = Counter({"missing": len(left.keys() - right.keys()), "extra": len(right.keys() - left.keys())})
    for url in left.keys() & right.keys():
        names = left[url].keys() | right[url].keys()
        found.update(name for name in names - OWN if left[url].get(name) != right[url].get(name))
    return +found


def sealed(folder: Path) -> dict[str, bytes]:
    return {f"{kind}/{p.name}": p.read_bytes() for kind in ("shards", "rejected") for p in (folder / kind).iterdir()}


def damage(source: Path, folder: Path, share: float) -> tuple[Path, set[str]]:
    """A copy of the archives with one byte wrong in this share of the responses; the URLs of these."""
    chance, lost = random.Random(1), set()
    folder.mkdir()
    for path in sorted(source.glob("*.warc.gz")):
        with (folder / path.name).open("wb") as out:
            for member in _members(path.read_bytes()):
                head = gzip.decompress(member)[:2000]
                url = head.partition(b"WARC-Target-URI: ")[2].split(b"\r\n")[0].decode()
                if b"WARC-Type: response" in head and chance.random() < share:
                    lost.add(url)
                    at = chance.randrange(20, len(member) - 8)
                    out.write(member[:at] + bytes([member[at] ^ 0x55]) + member[at + 1 :])
                else:
                    out.write(member)
    return folder, lost


def _members(content: bytes) -> Iterator[bytes]:
    while content:
        reader = zlib.decompressobj(31)
        reader.decompress(content)
        yield content[: len(content) - len(reader.unused_data)]
        content = reader.unused_data


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1600)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="equality-") as name:
        folder = Path(name)
        with serve(options.packages, folder) as web:
            settings = settings_for(web, options.pages)
            first = scrapy(folder / "crawl", "corpus", {"url": ",".join(web.seeds)}, settings)
        place = {"archive": str(first / "archive")}
        second = scrapy(folder / "replay", "replay", place, settings | {"STAGE_WORKERS": "2"})
        third = scrapy(folder / "again", "replay", place, settings | {"STAGE_WORKERS": "1"})
        hurt, lost = damage(first / "archive", folder / "damaged", 0.01)
        fourth = scrapy(folder / "rest", "replay", {"archive": str(hurt)}, settings)
        pages, replayed = archived(first), archived(second)
        differ = differences(pages, replayed)
        same = sealed(second) == sealed(third)
        rest = read_corpus(fourth)
        broken = sum(record["reason"] == "broken_record" for record in rest.rejected)
        read = {record["url"] for record in [*rest.kept, *rest.rejected] if record["url"] in pages}
    kept = sum(record["reason"] == "kept" for record in pages.values())
    print(f"crawl: {len(pages)} pages in the archive, {kept} kept; {', '.join(options.packages)}")
    print(f"crawl = replay: {dict(differ) or 'no difference in any field'} (not compared: {', '.join(sorted(OWN))})")
    print(f"replay twice, 2 and 1 processes: {'identical bytes' if same else 'THE BYTES DIFFER'}")
    print(
        f"1 % damaged: {len(lost)} records damaged, {broken} reported, "
        f"{len(read)} of {len(pages) - len(lost)} others read"
    )
    return 0 if not differ and same and broken == len(lost) and read == pages.keys() - lost else 1


if __name__ == "__main__":
    raise SystemExit(main())
