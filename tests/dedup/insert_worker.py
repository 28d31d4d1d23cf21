"""One of several processes that meet the same texts: asks the shared index about each and prints what passed.

Arguments: server URL, crawl id, worker number. Standard input: JSON list of [doc_id, signature in hex, shingles].
"""

import asyncio
import json
import random
import sys

from crawler.config import from_mapping
from crawler.dedup.redis_index import RedisIndex


async def main(url, crawl, worker, texts):
    texts = [(doc_id, bytes.fromhex(signature), shingles) for doc_id, signature, shingles in texts]
    order = list(range(len(texts)))
    random.Random(worker).shuffle(order)
    index = RedisIndex(url, from_mapping({}).dedup, crawl_id=crawl)
    await index.open()
    owners = [f"http://mirror{worker}.example/{number}" for number in order]
    matches = await asyncio.gather(*(index.check(*texts[n], o) for n, o in zip(order, owners, strict=True)))
    await index.close()
    json.dump([number for number, match in zip(order, matches, strict=True) if match is None], sys.stdout)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), json.load(sys.stdin)))
