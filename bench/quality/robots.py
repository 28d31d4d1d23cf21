"""The robots.txt engine: how fast, and where it differs from Protego on 4,231 real files, and why.

python -m bench.quality.robots      two tables; exit code 1 where a difference has no known reason or a limit is not met
"""

from __future__ import annotations

import random
import re
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable

from bench.places import SHARED_DATA
from crawler.policy.robots import parse as robots
from crawler.policy.robots.parse import RobotsFile

BOT = "CorpusBot"
MEBIBYTE = 2**20
REASONS = {
    "index": "Protego reads `Allow: /a/index.html` as permission for `/a/` as well (Google's habit, not in the RFC)",
    "clumsy": "a rule or user-agent line that is misspelt, or lacks its colon or leading slash, counts here",
    "record": "a record that is no rule stands between user-agent lines; the group goes on (RFC 9309 section 2.2.4)",
    "meant": "a user-agent line may have meant everybody or us (`: *`), though the RFC reads no such name in it",
}
"""Why the engine may be stricter than Protego. It is never more permissive."""


def paths_of(file: RobotsFile) -> list[str]:
    """The front page and, for the first rules of the first groups, a path that the rule's pattern would match."""
    paths = {"/", "/index.html"}
    for group in file.groups[:20]:
        for rule in group.rules[:10]:
            path = rule.pattern.decode("utf-8", "replace").replace("*", "x").rstrip("$")
            if path.startswith("/") and not any(c.isspace() or c == "#" for c in path):
                paths.add(path)
    return sorted(paths)[:25]


def reason_of(body: bytes, path: str, line: int) -> str:
    """Which of REASONS explains that the rule in this line disallows a path that Protego allows; "" for none."""
    if path.endswith("/") and f"{path}index.htm".encode() in body:
        return "index"
    lines = [text.split(b"#")[0] for text in re.split(rb"\r\n|\r|\n", body.removeprefix(b"\xef\xbb\xbf"))]
    key, colon, value = lines[line - 1].partition(b":")
    if not colon or key.strip().lower() != b"disallow" or not value.strip().startswith((b"/", b"*")):
        return "clumsy"
    between = False
    for previous in reversed(lines[: line - 1]):
        key, colon, agent = previous.partition(b":")
        name = key.strip().lower()
        if name == b"user-agent" and agent.strip()[:1] == b":":
            return "meant"
        if name == b"user-agent" and between:
            return "record"
        between |= bool(colon) and name not in {b"allow", b"disallow", b"user-agent"}
        if name != b"user-agent" and name.replace(b" ", b"-").startswith(b"user"):
            return "clumsy"
    return ""


def differences(files: list[tuple[str, bytes]]) -> tuple[int, Counter[str], list[tuple[str, str]]]:
    """(decisions compared, stricter ones by reason, differences without a reason as (file, path))."""
    from protego import Protego

    compared, known, unexplained = 0, Counter[str](), []
    for name, body in files:
        file = robots.parse(body)
        oracle = Protego.parse(body.decode("utf-8-sig", "replace"))
        for path in paths_of(file):
            compared += 1
            ours = file.decide(BOT, path)
            if ours.allowed == oracle.can_fetch(f"http://host{path}", BOT):
                continue
            reason = "" if ours.allowed else reason_of(body, path, ours.line)
            known[reason] += 1
            if not reason:
                unexplained.append((name, path))
    return compared, known, unexplained


def wild() -> list[tuple[str, bytes]]:
    """The real files as (host, body)."""
    with tarfile.open(SHARED_DATA / "robots-wild.tar.gz") as tar:
        members = [(member.name, tar.extractfile(member)) for member in tar if member.isfile()]
        return [(name.partition("/")[2], file.read()) for name, file in members if file is not None]


def lines(*texts: str) -> bytes:
    return "\n".join(texts).encode()


LARGE: dict[str, tuple[Callable[[], bytes], float]] = {
    "3,000 user-agents, 300 rules for all of them": (
        lambda: lines(*(f"User-agent: bot{n}" for n in range(3_000)), *(f"Disallow: /a{n}/*.html" for n in range(300))),
        0.1,
    ),
    "3,000 user-agents with 300 rules each (15 MB)": (
        lambda: lines(*(f"User-agent: b{n}\n" + "Disallow: /path/to\n" * 300 for n in range(3_000))),
        0.1,
    ),
    "10 MB of random bytes": (lambda: random.Random(1).randbytes(10 * MEBIBYTE), 1.0),
    "10 MB of user-agent lines": (lambda: b"User-agent: a\n" * (10 * MEBIBYTE // 14), 1.0),
    "10 MB in one line": (lambda: b"a" * 10 * MEBIBYTE, 1.0),
    "10 MB of colons": (lambda: b":" * 10 * MEBIBYTE, 1.0),
    "16 KB of wildcards in each of two rules": (
        lambda: b"User-agent: *\n" + (b"Disallow: /" + b"*a" * 8_000 + b"b\n") * 2,
        0.1,
    ),
}
"""What is parsed, and the seconds that it may take with one decision."""


def cost(body: bytes) -> float:
    """CPU seconds to parse a file and decide on one path; the best of three."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        robots.parse(body).decide(BOT, "/a" * 1_000)
        best = min(best, time.process_time() - started)
    return best


def main() -> int:
    failed = 0
    print("| file | ms | limit |\n|---|---|---|")
    for what, (make, limit) in LARGE.items():
        seconds = cost(make())
        failed += seconds > limit
        print(f"| {what} | {seconds * 1000:.1f} | {limit * 1000:.0f} |")
    if not (SHARED_DATA / "robots-wild.tar.gz").exists():
        print("\nno real files to compare: set CRAWLER_SHARED_DATA")
        return 1
    compared, known, unexplained = differences(wild())
    print(f"\n{compared:,} decisions on 4,231 real files, {sum(known.values())} stricter than Protego's:")
    print("\n".join(f"- {count} × {REASONS[reason]}" for reason, count in known.most_common() if reason))
    print(f"- {len(unexplained)} without a reason {unexplained[:5] if unexplained else ''}")
    return 1 if failed or unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
