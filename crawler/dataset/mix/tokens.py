"""Counts the tokens of texts for a mixture: by the tokenizer that a spec names, else by the estimate of the record."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from crawler.dataset.mix.spec import Tokenizer
from crawler.stages.text.words import counts
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import Record

Count = Callable[[Sequence[Record]], list[int]]
"""Tokens of each record."""


def counter(tokenizer: Tokenizer | None) -> tuple[str, Count]:
    """What counts, in words for the manifest, and the function. Raises: StorageError where it cannot be loaded."""
    if tokenizer is None:
        return "token_estimate: four bytes of UTF-8 a token", lambda records: [_estimate(r) for r in records]
    try:
        content = tokenizer.path.read_bytes()
    except OSError as error:
        raise StorageError(
            f"{tokenizer.path}: the tokenizer cannot be read ({error.strerror}); check tokenizer"
        ) from error
    load = _tokenizers if tokenizer.kind == "tokenizers" else _tiktoken
    try:
        count = load(tokenizer, content)
    except ImportError:
        raise StorageError(
            f"{tokenizer.path}: needs {tokenizer.kind}, which is not installed: pip install {tokenizer.kind}"
        ) from None
    except Exception as error:  # these libraries raise whatever their parsers raise
        raise StorageError(f"{tokenizer.path}: is not a tokenizer that {tokenizer.kind} reads ({error})") from error
    return f"{tokenizer.kind}: sha256:{hashlib.sha256(content).hexdigest()}", count


def _estimate(record: Record) -> int:
    known = record.get("token_estimate")
    return known if isinstance(known, int) and known > 0 else counts(record["text"])["token_estimate"]


def _tokenizers(_: Tokenizer, content: bytes) -> Count:
    from tokenizers import Tokenizer as Loaded

    loaded: Any = Loaded.from_str(content.decode())
    loaded.no_truncation()
    loaded.no_padding()

    def count(records: Sequence[Record]) -> list[int]:
        found = loaded.encode_batch_fast([r["text"] for r in records], add_special_tokens=False)
        return [len(each) for each in found]

    return count


def _tiktoken(tokenizer: Tokenizer, content: bytes) -> Count:
    import tiktoken

    lines = (line.split() for line in content.splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding = tiktoken.Encoding(
        tokenizer.path.name, pat_str=tokenizer.pattern, mergeable_ranks=ranks, special_tokens={}
    )
    return lambda records: [len(encoding.encode_ordinary(r["text"])) for r in records]
