"""One of several processes that meet the same texts: asks the shared index about each and prints what passed.

Arguments: server URL, crawl id, worker number. Standard input: JSON list of [doc_id, signature in hex, shingles].
"""

import asyncio
import json
import random
import sys

from crawler.config import from_mapping
from crawler.pipelines.dedup_redis import RedisIndex


async def main(url, crawl, worker, texts):
    order = list(range(len(texts)))
    random.Random(worker).shuffle(order)
    index = RedisIndex(url, from_mapping({}).dedup, crawl_id=crawl)
    await index.open()
    passed = []
    for number in order:
        doc_id, signature, shingles = texts[number]
        owner = f"http://mirror{worker}.example/{number}"
        exact = await index.check_exact(doc_id, owner)
        near = await index.check_near(bytes.fromhex(signature), shingles, owner)
        passed.append((number, exact is None, near is None))
    await index.close()
    json.dump(passed, sys.stdout)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), json.load(sys.stdin)))
