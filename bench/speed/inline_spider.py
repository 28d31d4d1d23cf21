"""The usual way, for comparison: one Scrapy spider that does everything inline in the reactor.

`scrapy runspider bench/speed/inline_spider.py -a urls=URL[,URL] -a out=FILE.jsonl -a summary=FILE.json -a pii=WHICH`
with WHICH = off, patterns or names. Link extraction, trafilatura, langdetect, rules after Gopher, Presidio (optional),
MinHashLSH in memory, JSON lines: what a typical project has in its first month. Nothing of `crawler/` is used.
"""

from __future__ import annotations

import json
import re
import resource
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import scrapy
import trafilatura
from datasketch import MinHash, MinHashLSH
from langdetect import DetectorFactory, LangDetectException, detect
from scrapy.linkextractors import LinkExtractor

DetectorFactory.seed = 0
STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}
PATTERN_ENTITIES = ["EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "IP_ADDRESS", "US_SSN"]


class InlineSpider(scrapy.Spider):
    name = "inline"
    custom_settings = {  # noqa: RUF012  # Scrapy's own declaration
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, urls: str, out: str, summary: str, pii: str = "off", **kwargs):
        super().__init__(**kwargs)
        self.start_urls = urls.split(",")
        self.hosts = {urlsplit(url).netloc for url in self.start_urls}
        self.out, self.summary, self.pii = Path(out), Path(summary), pii
        self.links = LinkExtractor()
        self.index = MinHashLSH(threshold=0.8, num_perm=112, params=(14, 8))
        self.reasons: Counter[str] = Counter()
        self.pages = 0
        self.started = time.monotonic()
        self.file = self.out.open("w", encoding="utf-8")
        self.analyzer = _analyzer(pii)

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        self.pages += 1
        for link in self.links.extract_links(response):
            if urlsplit(link.url).netloc in self.hosts:
                yield scrapy.Request(link.url)
        reason = self.keep(response)
        self.reasons[reason or "kept"] += 1

    def keep(self, response) -> str | None:
        """Writes the record, or returns why not."""
        text = trafilatura.extract(response.text, url=response.url, include_comments=False) or ""
        words = text.split()
        if len(words) < 150:
            return "too_short"
        try:
            language = detect(text)
        except LangDetectException:
            return "language_unknown"
        if reason := gopher(text, words, language):
            return reason
        if self.analyzer:
            text = self.redact(text)
        signature = minhash(text)
        if self.index.query(signature):
            return "near_duplicate"
        self.index.insert(response.url, signature)
        self.file.write(
            json.dumps({"url": response.url, "language": language, "text": text}, ensure_ascii=False) + "\n"
        )
        return None

    def redact(self, text: str) -> str:
        entities = PATTERN_ENTITIES + (["PERSON"] if self.pii == "names" else [])
        found = self.analyzer.analyze(text=text, language="en", entities=entities, score_threshold=0.4)
        for hit in sorted(found, key=lambda h: h.start, reverse=True):
            text = f"{text[: hit.start]}[{hit.entity_type}]{text[hit.end :]}"
        return text

    def closed(self, reason: str) -> None:  # noqa: ARG002  # Scrapy's signature
        self.file.close()
        own = resource.getrusage(resource.RUSAGE_SELF)
        figures = {
            "pages": self.pages,
            "reasons": dict(self.reasons),
            "seconds": time.monotonic() - self.started,
            "cpu_seconds": own.ru_utime + own.ru_stime,
        }
        self.summary.write_text(json.dumps(figures), "utf-8")


def _analyzer(pii: str):
    if pii == "off":
        return None
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    if pii == "names":
        return AnalyzerEngine()
    import spacy

    engine = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    engine.nlp = {"en": spacy.blank("en")}
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def gopher(text: str, words: list[str], language: str) -> str | None:
    """The rules that everybody copies: length, word length, symbols, bullets, ellipses, stop words, repetition."""
    lines = text.splitlines()
    mean = sum(map(len, words)) / len(words)
    checks = {
        "gopher_word_length": not 3 <= mean <= 10,
        "gopher_symbols": (text.count("#") + text.count("...") + text.count("…")) / len(words) > 0.1,
        "gopher_bullets": sum(line.lstrip().startswith(("-", "•")) for line in lines) / len(lines) > 0.9,
        "gopher_ellipsis": sum(line.rstrip().endswith(("...", "…")) for line in lines) / len(lines) > 0.3,
        "gopher_alpha": sum(any(c.isalpha() for c in w) for w in words) / len(words) < 0.8,
        "gopher_stop_words": language == "en" and len(STOP_WORDS & set(words)) < 2,
        "dup_line_frac": 1 - len(set(lines)) / len(lines) > 0.3,
        "dup_n_gram": _repeated(words, 5) > 0.15,
    }
    return next((name for name, failed in checks.items() if failed), None)


def _repeated(words: list[str], n: int) -> float:
    grams = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    total = sum(len("".join(gram)) * count for gram, count in grams.items())
    again = sum(len("".join(gram)) * count for gram, count in grams.items() if count > 1)
    return again / total if total else 0.0


def minhash(text: str) -> MinHash:
    words = re.findall(r"\w+", text.lower())
    signature = MinHash(num_perm=112)
    for i in range(max(1, len(words) - 4)):
        signature.update(" ".join(words[i : i + 5]).encode())
    return signature
