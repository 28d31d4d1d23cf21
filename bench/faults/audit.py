"""Last step of a fault run: is every URL where it belongs, exactly once, and did the crawl keep its word?

Each check answers with sentences, one a violation. Outputs are read by `demo.outputs` and by hand, not by the code that
wrote them; only `verify` is the crawler's own.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import zstandard

from bench.web.known_site import KEPT, SECRET, KnownSite
from bench.web.target import Visit
from crawler.dataset.verify import verify
from crawler.storage.archive.cdxj import with_index
from crawler.storage.files.place import Place
from demo.outputs import CorpusRecords, Record

FOLDERS = ("shards", "rejected", "archive")
SHOWN = 5  # examples a violation
AMNESIA_SECONDS = 2.0


def accounts(site: KnownSite, corpus: CorpusRecords) -> list[str]:
    """Every URL of the site exactly once, with the verdict it has to have, and nothing else."""
    verdicts: dict[str, list[str]] = defaultdict(list)
    for record in corpus.kept:
        verdicts[record["url"]].append(KEPT)
    for record in corpus.rejected:
        verdicts[record["url"]].append(record["reason"])
    found = _named("lost", site.urls - verdicts.keys())
    found += _named("unknown", verdicts.keys() - site.urls)
    found += _named("more than once", (f"{u} {v}" for u, v in verdicts.items() if len(v) > 1))
    wrong = (f"{u} {verdicts[u][0]}, not {f}" for u, f in site.fates.items() if u in verdicts and verdicts[u] != [f])
    found += _named("wrong verdict", wrong)
    for group in site.mirrors:
        fates = sorted(verdict for url in group for verdict in verdicts.get(url, []))
        if fates != ["exact_duplicate"] * (len(group) - 1) + [KEPT]:
            found.append(f"mirrors {sorted(group)} ended as {fates}")
    return found


def duplicates(corpus: CorpusRecords) -> list[str]:
    """No document is a duplicate of itself, and what it repeats is in the corpus."""
    kept = {record["canonical_url"] for record in corpus.kept}
    copies = [r for r in corpus.rejected if r.get("dup_of")]
    own = [r["url"] for r in copies if r["dup_of"] in (r["url"], r["canonical_url"])]
    orphans = [f"{r['url']} of {r['dup_of']}" for r in copies if r["dup_of"] not in kept]
    return _named("a duplicate of itself", own) + _named("a duplicate of nothing that was kept", orphans)


def silence(site: KnownSite, folder: Path, visits: Sequence[Visit], port: int) -> list[str]:
    """No forbidden page was asked for, and no text of a page that said no is anywhere on the disk."""
    asked = {f"http://{visit.host}:{port}{visit.path}" for visit in visits} & site.forbidden
    leaks = [f"{path.parent.name}/{path.name}" for path in _files(folder) if SECRET.encode() in unpacked(path)]
    return _named("asked for although disallowed", asked) + _named("text of an opted-out page in", leaks)


def bookkeeping(folder: Path, corpus: CorpusRecords) -> list[str]:
    """The manifest lists exactly what is there, hashes and counts hold, nothing is unfinished or locked."""
    findings = verify(Place(str(folder)))
    surplus = len(findings.surplus) + len(findings.superseded)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    listed = {name for entry in manifest["files"] for name in with_index(entry["path"])}
    present = {f"{path.parent.name}/{path.name}" for path in _files(folder)}
    found = [*findings.damage, *([f"{surplus} surplus records after --fix"] if surplus else [])]
    found += _named("in the manifest but not there", listed - present)
    found += _named("there but not in the manifest", present - listed)
    found += _named("still locked", (path.name for path in folder.glob("manifest.d/*.lock")))
    found += _named("runs without an end", (run["worker_id"] for run in manifest["runs"] if run["ended"] is None))
    counts = (manifest["counts"]["kept"], manifest["counts"]["rejected"])
    if counts != (len(corpus.kept), len(corpus.rejected)):
        found.append(f"the manifest counts {counts} kept and rejected, the files hold {len(corpus.kept)} and "
                     f"{len(corpus.rejected)}")  # fmt: skip
    return found


def references(folder: Path, kept: Iterable[Record]) -> list[str]:
    """Each kept record points at the raw response it was made from."""
    wrong = []
    for record in kept:
        head = _warc_head(folder / record["warc_file"], record["warc_offset"])
        if record["warc_record_id"] not in head or f"WARC-Target-URI: {record['url']}" not in head:
            wrong.append(record["url"])
    return _named("no such response in the archive", wrong)


def politeness(visits: Sequence[Visit], least_gap: float, most: int, amnesia: Sequence[float] = ()) -> list[str]:
    """Requests to one host keep their distance and their number, whoever sent them. Seconds.

    `amnesia` are the moments at which a server came back without its last second: what was under way then it cannot
    know of, so the next `AMNESIA_SECONDS` are left out.
    """
    found = []
    judged = [v for v in visits if not any(0 <= v.start - moment <= AMNESIA_SECONDS for moment in amnesia)]
    for host, of_host in by_host(judged).items():
        for before, after in pairwise(of_host):
            if (gap := gap_of(before, after)) < least_gap:
                found.append(f"{host}: {after.path} {1000 * gap:.0f} ms after {before.path}, expected at least "
                             f"{1000 * least_gap:.0f} ms")  # fmt: skip
        if (number := most_at_once(of_host)) > most:
            found.append(f"{host}: {number} requests at a time, at most {most} allowed")
    return found


def by_host(visits: Iterable[Visit]) -> dict[str, list[Visit]]:
    """Requests of each host in the order of their arrival."""
    found: dict[str, list[Visit]] = defaultdict(list)
    for visit in sorted(visits, key=lambda v: v.start):
        found[visit.host].append(visit)
    return found


def gap_of(before: Visit, after: Visit) -> float:
    """Seconds between two arrivals; where the log was late in noting the first, as long as it may have been."""
    return after.start - before.start + before.late


def smallest_gap(visits: Sequence[Visit]) -> float:
    """Of the requests to one host in the order of their arrival."""
    return min((gap_of(before, after) for before, after in pairwise(visits)), default=float("inf"))


def most_at_once(visits: Iterable[Visit]) -> int:
    """The largest number of requests under way at one moment; one that ends as another begins makes room."""
    events = sorted((moment, step) for v in visits for moment, step in ((v.start, 1), (v.end or v.start, -1)))
    most = now = 0
    for _, step in events:
        now += step
        most = max(most, now)
    return most


def peer_losses(site: KnownSite, lines: Iterable[str]) -> tuple[int, int]:
    """Pages that are missing from the peer's output, and surplus lines for pages that are there."""
    seen = Counter(json.loads(line)["url"] for line in lines if line.endswith("\n"))
    pages = {url: seen[url] for url in site.pages}
    return sum(n == 0 for n in pages.values()), sum(n - 1 for n in pages.values() if n)


def unpacked(path: Path) -> bytes:
    """The content of a shard or an archive file, whatever it is packed with."""
    packed = path.read_bytes()
    if path.name.endswith(".zst"):
        return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).readall()
    return b"".join(_members(packed)) if path.name.endswith(".gz") else packed


def _members(packed: bytes) -> Iterator[bytes]:
    while packed:
        inflater = zlib.decompressobj(31)
        yield inflater.decompress(packed)
        packed = inflater.unused_data


def _warc_head(path: Path, offset: int) -> str:
    """The head of the record that begins at this byte; empty where there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(offset)
        try:
            start = zlib.decompressobj(31).decompress(file.read(4_096), 4_096)
        except zlib.error:
            return ""
    return start.partition(b"\r\n\r\n")[0].decode("utf-8", "replace")


def _files(folder: Path) -> list[Path]:
    return [path for name in FOLDERS for path in sorted((folder / name).glob("*")) if path.is_file()]


def _named(what: str, items: Iterable[str]) -> list[str]:
    found = sorted(items)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return [f"{len(found)} {what}: {', '.join(found[:SHOWN])}{more}"] if found else []
