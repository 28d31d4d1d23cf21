"""What becomes of images whose hosts refuse: `python -m bench.images [--peer VENV/bin/python] [--out TABLE.md]`.

The web is that of `tests/images/hosts.py`: one host for each way to say no, and some that say nothing. A crawl makes a
corpus of the pages that name the images; `dataset images` asks for them. The peer, real img2dataset with its defaults
(but `--resize_mode no` and no retries), is given the same URLs as rows of Parquet. What was asked is read from the log
of the web server, what was kept from tars and rows of each. CPU: of all processes, the embedded Valkey's left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow
from pyarrow import parquet

from bench.machine import commit, machine
from bench.places import PROJECT
from tests.images.hosts import HOSTS, OWN, declare, image_outcome, rows_in
from tests.support.corpus_crawl import SETTINGS, crawl
from tests.support.loopback_web import FORBIDDEN, PolicyWeb

TIMEOUT = 2
KINDS = ("optout", "robots", "hold", "denied")
"""Outcomes that are a host's word, not its failure."""


@dataclass(frozen=True)
class Refusal:
    """What a host says of its image. asked: it can only be heard by asking for the image."""

    what: str
    outcome: str
    asked: bool


@dataclass
class Contestant:
    """What one of both did. asked: requests for images by URL. evidence: refused URLs whose row says why."""

    name: str
    asked: Counter[str]
    kept: set[str]
    evidence: set[str]
    size: int
    cpu: float
    forbidden: int
    notes: list[str] = field(default_factory=list)


def refusals(address: Mapping[str, str], web: PolicyWeb) -> dict[str, Refusal]:
    """By URL of the image."""
    found = {}
    for case in HOSTS:
        what, (outcome, asked) = f"{case.section}/{case.what}", image_outcome(case)
        found[what] = Refusal(what, outcome, asked)
    for own in OWN:
        found[own.what] = Refusal(own.what, own.outcome, own.asked)
    return {
        f"{web.base(address[what])}/page": one for what, one in found.items() if one.outcome.partition(":")[0] in KINDS
    }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _requests(web: PolicyWeb) -> tuple[Counter[str], int]:
    """Requests for images by URL, and those to the address that the operator forbids; the log is empty afterwards."""
    asked = Counter(f"{web.base(host)}/page" for host, paths in web.asked.items() for p in paths if p == "/page")
    forbidden = len(web.asked[FORBIDDEN])
    web.asked.clear()
    return asked, forbidden


def ours(web: PolicyWeb, corpus: Path, out: Path) -> Contestant:
    """`gristmill dataset images`."""
    settings = {**SETTINGS, "NETWORK_PORTS": web.port, "DOWNLOAD_TIMEOUT": TIMEOUT, "LOG_LEVEL": "ERROR",
                "OPTOUT_PROFILE": "strict"}  # fmt: skip
    command = [sys.executable, "-m", "crawler.commands.gristmill", "dataset", "images", str(corpus), "--out", str(out),
               "--min-bytes", "500"]  # fmt: skip
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    began = _cpu()
    subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
    spent, (asked, forbidden) = _cpu() - began, _requests(web)
    rows = rows_in(out)
    kept = {row["url"] for row in rows if row["status"] == "success"}
    evidence = {row["url"] for row in rows if row["url"] and row["outcome"].partition(":")[0] in KINDS
                and (row["optout_signals"] or row["page_optout_signals"] or row["robots_status"])}  # fmt: skip
    made = Contestant("gristmill", asked, kept, evidence, _size(out / "images"), spent, forbidden)
    made.notes.append(read_by_others(out))
    return made


def read_by_others(out: Path) -> str:
    """What webdataset and datasets make of it: a sentence. Raises: AssertionError where they see something else."""
    import webdataset
    from datasets import load_dataset

    tars = sorted(map(str, (out / "images").glob("*.tar")))
    samples = sum(1 for _ in webdataset.WebDataset(tars, shardshuffle=False).decode("pil"))
    with TemporaryDirectory() as cache:
        rows = load_dataset("parquet", data_files=str(out / "rows" / "*.parquet"), split="train", cache_dir=cache)
        counts = json.loads((out / "images.json").read_text())["counts"]
        assert (samples, rows.num_rows) == (counts["documents"], counts["references"])
    return f"webdataset {webdataset.__version__} reads {samples} samples, datasets {counts['references']} rows"


