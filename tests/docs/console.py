"""`gristmill` as the pages write it, run as `scrapy` of the checkout: the one place where the two are mapped.

`gristmill crawl URL… [--out DIR] …` is `scrapy crawl corpus -a url=URL,… -s CORPUS_DIR=DIR …`, and
`gristmill replay ARCHIVE` is `scrapy crawl replay -a archive=ARCHIVE`; every other command has the same words under
both names.
"""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

from scrapy.cmdline import execute

OPTIONS = {"--out": "CORPUS_DIR", "--delay": "DOWNLOAD_DELAY", "--contact": "CRAWLER_CONTACT"}
"""Option of `gristmill crawl` → setting."""


def translated(words: list[str]) -> list[str]:
    """The words behind `scrapy` for the words behind `gristmill`."""
    if words[:1] == ["replay"]:
        return ["crawl", "replay", "-a", f"archive={words[1]}", *_settings(words[2:])]
    urls = [word for word in words if urlsplit(word).scheme in ("http", "https")]
    if words[:1] != ["crawl"] or not urls:
        return words
    rest = [word for word in words[1:] if word not in urls]
    if "--allow-local" in rest:
        rest.remove("--allow-local")
        ports = {str(port) for url in urls if (port := urlsplit(url).port)}
        rest += ["-s", "NETWORK_ALLOW=127.0.0.0/8", "-s", f"NETWORK_PORTS={','.join(sorted(ports))}"]
    return ["crawl", "corpus", "-a", f"url={','.join(urls)}", *_settings(rest)]


def _settings(words: list[str]) -> list[str]:
    """`-s NAME=value` for each option of `OPTIONS` and the word behind it."""
    made: list[str] = []
    left = iter(words)
    for word in left:
        made += ["-s", f"{OPTIONS[word]}={next(left)}"] if word in OPTIONS else [word]
    return made


if __name__ == "__main__":
    execute(["scrapy", *translated(sys.argv[1:])])
