"""A worker that writes until it is killed: prints the number of each record after the commit that covers it."""

import sys

from crawler.config import from_mapping
from crawler.document import Document, Exchange
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.records import record_of

folder, worker = sys.argv[1:3]
corpus = Corpus(
    from_mapping({"CORPUS_DIR": folder, "WORKER_ID": worker, "SHARD_MAX_BYTES": 20_000, "ARCHIVE_MAX_BYTES": 5_000})
)
corpus.open()
for number in range(100_000):
    url = f"http://a.test/{worker}/{number}"
    place = corpus.archive(Exchange("GET", url, 200, [], [(b"Content-Type", b"text/html")], b"<p>%d" % number))
    doc = Document(url=url, canonical_url=url, domain="a.test", text="x" * 300, crawl_id="crawl")
    doc.warc_file, doc.warc_record_id, doc.warc_offset = place.file, place.record_id, place.offset
    corpus.keep(record_of(doc))
    if number % 3 == 0:
        corpus.commit()
        print(number, flush=True)