def peer(web: PolicyWeb, python: Path, urls: Sequence[str], out: Path) -> Contestant:
    """img2dataset in an environment of its own."""
    given = out.with_suffix(".parquet")
    parquet.write_table(pyarrow.table({"url": list(urls), "caption": [f"View {n}" for n in range(len(urls))]}), given)
    command = [str(python.parent / "img2dataset"), "--url_list", str(given), "--input_format", "parquet",
               "--url_col", "url", "--caption_col", "caption", "--output_format", "webdataset", "--output_folder",
               str(out), "--processes_count", "1", "--thread_count", "16", "--resize_mode", "no", "--retries", "0",
               "--timeout", str(TIMEOUT), "--enable_wandb", "False"]  # fmt: skip
    quiet = os.environ | {"NO_ALBUMENTATIONS_UPDATE": "1"}  # it would ask for newer versions of itself
    began = _cpu()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=out.parent,
                   env=quiet)  # fmt: skip
    spent, (asked, forbidden) = _cpu() - began, _requests(web)
    rows = [row for path in sorted(out.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]
    kept = {row["url"] for row in rows if row["status"] == "success"}
    evidence = {row["url"] for row in rows if "disallowed" in (row["error_message"] or "")}
    asked_for = "import importlib.metadata as m; print(m.version('img2dataset'))"
    version = subprocess.run([str(python), "-c", asked_for], capture_output=True, text=True, check=True).stdout.strip()
    return Contestant(f"img2dataset {version}", asked, kept, evidence, _size(out), spent, forbidden)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.tar"))


def table(said: Mapping[str, Refusal], urls: int, of: Iterable[Contestant]) -> str:
    """Markdown, a column a contestant."""
    found = list(of)
    before = {url for url, one in said.items() if not one.asked}
    heard = said.keys() - before
    rows: list[tuple[str, Callable[[Contestant], object]]] = [
        (f"requests for the {len(before)} images that are refused before they are asked for",
         lambda one: sum(one.asked[url] for url in before)),
        (f"kept of these {len(before)}", lambda one: len(one.kept & before)),
        (f"kept of {len(heard)} that refuse in the answer or in the file", lambda one: len(one.kept & heard)),
        (f"rows that show the refusal, of {len(said)}", lambda one: len(one.evidence & said.keys())),
        ("requests to an address that the operator forbids", lambda one: one.forbidden),
        (f"images kept, of {urls} URLs", lambda one: len(one.kept)),
        ("of these without a refusal", lambda one: len(one.kept - said.keys())),
        ("MB in tars", lambda one: f"{one.size / 1e6:.1f}"),
        ("CPU seconds", lambda one: f"{one.cpu:.1f}"),
    ]  # fmt: skip
    lines = ["| | " + " | ".join(one.name for one in found) + " |", "|---" * (len(found) + 1) + "|"]
    return "\n".join(lines + [f"| {what} | " + " | ".join(str(of(one)) for one in found) + " |" for what, of in rows])


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.images", description=__doc__.partition("\n")[0])
    parser.add_argument("--peer", type=Path, metavar="PYTHON", help="of an environment that has img2dataset")
    opts = parser.parse_args(argv)
    with TemporaryDirectory() as folder, PolicyWeb() as web:
        work = Path(folder)
        address, pages = declare(web)
        corpus = crawl(work / "corpus", pages, web.port)
        if corpus.returncode:
            sys.exit(f"the crawl failed:\n{corpus.log[-2000:]}")
        web.asked.clear()
        found = [ours(web, corpus.folder, work / "pairs")]
        urls = sorted({row["url"] for row in rows_in(work / "pairs") if row["url"]})
        if opts.peer:
            found.append(peer(web, opts.peer.absolute(), urls, work / "peer"))
        said = refusals(address, web)
    sys.stdout.write(f"{machine()}; commit {commit()}\n\n{table(said, len(urls), found)}\n\n")
    sys.stdout.writelines(f"{one.name}: {note}\n" for one in found for note in one.notes)
    for one in found:
        against = sorted(
            {said[url].what for url in said if (not said[url].asked and one.asked[url]) or url in one.kept}
        )
        sys.stdout.write(
            f"{one.name}, asked or kept against a refusal ({len(against)}): {'; '.join(against) or 'none'}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
