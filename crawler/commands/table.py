"""Which commands there are, by task, with the line that the help shows: the same under `gristmill` and under `scrapy`.

Each is the module of its name in this package, with a class `Command`.
"""

from __future__ import annotations

from collections.abc import Mapping

TASKS: Mapping[str, Mapping[str, str]] = {
    "Begin here": {
        "demo": "Crawl the built-in demo web: a corpus in a few minutes",
        "crawl": "Crawl a site into a corpus; the same command continues",
        "explore": "Look at a corpus in a browser, each text beside its page",
    },
    "Ask before you crawl": {
        "optout": "May a page be fetched and kept, and who says so?",
        "text": "Print what a crawl would keep of a page, and why not",
        "fetch": "Print a page as the crawl would get it, if allowed",
        "view": "Open a page in a browser as the crawl would get it, if allowed",
        "shell": "A console that fetches pages as the crawl would, if allowed",
        "botkey": "Make the key that signs requests; publish and check it",
    },
    "Crawl with many workers": {
        "work": "Crawl with several workers on this machine",
        "seed": "Put URLs, sitemaps or an allowlist into a frontier",
        "frontier": "Look after a running crawl: status, pause, resume, requeue, …",
        "plan": "Crawls, limits, gates and what follows, from one file",
    },
    "See what you have": {
        "report": "What is in a corpus: kept, rejected and why, domains, samples",
        "diagnose": "Why pages are not kept, and which threshold rejects most",
        "quarantine": "Domains that suddenly give far less text, and their release",
    },
    "Work on a corpus": {
        "dataset": "Check, select, mix, export, withdraw, query, compare, …",
        "replay": "Judge archived pages again, without a network",
        "stream": "Send a corpus and its changes to Redis Streams or Kafka",
        "classify": "Learn from judged texts which ones are worth keeping",
        "llm": "Ask a language model about the pages, within a budget",
    },
    "Settings": {
        "settings": "Print the value of a setting",
    },
}

LINES: Mapping[str, str] = {name: line for commands in TASKS.values() for name, line in commands.items()}
"""The line of the help, by command."""
