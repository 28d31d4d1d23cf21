"""The same pages judged by two commits: every field of every record, in the order of the shards.

`python -m bench.quality.same_as COMMIT [--pages 2000] [--without FIELD …] [--set NAME=VALUE] [--turns 3] [--show 20]`
writes pages of `../shared/data` (labelled web pages, forums, news, dated pages, blogs) into one archive, replays it
with the given commit, checked out aside, and with this tree, and compares kept and rejected records line by line.
`--without` names fields that the change is meant to take away or to alter. `--turns` measures CPU, too: so many replays
with each commit by turns, all stages in one process. Exit code 1 where anything else differs.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import zstandard

from bench.places import PROJECT, SHARED_DATA
from bench.quality.replay_equality import LIMIT_SECONDS, OWN, shortened
from crawler.document import Exchange
from crawler.storage.archive.records import request_record, response_record

FILES = (
    "wcxb-dev.jsonl.zst",
    "pages-dev/forums.jsonl.zst",
    "pages-dev/news.jsonl.zst",
    "pages-dev/dates.jsonl.zst",
    "pages-dev/blogs-2012.jsonl.zst",
)
EPOCH = 1_767_225_600.0  # 2026-01-01
KINDS = ("shards", "rejected")
CHANGES_WITH_COMMIT = {"config_digest", *OWN}

Record = dict[str, Any]


def pages(data: Path) -> Iterator[tuple[str, str]]:
    """URL and HTML of each page; one that has no URL of its own gets one."""
    for name in FILES:
        with (data / name).open("rb") as file:
            lines = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
            for number, line in enumerate(io.TextIOWrapper(lines, "utf-8")):
                page = json.loads(line)
                url = page.get("url")
                yield url or f"https://page-{number}.{Path(name).name.partition('.')[0]}.example/", page["html"]


def archive(path: Path, count: int) -> int:
    """Write one archive of at most `count` pages, each URL once; how many they are."""
    ids = (f"00000000-0000-4000-8000-{n:012d}" for n in range(10**6))
    seen: dict[str, str] = {}
    for url, html in pages(SHARED_DATA):
        seen.setdefault(url, html)
    with path.open("wb") as out:
        for number, (url, html) in enumerate(islice(seen.items(), count)):
            exchange = Exchange(
                method="GET",
                url=url,
                status=200,
                request_headers=[(b"User-Agent", b"CorpusBot/1")],
                response_headers=[(b"Content-Type", b"text/html; charset=utf-8")],
                body=html.encode("utf-8", "surrogatepass"),
                fetched_at=EPOCH + number,
            )
            response_id = next(ids)
            out.write(response_record(exchange, response_id) + request_record(exchange, next(ids), response_id))
    return min(count, len(seen))


def replay(checkout: Path, source: Path, folder: Path, settings: dict[str, str]) -> Path:
    """Replay with the code of a checkout."""
    command = [sys.executable, "-m", "scrapy", "crawl", "replay", "-a", f"archive={source}"]
    for name, value in {"CORPUS_DIR": str(folder), "PROGRESS": "off", "CRAWL_ID": "bench", **settings}.items():
        command += ["-s", f"{name}={value}"]
    env = os.environ | {"PYTHONPATH": str(checkout)}
    done = subprocess.run(
        command, cwd=checkout, env=env, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
    )
    if done.returncode:
        raise SystemExit(f"the replay with {checkout} failed:\n{done.stderr[-3000:]}")
    return folder


def cpu_of(checkout: Path, source: Path, settings: dict[str, str]) -> float:
    """CPU seconds of a replay in one process."""
    with tempfile.TemporaryDirectory(prefix="same-as-") as name:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        replay(checkout, source, Path(name) / "corpus", settings | {"STAGE_WORKERS": "0"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines(folder: Path, kind: str) -> Iterator[str]:
    """Every line of the shards of a kind, in their order."""
    for path in sorted((folder / kind).glob("*.jsonl.zst")):
        with path.open("rb") as file:
            yield from io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")


def compare(left: Path, right: Path, without: set[str], show: int) -> tuple[int, Counter[str]]:
    """How many records are byte for byte the same without these fields, and what differs by field."""
    same, found = 0, Counter[str]()
    for kind in KINDS:
        for one, other in zip_longest(lines(left, kind), lines(right, kind)):
            a, b = _without(one, without), _without(other, without)
            names = [name for name in a.keys() | b.keys() if a.get(name) != b.get(name)]
            if not names and list(a) == list(b):
                same += 1
                continue
            found.update(names or ["order of fields"])
            if sum(found.values()) <= show:
                print(f"  {kind}: {a.get('url')} | {b.get('url')}")
                for name in sorted(names):
                    print("    {}:\n      {}\n      {}".format(name, *shortened(a.get(name), b.get(name))))
    return same, found


def _without(line: str | None, names: set[str]) -> Record:
    return {name: value for name, value in json.loads(line or "{}").items() if name not in names}


def main() -> int:
    options = _arguments()
    settings = dict(part.split("=", 1) for part in options.set)
    with tempfile.TemporaryDirectory(prefix="same-as-") as name:
        folder = Path(name)
        other = folder / "checkout"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", str(other), options.commit],
                       cwd=PROJECT, check=True)  # fmt: skip
        try:
            source = folder / "pages.warc.gz"
            count = archive(source, options.pages)
            before = replay(other, source, folder / "before", settings)
            after = replay(PROJECT, source, folder / "after", settings)
            same, found = compare(before, after, CHANGES_WITH_COMMIT | set(options.without), options.show)
            cpu = [[cpu_of(one, source, settings) for one in (other, PROJECT)] for _ in range(options.turns)]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=PROJECT, check=True)
    print(f"{count} pages replayed with {options.commit} and with this tree: {same} records the same to the byte")
    print(f"not compared: {', '.join(sorted(CHANGES_WITH_COMMIT | set(options.without)))}")
    print(f"different, by field: {dict(found.most_common()) or 'none'}")
    for turn in cpu:
        print("CPU, ms a page: {:.1f} then, {:.1f} now".format(*(1000 * seconds / count for seconds in turn)))
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit", help="what to compare this tree with")
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--without", nargs="+", default=[], metavar="FIELD")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting for both runs")
    parser.add_argument("--turns", type=int, default=0, help="measure CPU by so many replays with each")
    parser.add_argument("--show", type=int, default=20, help="differences to print one by one")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
