"""Transcribes a corpus, writing after each file: `CORPUS COMMAND`. The program may kill this process."""

import os
import sys

from crawler.config import from_mapping
from crawler.dataset import transcribe
from crawler.dataset.program import Program
from crawler.storage.files.place import Place

transcribe.EVERY_SECONDS = -1.0
os.environ["OCR_KILLS"] = str(os.getpid())
work = transcribe.Transcription(
    Place(sys.argv[1]),
    "ocr",
    Program(sys.argv[2]),
    transcribe.Wanted(),
    from_mapping({"CORPUS_DIR": sys.argv[1]}),
    1.8e9,
)
print(work.run().rows)
