"""Crawl = replay on real sites: every field of every record; replay twice; replay with 1 % damaged.

`python -m bench.quality.replay_equality [--pages 1600] [--packages …] [--load N] [--set NAME=VALUE] [--show 20]` crawls
documentation sites on loopback (bench.web.realweb), replays the archive twice with different numbers of stage
processes, damages 1 % of the response records, and replays what is left. Says of each difference the address, the field
and both values. `--load` keeps so many processes busy beside it: nothing may depend on how fast the machine is. Exit
code 1 where anything differs that should not.
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
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench.places import PROJECT
from bench.web.realweb import RealWeb, serve
from demo.outputs import Record, read_corpus

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


class Difference(NamedTuple):
    """One field of one document with two values; field "document" where one side does not have it at all."""

    url: str
    field: str
    left: Any
    right: Any

    def __str__(self) -> str:
        left, right = shortened(self.left, self.right)
        return f"  {self.url}\n    {self.field}: {left}\n    {' ' * len(self.field)}  {right}"


def differences(left: dict[str, Record], right: dict[str, Record]) -> list[Difference]:
    """What differs, in the order of the addresses; `OWN` does not count."""
    found = []
    for url in sorted(left.keys() | right.keys()):
        one, other = left.get(url), right.get(url)
        if one is None or other is None:
            found.append(Difference(url, "document", *("-" if r is None else r["reason"] for r in (one, other))))
            continue
        names = sorted((one.keys() | other.keys()) - OWN)
        found += [Difference(url, n, one.get(n), other.get(n)) for n in names if one.get(n) != other.get(n)]
    return found


def shortened(left: Any, right: Any, width: int = 100) -> tuple[str, str]:
    """Both values from shortly before the first character that differs."""
    one, other = repr(left), repr(right)
    same = next((i for i, (a, b) in enumerate(zip_longest(one, other)) if a != b), 0)
    start = max(0, same - width // 4)
    one, other = (f"{v[start : start + width]}{'…' * (len(v) > start + width)}" for v in (one, other))
    return ("…" * bool(start)) + one, ("…" * bool(start)) + other


def report(title: str, found: list[Difference], show: int) -> None:
    """Print what differs: by field, then one by one."""
    fields = dict(Counter(d.field for d in found))
    print(f"{title}: {fields or 'no difference in any field'} (not compared: {', '.join(sorted(OWN))})")
    for difference in found[:show]:
        print(difference)
    if len(found) > show:
        print(f"  … and {len(found) - show} more")


def in_order(folder: Path) -> list[str]:
    """Addresses in the order of the files."""
    corpus = read_corpus(folder)
    return [record["url"] for record in [*corpus.kept, *corpus.rejected]]


def given_up(pages: dict[str, Record]) -> int:
    """Pages that a limit of time or a crash ended: these may end otherwise on another machine."""
    return sum(record["reason"] in {"stage_timeout", "stage_crashed"} for record in pages.values())


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that do nothing but keep a processor busy, until the block ends."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


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
    options = _arguments()
    extra = dict(part.split("=", 1) for part in options.set)
    with tempfile.TemporaryDirectory(prefix="equality-") as name, busy(options.load):
        folder = Path(name)
        with serve(options.packages, folder) as web:
            settings = settings_for(web, options.pages) | extra
            first = scrapy(folder / "crawl", "corpus", {"url": ",".join(web.seeds)}, settings)
        place = {"archive": str(first / "archive")}
        second = scrapy(folder / "replay", "replay", place, settings | {"STAGE_WORKERS": "2"})
        third = scrapy(folder / "again", "replay", place, settings | {"STAGE_WORKERS": "1"})
        hurt, lost = damage(first / "archive", folder / "damaged", 0.01)
        fourth = scrapy(folder / "rest", "replay", {"archive": str(hurt)}, settings)
        pages, replayed = archived(first), archived(second)
        kept = sum(record["reason"] == "kept" for record in pages.values())
        print(f"crawl: {len(pages)} pages in the archive, {kept} kept; {', '.join(options.packages)}")
        print(f"given up for their time or a crash: {given_up(pages)} in the crawl, {given_up(replayed)} in the replay")
        differ = differences(pages, replayed)
        report("crawl = replay", differ, options.show)
        same = sealed(second) == sealed(third)
        print(f"replay twice, 2 and 1 processes: {'identical bytes' if same else 'THE BYTES DIFFER'}")
        if not same:
            report("replay = replay", differences(replayed, archived(third)), options.show)
            moved = [pair for pair in zip_longest(in_order(second), in_order(third)) if pair[0] != pair[1]]
            print(f"  {len(moved)} records in another place" + (f", the first: {moved[0]}" if moved else ""))
        return 0 if _rest_is_read(fourth, pages, lost) and same and not differ else 1


def _rest_is_read(folder: Path, pages: dict[str, Record], lost: set[str]) -> bool:
    """True where every damaged record is reported, and every other page read."""
    rest = read_corpus(folder)
    broken = sum(record["reason"] == "broken_record" for record in rest.rejected)
    read = {record["url"] for record in [*rest.kept, *rest.rejected] if record["url"] in pages}
    print(
        f"1 % damaged: {len(lost)} records damaged, {broken} reported, "
        f"{len(read)} of {len(pages) - len(lost)} others read"
    )
    for url in sorted(read ^ (pages.keys() - lost)):
        print(f"  {url}: {'damaged, and read' if url in lost else 'not read'}")
    return broken == len(lost) and read == pages.keys() - lost


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1600)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--load", type=int, default=0, help="busy processes beside it")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting for all runs")
    parser.add_argument("--show", type=int, default=20, help="differences to print one by one")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
