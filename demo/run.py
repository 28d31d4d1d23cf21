"""What `make demo` and `gristmill demo` run: serve the demo web, crawl it with the real command, stop the server.

`python -m demo.run [--corpus demo-corpus] [--resume] [--second] [scrapy arguments …]`. Starts from an empty output
folder unless `--resume` is given. With `--second` the web changes afterwards (`demo/second/`), and the same command
with RECRAWL on fetches it once more (`make demo-second`). The exit code is that of the crawl, or 1 where a page did
not end as its file declares.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from crawler.browser.find import HOW_TO, browser_path
from crawler.config.browser import BrowserConfig
from crawler.document import Reason
from crawler.loading import program
from crawler.observe.report.terminal import called

from . import again
from .expectations import needs_browser
from .outputs import CorpusRecords, read_corpus
from .pages import load_changes, load_second, load_web
from .render import Web
from .scripted import CAPTURED, SELECTOR
from .serve import bind
from .verdicts import leaked_texts, wrong_fates, wrong_groups, wrong_texts

CORPUS = Path("demo-corpus")
"""In the folder where the demo is called."""
PORT = 8790  # preferred, so that URLs stay the same from run to run
START_SECONDS = 20.0
STOP_SECONDS = 5.0
DELAY_SECONDS = 0.2
AGAIN = ["-s", "RECRAWL=1", "-s", "RECRAWL_INTERVAL_SECONDS=0"]
"""What the same command needs to be a second run."""


class DemoError(RuntimeError):
    """The demo cannot go on; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Served:
    """A running demo server."""

    web: Web
    access_log: Path
    pid: int
    change: Callable[[], Web]
    """Brings the second generation, and answers it once it is served."""

    @property
    def ports(self) -> list[int]:
        """Every port the demo web listens on."""
        return sorted({port for base in self.web.bases.values() if (port := urlsplit(base).port)})


@contextmanager
def served(folder: Path, port: int = 0, draws: bool | None = None) -> Iterator[Served]:
    """Run `demo.serve` in a subprocess; its access log is `folder/access.jsonl`. Stops it by its pid.

    port 0 chooses a free one. draws: has the crawl a browser? None = where one is found.
    Raises: DemoError where the server does not start.
    """
    draws = draws_pages([]) if draws is None else draws
    ready, log = folder / "ready.json", folder / "access.jsonl"
    ready.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        f"{__package__}.serve",
        "--port",
        str(port),
        "--log",
        str(log),
        "--ready",
        str(ready),
    ]
    command.append("--until-stdin-closes")
    server = subprocess.Popen(command, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)  # noqa: S603
    try:
        web = Web(load_web(), _wait_for_bases(server, ready), draws)
        yield Served(web, log, server.pid, lambda: _changed(server, ready, web))
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        if server.stdin:
            server.stdin.close()


def _changed(server: subprocess.Popen[bytes], ready: Path, web: Web) -> Web:
    assert server.stdin is not None
    server.stdin.write(b"second\n")
    server.stdin.flush()
    _wait_for(server, ready.with_name(ready.name + ".second"))
    return replace(web, sites=load_second())


def _wait_for_bases(server: subprocess.Popen[bytes], ready: Path) -> Mapping[str, str]:
    _wait_for(server, ready)
    bases: dict[str, str] = json.loads(ready.read_text("utf-8"))
    return bases


