"""Is anything lost or doubled when workers and the server die?

`python -m bench.faults.campaign --runs 50 --seed 1 [--losses [between|living]] [--browser] [--s3] [--peer]
[--lives] [--adversity] [--format parquet]`

Each run crawls a known site (8 addresses, 280 URLs) with 3 to 8 real workers on one real server, kills random workers
and the server with SIGKILL at random moments of the progress that the site itself sees, starts replacements, lets
`gristmill dataset verify --fix` do its work, and then accounts for every URL (`bench/faults/audit.py`). With `--losses`
all workers are killed once in each run, and the keys of the server, manifest.json or its second half are gone when as
many start again; where these refuse, `gristmill dataset repair` is run, as they say. With `--losses living` nobody is
killed for it: the workers go on or end, and when all have ended the same command runs once more. With `--browser` a
script draws every fourth ordinary page, at most three workers have a browser each, and no process of a browser may
outlive the worker that was killed. With `--s3` the workers write into an object store (`bench/faults/store.py`), each
with a spool of its own; half of the killed ones lose it, one worker is taken away with SIGTERM, the runs of those that
never came back are closed, `verify --fix` works in the store, and its files are copied out for the account. With
`--lives` (6 addresses, 150 URLs) nothing but the clock kills: each of four workers lives 5 to 60 seconds (11 on
average, leases last 3), its successor starts at once, until the crawl is done; every third run is in an object store,
where half of the dead lose their spool, and every third has a page that kills whoever asks for it: that one is given
up, and no other. With `--adversity` nobody is killed: in each run four of six troubles happen
(`bench/faults/troubles.py`: a second worker of one name, SIGSTOP beyond the lease, no descriptor left, another
password, the server's clock set on or back, its memory full), and one more site floods the frontier with its links;
where `faketime` is not installed, nobody sets the clock. `--peer`
runs the same campaign against scrapy-redis and counts what it lost; `--format` chooses the SHARD_FORMAT of ours. Exit
code 1 and a kept folder for every run with a violation.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import redis

from bench.faults import audit
from bench.faults.blows import Blow, Life, Plan, draw, draw_troubles, lives_of
from bench.faults.fleet import Fleet, Warm, Worker, cold, settings
from bench.faults.store import download, object_store
from bench.faults.troubles import CLOCK, ERROR, TROUBLES, Troubles, flood, movable_clock
from bench.peer_spider import SEEDS
from bench.places import PROJECT
from bench.web.known_site import KnownSite, Texts, build, choose_texts, hosts_of, texts_needed
from bench.web.target import Target, served
from crawler.browser.watch import MARK
from crawler.config import from_mapping
from crawler.dataset.remote import close_runs, open_runs, spooled
from crawler.frontier.client import Frontier
from crawler.server.embedded import EmbeddedServer
from crawler.storage.files.place import Place
from demo.outputs import CorpusRecords, read_corpus

PEER = PROJECT / "bench" / "peer_spider.py"
FORMAT = "jsonl.zst"  # of our shards, as in a crawl that says nothing
DELAY = 0.2  # seconds between requests to one host
LIVES_DELAY, LIVES_WORKERS, LIVES_LEASE = 1.0, 4, 3.0  # with --lives; s, workers, s
UPLOAD_SECONDS = 2.0  # with --s3: age at which files are uploaded, so that runs have many files
RUN_SECONDS = 180.0  # a run that takes longer has failed
PEER_SECONDS = 90.0
SHELLS = 4  # with --browser: every fourth ordinary page
BROWSERS = 3  # workers with one each
NO_SERVER = (
    "error: no Redis or Valkey answers",
    "error: the duplicate index does not answer",
    "crawler.server.errors.FrontierUnavailable: no Redis or Valkey answers",
)
"""How a worker refuses to start during an outage, before any request; its supervisor starts it again."""
GAVE_UP = re.compile(
    rf"{ERROR}(?:this run found nothing to do, and what an earlier one could not get is still missing; )?"
    "1 page was given up: every worker that had such a page alone in hand died .+"
)
FLOODING = "127.0.0.39"
"""With --adversity: a site of pages with very many, very long links to itself, which its robots.txt disallows."""
FLOOD_BYTES = 300_000
MOST_STARTS = 5
"""Times that the command is given again at the end, while it refuses and says what to do."""
CONTROL_FILES = 5  # robots.txt and opt-out files a host
JUDGING = {"PII_PERSON": "off", "EXTRACTOR": "resiliparse"}  # light stages: the campaign is about delivery


@dataclass
class Outcome:
    """What one run showed. `violations` are sentences; the others are for the table."""

    seconds: float = 0.0
    worker_kills: int = 0
    server_kills: int = 0
    terminated: int = 0  # workers that were taken away with SIGTERM
    spools: int = 0  # of the killed workers: their spool went with them
    losses: list[str] = field(default_factory=list)  # out of `blows.LOSSES`, and "repair" where that was needed
    kept: int = 0
    rejected: int = 0
    surplus: int = 0
    drawn: int = 0  # records of pages that a browser drew
    browsers: int = 0  # workers that had a browser when they were killed
    least_gap: float = 0.0
    page_kills: int = 0  # workers that a page killed
    restarted: int = 0  # workers that ended on their own and were started again
    violations: list[str] = field(default_factory=list)


class Campaign:
    """The site's texts, chosen once, and one run after the other on it."""

    def __init__(self, *, hosts: int, plain: int, texts: Texts, folder: Path, shard_format: str = FORMAT) -> None:
        self._format = shard_format
        self._hosts, self._plain, self._texts, self._folder = hosts_of(hosts), plain, texts, folder

    def run(
        self,
        plan_seed: str,
        *,
        peer: bool = False,
        plan: Plan | None = None,
        losses: str = "",
        browser: bool = False,
        store: str = "",
        deadly: bool = False,
        adversity: bool = False,
    ) -> tuple[Plan, Outcome]:
        """One run in a folder of its own, which stays where something was violated."""
        folder = Path(tempfile.mkdtemp(prefix=f"{'peer' if peer else 'run'}-", dir=self._folder))
        server, clock = EmbeddedServer(folder / "server"), None
        if adversity:
            with movable_clock(folder) as clock:  # the server alone is to have it
                server.start()
        with served([*self._hosts, FLOODING] if adversity else self._hosts) as target, server as url:
            bases = {host: target.base(host) for host in self._hosts}
            site = build(bases, self._plain, self._texts, shells=SHELLS if browser else 0, deadly=deadly)
            target.sites = site.answers
            expected = len(site.urls - site.forbidden) + CONTROL_FILES * len(self._hosts)
            troubles = Troubles(url, clock) if adversity else None
            if troubles:
                kinds = [what for what in TROUBLES if clock or what != CLOCK]
                plan = plan or draw_troubles(plan_seed, expected, kinds)
                target.sites = {**site.answers, FLOODING: flood(target.base(FLOODING))}
            plan = plan or draw(plan_seed, expected, losses=losses, spools=bool(store))
            plan = replace(plan, workers=min(plan.workers, BROWSERS)) if browser else plan
            bucket = f"{store}/{folder.name}" if store else ""
            if plan.lives and bucket:
                plan = replace(plan, lives=f"{plan.lives} in a store")
            run = _Run(folder, url, target, site, plan, self._format, browser=browser, bucket=bucket, troubles=troubles)
            outcome = run.peer() if peer else run.ours()
            if outcome.violations:
                (folder / "visits.txt").write_text("\n".join(map(str, target.log())), "utf-8")
        if not outcome.violations:
            shutil.rmtree(folder)
        return plan, outcome


