"""Stands for OCR: prints the text of a PDF, or does what the first word of that asks for."""

import os
import signal
import sys
import time

import pypdfium2

document = pypdfium2.PdfDocument(sys.argv[1])
text = "\n".join(page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document)
asked = text.split()[0] if len(sys.argv) < 3 else ""
if asked == "FAIL":
    sys.exit("no such language")
if asked == "SLOW":
    if os.fork() == 0:  # a grandchild goes, too
        time.sleep(600)
    time.sleep(600)
if asked == "HUNGRY":
    held = bytearray(2**33)
if asked == "DEADLY":
    os.kill(int(os.environ["OCR_KILLS"]), signal.SIGKILL)
    time.sleep(600)
if asked == "LATIN":
    sys.stdout.buffer.write("Müller, Mühle, Größe".encode("latin-1"))
elif asked != "EMPTY":
    sys.stdout.buffer.write(text.encode())
