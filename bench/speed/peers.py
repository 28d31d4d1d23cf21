"""The stages of two peers on pages in memory: CPU milliseconds a page, each in a process of its own.

`recipe`: what most projects write: trafilatura with metadata, langdetect, datasketch's MinHash of 128 permutations in
an LSH index. `datatrove`: trafilatura as its FineWeb example asks for it, its filters of Gopher, C4 and FineWeb, and
the signature of its MinHash; no process is forked for a page, and no language is identified. A page that a step gives
up costs the later ones nothing, as with ours.
"""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

WARM = 3
"""Pages before which nothing is counted: models are loaded by the first."""


def costs(pages: list[str]) -> dict[str, float]:
    """CPU seconds a page by peer. Their processes start afresh: nothing of ours is loaded, or replaced, in them."""
    found = {}
    for peer in (recipe, datatrove):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            found[peer.__name__] = process.submit(_seconds, peer, pages).result()
    return found


def _seconds(make: Callable[[], Callable[[str], object]], pages: list[str]) -> float:
    judge = make()
    for html in pages[:WARM]:
        judge(html)
    start = time.process_time()
    for html in pages:
        judge(html)
    return (time.process_time() - start) / len(pages)


def recipe() -> Callable[[str], object]:
    """Text and metadata, language, near duplicates."""
    import trafilatura
    from datasketch import MinHash, MinHashLSH
    from langdetect import DetectorFactory, LangDetectException, detect

    DetectorFactory.seed = 0
    index, number = MinHashLSH(threshold=0.8, num_perm=128), iter(range(10**9))

    def judge(html: str) -> object:
        found = trafilatura.bare_extraction(html, with_metadata=True)
        text = found.text if found is not None else ""
        if not text or len(words := re.findall(r"\w+", text.lower())) < 5:
            return None
        try:
            language = detect(text)
        except LangDetectException:
            return None
        signature = MinHash(num_perm=128)
        signature.update_batch([" ".join(words[i : i + 5]).encode() for i in range(len(words) - 4)])
        if not index.query(signature):
            index.insert(str(next(number)), signature)
        return language

    return judge


def datatrove() -> Callable[[str], object]:
    """The filters in the order of FineWeb's example, then the signature."""
    import xxhash
    from datatrove.data import Document
    from datatrove.pipeline.dedup.minhash import MinhashDedupSignature
    from datatrove.pipeline.extractors import Trafilatura
    from datatrove.pipeline.filters import (
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
        GopherRepetitionFilter,
    )

    extractor, signatures = Trafilatura(favour_precision=True), MinhashDedupSignature(".")
    signatures._hash_func = lambda text: xxhash.xxh64_intdigest(
        text.encode()
    )  # its own gives text, which xxhash refuses
    filters = (
        GopherRepetitionFilter(), GopherQualityFilter(), C4QualityFilter(filter_no_terminal_punct=False),
        FineWebQualityFilter(),
    )  # fmt: skip

    def judge(html: str) -> object:
        doc = Document(text=extractor.extract(html) or "", id="0")
        if not doc.text or any(one.filter(doc) is not True for one in filters):
            return None
        return signatures.get_signature(signatures.get_shingles(doc.text))

    return judge