@dataclass
class _Run:
    folder: Path
    url: str
    target: Target
    site: KnownSite
    plan: Plan
    shard_format: str
    outcome: Outcome = field(default_factory=Outcome)
    amnesia: list[float] = field(default_factory=list)  # `time.monotonic()` of restarts with a torn file
    browser: bool = False
    bucket: str = ""  # URL of the corpus where it is in an object store
    leaving: set[str] = field(default_factory=set)  # names of workers that were sent SIGTERM
    browsers: set[psutil.Process] = field(default_factory=set)  # of workers, just before they were killed
    troubles: Troubles | None = None
    deaths: dict[str, tuple[float, Life]] = field(default_factory=dict)  # by name of worker and log: when it dies

    # --- ours --------------------------------------------------------------------------------------------------------
    def ours(self) -> Outcome:
        begin = Warm if self.plan.stage_workers == 0 and not self.browser else cold
        with Fleet(self._our_command, self.folder / "logs", PROJECT, begin) as fleet:
            self.target.on_deadly = lambda port: kill_client(fleet, port)
            is_slow = self.browser or self.plan.lives or self.troubles
            self._live(fleet, RUN_SECONDS * (4 if is_slow else 1), self._forgiven)
            if any(blow.living for blow in self.plan.blows):
                self._again(fleet)
            for worker in fleet.failed():
                ends_well = self._left_early(worker) or self._is_refused_twin(worker) or self._gave_up(worker)
                if not (ends_well or self._forgiven(worker)):
                    self._blame(f"worker {worker.name} ended with {worker.process.poll()}: see {worker.output}")
            if left := fleet.left_behind():
                self._blame(f"processes {left} outlive their workers")
            if left := outlived(self.browsers):
                self._blame(f"browser processes {left} outlive their workers")
        corpus = self.folder / "corpus"
        if self.bucket:
            close_lost_runs(self.bucket)
        if not self.outcome.violations:
            self._verify(self.bucket or str(corpus))
            if self.bucket:
                download(self.bucket, corpus)  # for the eyes that read by hand; nothing is changed any more
            self._audit(corpus)
        return self.outcome

    def _our_command(self, name: str) -> list[str]:
        seeds = [*self.site.seeds, *([self.target.base(FLOODING) + "/"] if self.troubles else [])]
        command = ["crawl", "corpus", "-a", f"url={','.join(seeds)}"]
        return command + settings(
            REDIS_URL=self.url,
            **self._place(name),
            SHARD_FORMAT=self.shard_format,
            WORKER_ID=name,
            NETWORK_ALLOW="127.0.0.0/8",
            NETWORK_PORTS=self.target.port,
            DOWNLOAD_DELAY=self._delay,
            CONCURRENT_REQUESTS_PER_DOMAIN=1,
            FRONTIER_LEASE_SECONDS=LIVES_LEASE if self.plan.lives else 6,
            FRONTIER_IDLE_SECONDS=1,
            FRONTIER_RETRY_BACKOFF_SECONDS=0.3,
            STAGE_WORKERS=self.plan.stage_workers,
            PROGRESS="off",
            LOG_LEVEL="INFO",
            JS_MODE="auto" if self.browser else "never",
            BROWSER_CONCURRENCY=1,
            **({"FRONTIER_MAX_BYTES_PER_DOMAIN": FLOOD_BYTES} if self.troubles else {}),
            **JUDGING,
        )

    @property
    def _delay(self) -> float:
        return LIVES_DELAY if self.plan.lives else DELAY

    def _place(self, name: str) -> dict[str, object]:
        if not self.bucket:
            return {"CORPUS_DIR": self.folder / "corpus"}
        age = {"SHARD_MAX_AGE_SECONDS": UPLOAD_SECONDS}
        return {"CORPUS_DIR": self.bucket, "CORPUS_SPOOL_DIR": self._spool(name), **age}

    def _spool(self, name: str) -> Path:
        return self.folder / "spools" / name

    def _verify(self, corpus: str) -> None:
        command = [sys.executable, "-m", "scrapy", "dataset", "verify", "--fix", corpus]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        if done.returncode:
            self._blame(f"verify --fix ended with {done.returncode}: {done.stdout} {done.stderr}")
        for line in done.stdout.splitlines():
            if line.startswith("removed"):
                self.outcome.surplus = int(line.split()[1].replace(",", ""))

    def _audit(self, corpus: Path) -> None:
        # the least gap is half the delay: stages run inside the reactor here, and the machine is full;
        # bench.faults.politeness is the strict one
        try:
            records = read_corpus(corpus)
        except FileNotFoundError as error:
            self._blame(str(error))
            return
        self.outcome.drawn = sum(record["method_used"] == "js" for record in records.kept)
        if self.browser and not self.outcome.drawn:
            self._blame("no page was drawn: is there a Chromium?")
        known = CorpusRecords(*([r for r in of if FLOODING not in r["url"]] for of in (records.kept, records.rejected)))
        visits = self.target.log()
        self.outcome.kept, self.outcome.rejected = len(known.kept), len(known.rejected)
        self.outcome.least_gap = min(map(audit.smallest_gap, audit.by_host(visits).values()))
        self.outcome.violations += [
            *audit.accounts(self.site, known),
            *audit.duplicates(records),
            *audit.silence(self.site, corpus, visits, self.target.port),
            *audit.bookkeeping(corpus, records),
            *audit.references(corpus, records.kept),
            *audit.politeness(visits, self._delay / 2, 1, self.amnesia),
            *asyncio.run(_rest_of(self.url, dead=sum(f == "stage_crashed" for f in self.site.fates.values()))),
        ]

    # --- the peer ----------------------------------------------------------------------------------------------------
    def peer(self) -> Outcome:
        with contextlib.closing(redis.Redis.from_url(self.url)) as client:
            client.rpush(SEEDS, *self.site.seeds)
        with Fleet(self._peer_command, self.folder / "logs", self.folder, Warm) as fleet:
            self._live(fleet, PEER_SECONDS, lambda _: True)
        lines = [line for path in self.folder.glob("*.jsonl") for line in path.read_text("utf-8").splitlines(True)]
        lost, doubled = audit.peer_losses(self.site, lines)
        self.outcome.kept, self.outcome.rejected, self.outcome.surplus = len(self.site.pages) - lost, lost, doubled
        self.outcome.violations.clear()
        return self.outcome

    def _peer_command(self, name: str) -> list[str]:
        command = ["runspider", str(PEER), "-a", f"hosts={','.join(self.target.hosts)}"]
        command += ["-a", f"output={self.folder / name}.jsonl"]
        return command + settings(
            REDIS_URL=self.url,
            DOWNLOAD_DELAY=DELAY,
            CONCURRENT_REQUESTS_PER_DOMAIN=1,
            MAX_IDLE_TIME_BEFORE_CLOSE=4,
            LOG_LEVEL="INFO",
        )

    # --- both --------------------------------------------------------------------------------------------------------
    def _live(self, fleet: Fleet, limit: float, forgiven: Callable[[Worker], bool]) -> None:
        """Until every worker has ended. One that ended on its own and is `forgiven` is started again, as a pod is."""
        started = time.monotonic()
        for number in range(self.plan.workers):
            fleet.start(f"w{number}")
        waiting = list(self.plan.blows)
        given_up: set[int] = set()
        lives = lives_of(self.plan.lives, spools=bool(self.bucket))
        while fleet.alive and time.monotonic() - started < limit:
            if waiting and self.target.wait_for(waiting[0].at, 0.05):
                self._strike(waiting.pop(0), fleet)
            elif not waiting:
                time.sleep(0.05)  # polled: several processes, any of which may end
            self._go_on(fleet, lives)
            for worker in fleet.failed():
                if worker.process.pid not in given_up and forgiven(worker):
                    given_up.add(worker.process.pid)
                    fleet.start(worker.name)
        if self.troubles:
            self.troubles.lift(now=True)
        if fleet.alive:
            self._blame(f"{len(fleet.alive)} workers still run after {limit:.0f} s")
        self.outcome.restarted = len(given_up)
        self.outcome.seconds = time.monotonic() - started

    def _go_on(self, fleet: Fleet, lives: Iterator[Life]) -> None:
        """What happens by the clock."""
        if self.troubles:
            self.troubles.lift()
        if self.plan.lives:
            self._end_lives(fleet, lives)

    def _end_lives(self, fleet: Fleet, lives: Iterator[Life]) -> None:
        """Kill the workers whose time has come, and replace each that is dead, whatever killed it."""
        for worker in fleet.workers:
            if worker.output.name not in self.deaths:
                drawn = next(lives)
                self.deaths[worker.output.name] = time.monotonic() + drawn.seconds, drawn
            due, life = self.deaths[worker.output.name]
            if worker.killed:
                continue
            if worker.process.poll() == -signal.SIGKILL:
                self.outcome.page_kills += 1
                worker.killed = True
            elif worker.process.poll() is None and due <= time.monotonic():
                fleet.kill(worker)
                self.outcome.worker_kills += 1
            else:
                continue
            if life.gone:
                shutil.rmtree(self._spool(worker.name), ignore_errors=True)
                self.outcome.spools += 1
            fleet.start(worker.name if life.same_name else f"w{len(fleet.workers)}")

    def _strike(self, blow: Blow, fleet: Fleet) -> None:
        if blow.server:
            self._kill_server(blow)
            return
        if blow.loss:
            self._lose(blow.loss, fleet, living=blow.living)
            return
        alive = [worker for worker in fleet.alive if worker.name not in self.leaving]
        if not alive or (blow.term and len(alive) == 1):
            return
        victim = alive[int(blow.victim * len(alive))]
        if blow.trouble and self.troubles:
            self.troubles.begin(blow.trouble, victim, fleet, blow.victim * 7 % 1)
            self.outcome.losses.append(blow.trouble)
            return
        if blow.term:
            self.leaving.add(victim.name)
            victim.process.terminate()
            self.outcome.terminated += 1
            return
        self._note_browsers(victim)
        fleet.kill(victim)
        if blow.gone:
            shutil.rmtree(self._spool(victim.name), ignore_errors=True)
            self.outcome.spools += 1
        fleet.start(victim.name if blow.same_name else f"w{len(fleet.workers)}")
        self.outcome.worker_kills += 1

    def _note_browsers(self, worker: Worker) -> None:
        """Browsers have sessions of their own: who survives is found by what the worker had started."""
        if self.browser:
            found = browsers_below(worker.process.pid)
            self.browsers |= found
            self.outcome.browsers += bool(found)

    def _kill_server(self, blow: Blow) -> None:
        with contextlib.closing(redis.Redis.from_url(self.url)) as client:
            os.kill(int(client.info("server")["process_id"]), signal.SIGKILL)
        if blow.torn:
            (file,) = (self.folder / "server" / "appendonlydir").glob("*.incr.aof")
            os.truncate(file, max(0, file.stat().st_size - blow.torn))
        time.sleep(blow.away)  # the length of the outage
        if blow.torn:
            self.amnesia.append(time.monotonic())
        EmbeddedServer(self.folder / "server").ensure()
        self.outcome.server_kills += 1

    def _lose(self, what: str, fleet: Fleet, *, living: bool) -> None:
        """Between two generations nobody works while it is lost; under living workers nobody is told."""
        for worker in [] if living else fleet.alive:
            self._note_browsers(worker)
            fleet.kill(worker)
            self.outcome.worker_kills += 1
        self.outcome.losses.append(what)
        if what == "frontier":
            with contextlib.closing(redis.Redis.from_url(self.url)) as client:
                client.flushall()
            self.amnesia.append(time.monotonic())
        else:
            lose_manifest(self.folder / "corpus" / "manifest.json", torn=what == "torn manifest")
        for number in range(0 if living else self.plan.workers):
            fleet.start(f"again{number}")

    def _again(self, fleet: Fleet) -> None:
        """The same command once more, as a person gives it who does not know whether everything is done."""
        deadline = time.monotonic() + RUN_SECONDS
        fleet.start("more0")
        starts = 1
        while time.monotonic() < deadline:
            if fleet.alive:
                time.sleep(0.05)  # polled: the process may end at any time
            elif (last := fleet.workers[-1]).process.poll() and starts < MOST_STARTS and self._forgiven(last):
                fleet.start(f"more{starts}")
                starts += 1
            else:
                return
        self._blame(f"{len(fleet.alive)} workers of the last start still run after {RUN_SECONDS:.0f} s")

    def _forgiven(self, worker: Worker) -> bool:
        """A worker that found no server, or that was told what to do about the manifest, once that is done."""
        if self.troubles:
            return worker not in self.troubles.twins and self.troubles.explain(worker)
        if _found_no_server(worker):
            return True
        if not any("manifest" in loss for loss in self.outcome.losses) or not _said(worker, "gristmill dataset repair"):
            return False
        if "repair" not in self.outcome.losses:
            self.outcome.losses.append("repair")
            self._scrapy("dataset", "repair", str(self.folder / "corpus"))
        return True

    def _is_refused_twin(self, worker: Worker) -> bool:
        return self.troubles is not None and worker in self.troubles.twins and self.troubles.explain(worker)

    def _gave_up(self, worker: Worker) -> bool:
        """It ended by itself and names the page that kills, as every worker does from then on: nobody starts it again.

        Where such workers were started again they ended again, and on a busy machine no run ever came to an end.
        """
        said = worker.output.read_text("utf-8", "replace").splitlines() if worker.process.poll() == 1 else []
        errors = [line for line in said if line.startswith(ERROR)]
        return bool(self.plan.lives) and len(errors) == 1 and GAVE_UP.fullmatch(errors[0]) is not None

    def _left_early(self, worker: Worker) -> bool:
        """It was sent SIGTERM before its crawl had begun (docs/commands.md)."""
        code = worker.process.poll()
        if worker.name not in self.leaving:
            return False
        if code == -signal.SIGTERM:  # before the program listened: it does from its checks on, and then makes a crawler
            return not _said(worker, "Overridden settings")
        return code == 128 + signal.SIGTERM and _said(worker, "error: interrupted by SIGTERM")

    def _scrapy(self, *words: str) -> None:
        command = [sys.executable, "-m", "scrapy", *words]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        if done.returncode:
            self._blame(f"scrapy {' '.join(words)} ended with {done.returncode}: {done.stdout} {done.stderr}")

    def _blame(self, sentence: str) -> None:
        self.outcome.violations.append(sentence)


