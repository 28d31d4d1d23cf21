"""Path patterns of the allowlist, matched against `path?query` for every link: prefixes with `*` and a closing `$`.

The same language as robots.txt (RFC 9309 2.2.3), so people know it. Matching is linear in the path: no regular
expressions, no backtracking.
"""

from __future__ import annotations

from crawler.policy.glob import glob_matches

MAX_PATTERN_LENGTH = 1000
MAX_WILDCARDS = 16


def matches(pattern: str, path_and_query: str) -> bool:
    """True where the pattern matches from the start. `/docs/` is a prefix; `*` is any run; a closing `$` the end."""
    if "*" not in pattern and not pattern.endswith("$"):
        return path_and_query.startswith(pattern)
    return glob_matches(pattern.removesuffix("$").split("*"), path_and_query, anchored=pattern.endswith("$"))


def complaint(pattern: str) -> str:
    """Why a pattern is unusable ("expected …"), or empty."""
    if not pattern.startswith(("/", "*")):
        return "expected a path that starts with '/' such as /docs/ or /blog/*/comments"
    if any(c.isspace() or ord(c) < 0x20 for c in pattern):
        return "expected no blanks in a path: write %20"
    if len(pattern) > MAX_PATTERN_LENGTH or pattern.count("*") > MAX_WILDCARDS:
        return f"expected at most {MAX_PATTERN_LENGTH} characters and {MAX_WILDCARDS} stars"
    return ""


def literal_start(pattern: str) -> str:
    """The folder every match lies in: `/docs/` of `/docs/*/index.html`, `/docs/` of `/docs/in`."""
    head = pattern.partition("*")[0].removesuffix("$")
    return head[: head.rfind("/") + 1] or "/"