def _wait_for(server: subprocess.Popen[bytes], file: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not file.exists():
        if server.poll() is not None:
            raise DemoError(
                f"the demo server ended with code {server.returncode} before it listened; see the lines above"
            )
        if time.monotonic() > deadline:
            raise DemoError(f"the demo server did not listen within {START_SECONDS:.0f} s")
        time.sleep(0.02)  # polling the file the server writes last


def crawl_command(
    served: Served, seeds: Path, corpus: Path, extra: list[str], delay: float = DELAY_SECONDS
) -> list[str]:
    """The command line of the crawl of the demo web; writes its seed file and its allowlist."""
    web = served.web
    seeds.write_text("".join(f"{web.bases[s.name]}/\n" for s in web.sites.values() if s.entry == "seed"), "utf-8")
    sitemaps = ",".join(f"{web.bases[s.name]}/sitemap.xml" for s in web.sites.values() if s.entry == "sitemap")
    settings = {
        "CORPUS_DIR": str(corpus),
        "NETWORK_ALLOW": "127.0.0.0/8",
        "NETWORK_PORTS": ",".join(map(str, served.ports)),
        "DOWNLOAD_DELAY": str(delay),
        "RETRY_TIMES": "2",
        "FRONTIER_RETRY_BACKOFF_SECONDS": "0.5",  # the page that always fails must not be what the demo waits for
    }
    command = [sys.executable, "-m", "crawler.commands.gristmill", "crawl", "corpus"]
    command += [
        "-a",
        f"seeds={seeds}",
        "-a",
        f"sitemap={sitemaps}",
        "-a",
        f"allowlist={_allowlist(web, seeds.with_name('allowlist.yaml'))}",
    ]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    return command + extra


def _allowlist(web: Web, file: Path) -> Path:
    """The sites whose pages are drawn by a script: what to wait for, and which of their data are the text."""
    sites = [site for site in web.sites.values() if any(page.script for page in site.pages.values())]
    entries = [
        {"domain": urlsplit(web.bases[site.name]).netloc, "tier": "A", "licence": "CC0-1.0", "discovery": "links"}
        | {"js_wait_selector": SELECTOR, "js_capture": [CAPTURED]}
        for site in sites
    ]
    file.write_text(json.dumps(entries, indent=1) + "\n", "utf-8")  # JSON is YAML
    return file


def draws_pages(extra: list[str]) -> bool:
    """True where the crawl has a browser for pages that a script draws. extra: `-s NAME=VALUE` of the command line."""
    given = dict(word.partition("=")[::2] for flag, word in pairwise(extra) if flag in {"-s", "--set"})
    path = given.get("BROWSER_PATH") or None
    return given.get("JS_MODE") != "never" and browser_path(BrowserConfig(path=path)) is not None


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m demo.run", description="Crawl the demo web.")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="output folder")
    declare(parser)
    options, extra = parser.parse_known_args(arguments)
    return run(options.corpus, extra, twice=options.second, resume=options.resume)


def declare(parser: argparse.ArgumentParser) -> None:
    """The options that `gristmill demo` has, too."""
    parser.add_argument("--second", action="store_true", help="change the web afterwards and crawl it again")
    parser.add_argument("--resume", action="store_true", help="go on with what the folder holds")


def run(folder: Path, extra: list[str], *, twice: bool = False, resume: bool = False) -> int:
    """Crawl the demo web into a folder. extra: words for the crawl. Returns the exit code.

    Raises: DemoError where the folder holds something else, or the server does not start.
    """
    corpus = folder.resolve()
    if not resume:
        remove_corpus(corpus)
    with tempfile.TemporaryDirectory(prefix="demo-web-") as name, _served(Path(name), extra) as server:
        ports = ", ".join(map(str, server.ports))
        _say(f"The demo web: {len(server.web.pages())} pages on {len(server.web.bases)} sites, port {ports}.")
        if not server.web.draws:
            _say(without_browser(server.web))
        code = _run(crawl_command(server, Path(name) / "seeds.txt", corpus, extra))
        code = code or report(server.web, corpus)
        if twice and not code:
            code = second(server, Path(name) / "seeds.txt", corpus, extra)
    if not code:
        _say(f"The same crawl command again, with the demo web up: {resume_command(corpus)}")
        _say(f"Look at it in a browser: {to_explore(corpus)}")
    return code


def _served(folder: Path, extra: list[str]) -> AbstractContextManager[Served]:
    return served(folder, preferred_port(), draws_pages(extra))


def without_browser(web: Web) -> str:
    """What becomes of the pages that only a script shows."""
    pages = sum(needs_browser(page) for page in web.pages())
    return f"No browser draws the {pages} pages that need one; they are rejected for want of text ({HOW_TO})."


def to_explore(corpus: Path) -> str:
    """The command that shows the corpus, to be typed where the demo was."""
    return shlex.join([called(), "explore", os.path.relpath(corpus)])


def second(server: Served, seeds: Path, corpus: Path, extra: list[str]) -> int:
    """Change the web, crawl it again, and say whether every page ended as `demo/second/` declares; 0 where all did."""
    changed = server.change()
    _say(f"The second generation: {len(load_changes())} pages are new or different. The same command, with RECRAWL=1:")
    command = crawl_command(server, seeds, corpus, [*AGAIN, *extra])
    code = _run(command)
    problems = again.problems(changed, read_corpus(corpus))
    for problem in problems:
        _say(f"not as declared: {problem}")
    if not problems:
        _say("Every page ended as its file in demo/second/ declares, all others as they were.")
    return code or (1 if problems else 0)


def remove_corpus(folder: Path) -> None:
    """Empty the output folder of an earlier demo, which is called demo-corpus.

    Raises: DemoError where the folder holds something else, or another corpus.
    """
    if not folder.exists() or not any(folder.iterdir()):
        return
    if folder.name != CORPUS.name:
        raise DemoError(f"{folder} is not empty: choose another folder, or remove it, if it is of an earlier demo")
    if not (folder / "manifest.json").exists():
        raise DemoError(
            f"{folder} is not empty and holds no manifest.json, so it is not a corpus: choose another folder"
        )
    shutil.rmtree(folder)


def preferred_port() -> int:
    """`PORT` where it is free on every address of the demo web, else 0."""
    try:
        servers = bind(load_web(), PORT)
    except OSError:
        return 0
    for server in servers:
        server.server_close()
    return PORT


def report(web: Web, corpus: Path) -> int:
    """Say whether every page ended as its file in `demo/sites/` declares; 0 where all did."""
    records = read_corpus(corpus)
    checks = (wrong_fates(web, records), wrong_groups(web, records), wrong_texts(web, records), leaked_texts(records))
    problems = [problem for check in checks for problem in check]
    for problem in problems:
        _say(f"not as declared: {problem}")
    if not problems:
        _say(tally(web, records))
    return 1 if problems else 0


def tally(web: Web, records: CorpusRecords) -> str:
    """How the pages of the demo web add up: the numbers of the summary, and the pages that have no record."""
    urls = {web.url(page.path, page.site) for page in web.pages()}
    kept = [record for record in records.kept if record["canonical_url"] in urls]
    others = {r["canonical_url"]: r["reason"] for r in records.rejected if r["canonical_url"] in urls}  # its latest one
    held = sum(Reason.holds(reason) for reason in others.values())
    return (
        f"All {len(urls)} pages ended as their files in demo/sites/ declare: {len(kept)} kept, {len(others) - held} "
        f"rejected, {held} on hold, and {len(urls) - len(kept) - len(others)} that a crawler must not even ask for."
    )


def resume_command(corpus: Path) -> str:
    """What runs the same crawl command again: the demo web is up only while the demo runs."""
    installed = program() == "gristmill"
    elsewhere = ["--out" if installed else "--corpus", os.path.relpath(corpus)]
    arguments = shlex.join(["--resume", *(elsewhere if corpus != CORPUS.resolve() else [])])
    return f"{called()} demo {arguments}" if installed else f"make demo ARGS={shlex.quote(arguments)}"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _environment() -> dict[str, str]:
    """For a process that finds the modules which this one has found."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _run(command: list[str]) -> int:
    """Run to the end; Ctrl-C reaches the crawl itself, which stops in good order."""
    crawl = subprocess.Popen(command, env=_environment())  # noqa: S603
    while True:
        try:
            return crawl.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DemoError as error:
        sys.exit(f"demo: {error}")