def close_lost_runs(bucket: str) -> None:
    """End the runs of workers that never came back. The campaign knows that all have ended: it waits for no silence."""
    with spooled(Place(bucket)) as place:
        close_runs(place, open_runs(place), silent=0.0)


def kill_client(fleet: Fleet, port: int) -> None:
    """SIGKILL for the worker of this fleet whose connection has this port on its side."""
    for worker in fleet.alive:
        with contextlib.suppress(psutil.Error):
            if any(c.laddr and c.laddr.port == port for c in psutil.Process(worker.process.pid).net_connections("tcp")):
                worker.process.kill()


def browsers_below(pid: int) -> set[psutil.Process]:
    """Every process of the browsers that this one has started; none where it has ended."""
    found: set[psutil.Process] = set()
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any(part.startswith(MARK) for part in child.cmdline()):
                    found |= {child, *child.children(recursive=True)}
    return found


def outlived(processes: set[psutil.Process], seconds: float = 20.0) -> list[int]:
    """Those that still run after so long; a zombie runs no more."""
    deadline = time.monotonic() + seconds
    while (left := [p.pid for p in processes if _runs(p)]) and time.monotonic() < deadline:
        time.sleep(0.05)  # polled: they are not our children
    return left


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _found_no_server(worker: Worker) -> bool:
    return any(line.startswith(NO_SERVER) for line in worker.output.read_text("utf-8", "replace").splitlines())


def _said(worker: Worker, what: str) -> bool:
    return what in worker.output.read_text("utf-8", "replace")


def lose_manifest(path: Path, *, torn: bool) -> None:
    """Delete it, or leave its first half; nothing where no worker has written one yet."""
    if torn and path.exists():
        os.truncate(path, path.stat().st_size // 2)
    else:
        path.unlink(missing_ok=True)


async def _rest_of(url: str, dead: int = 0) -> list[str]:
    """What the frontier still holds when everything is done. dead: URLs that had to be given up."""
    frontier = Frontier(url, "crawl")
    await frontier.open()
    try:
        counts = await frontier.counts()
    finally:
        await frontier.close()
    left = {name: getattr(counts, name) for name in ("queued", "leased", "held") if getattr(counts, name)}
    left |= {"dead": counts.dead} if counts.dead != dead else {}
    found = [f"the frontier still holds {left}"] if left else []
    return found + ([f"{counts.seen} seen, {counts.done} done"] if counts.seen != counts.done + dead else [])


def line_of(name: str, plan: Plan, outcome: Outcome, *, peer: bool) -> str:
    """One run on one line."""
    blows = " ".join(f"{b.at}{'S' * b.server}{'T' * bool(b.torn)}{'L' * bool(b.loss)}{b.trouble}" for b in plan.blows)
    what = "found {} lost {} doubled {}" if peer else "kept {} rejected {} surplus {}"
    counts = what.format(outcome.kept, outcome.rejected, outcome.surplus)
    struck = f"{outcome.worker_kills} workers and {outcome.server_kills}x the server killed at {blows}"
    struck += f", {outcome.browsers} of them with a browser ({outcome.drawn} pages drawn)" if outcome.drawn else ""
    struck += f", {outcome.spools} with their spools, {outcome.terminated} taken away" if outcome.terminated else ""
    struck += f", {outcome.page_kills} by a page" if outcome.page_kills else ""
    struck += f"; lost: {', '.join(outcome.losses)}" if outcome.losses else ""
    verdict = "" if peer else "  VIOLATED" if outcome.violations else "  ok"
    return f"{name}  {plan.workers} workers, {struck}; {outcome.seconds:.1f} s  {counts}{verdict}"


def summary(outcomes: Sequence[Outcome], *, peer: bool, delay: float = DELAY) -> str:
    """A campaign as rows of a table."""
    rows: list[tuple[str, object]] = [
        ("runs", len(outcomes)),
        ("workers killed", sum(o.worker_kills for o in outcomes)),
        ("server killed", sum(o.server_kills for o in outcomes)),
        *(
            [("workers killed by a page", sum(o.page_kills for o in outcomes))]
            if any(o.page_kills for o in outcomes)
            else []
        ),
        *([("spools lost", sum(o.spools for o in outcomes))] if any(o.spools for o in outcomes) else []),
        *([("workers taken away", sum(o.terminated for o in outcomes))] if any(o.terminated for o in outcomes) else []),
        *(
            [("workers killed with a browser", sum(o.browsers for o in outcomes))]
            if any(o.drawn for o in outcomes)
            else []
        ),
        *([("pages drawn in a browser", sum(o.drawn for o in outcomes))] if any(o.drawn for o in outcomes) else []),
        *(("lost: " + what, n) for what, n in sorted(Counter(w for o in outcomes for w in o.losses).items())),
        ("workers that gave up in an outage", sum(o.restarted for o in outcomes)),
        ("median seconds", f"{statistics.median(o.seconds for o in outcomes):.1f}"),
    ]
    if peer:
        lost = [o.rejected for o in outcomes]
        rows += [
            ("pages lost", f"{sum(lost)} (worst run {max(lost)} of {outcomes[0].kept + outcomes[0].rejected})"),
            ("runs with losses", sum(n > 0 for n in lost)),
            ("pages doubled", sum(o.surplus for o in outcomes)),
        ]
    else:
        rows += [
            ("records kept and rejected", f"{sum(o.kept for o in outcomes)} and {sum(o.rejected for o in outcomes)}"),
            ("surplus records removed by verify --fix", sum(o.surplus for o in outcomes)),
            ("smallest gap", f"{1000 * min(o.least_gap for o in outcomes):.0f} ms at a delay of {1000 * delay:.0f} ms"),
            ("runs with a violation", sum(bool(o.violations) for o in outcomes)),
        ]
    return "\n".join(f"| {name} | {value} |" for name, value in [("scrapy-redis" if peer else "ours", ""), *rows])


def prepare(hosts: int, plain: int, folder: Path, shard_format: str = FORMAT) -> Campaign:
    """Choose the texts."""
    texts = asyncio.run(choose_texts(texts_needed(hosts, plain), from_mapping(JUDGING)))
    return Campaign(hosts=hosts, plain=plain, texts=texts, folder=folder, shard_format=shard_format)


def _runs_of(campaign: Campaign, options: argparse.Namespace, store: str) -> Iterator[Outcome]:
    kind = {"peer": options.peer, "losses": options.losses, "browser": options.browser, "store": store}
    for number in [options.only] if options.only is not None else range(options.runs):
        if options.lives:
            seed = f"{options.seed}/{number}"
            kind = {"plan": Plan(LIVES_WORKERS, 0, (), lives=seed), "deadly": number % 3 == 1}
            kind |= {"store": store if number % 3 == 0 else ""}
        if options.adversity:
            kind = {"adversity": True}
        plan, outcome = campaign.run(f"{options.seed}/{number}", **kind)
        print(line_of(f"{number:3}", plan, outcome, peer=options.peer), flush=True)
        for violation in outcome.violations:
            print(f"     {violation}", flush=True)
        yield outcome


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.faults.campaign", description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one run of the campaign, by its number")
    kinds, what = ("between", "living"), "frontier or manifest is lost once in each run, between or under its workers"
    parser.add_argument("--losses", nargs="?", const="between", default="", choices=kinds, help=what)
    parser.add_argument("--browser", action="store_true", help="a script draws every fourth ordinary page")
    parser.add_argument("--s3", action="store_true", help="the corpus is in an object store, and spools are lost")
    what = "workers live 5 to 60 s each; object store and lost spools, and a page that kills, among the runs"
    parser.add_argument("--lives", action="store_true", help=what)
    what = "nobody is killed: troubles of the surroundings, and a site that floods the frontier"
    parser.add_argument("--adversity", action="store_true", help=what)
    parser.add_argument("--peer", action="store_true", help="the same against scrapy-redis")
    parser.add_argument("--format", default=FORMAT, help="SHARD_FORMAT of our workers (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where runs with a violation stay (default: a temporary folder)")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="faults-"))
    folder.mkdir(parents=True, exist_ok=True)
    if options.s3 and options.losses:
        parser.error("--losses needs a corpus in a folder, not --s3")
    campaign = prepare(*((6, 12) if options.lives else (8, 22)), folder, options.format)
    with object_store() if options.s3 or options.lives else contextlib.nullcontext("") as store:
        outcomes = list(_runs_of(campaign, options, store))
    print(summary(outcomes, peer=options.peer, delay=LIVES_DELAY if options.lives else DELAY))
    violated = any(outcome.violations for outcome in outcomes)
    if violated:
        print(f"what to look at: {folder}")
    elif options.folder is None:
        shutil.rmtree(folder)
    return int(violated)


if __name__ == "__main__":
    sys.exit(main())
