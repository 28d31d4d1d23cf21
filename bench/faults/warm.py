"""Imported once by the process that warm workers are forked from: one page through all stages loads what loads late."""

from bench.web.known_site import page_html
from bench.web.prose import prose
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain

_page = Document(url="http://localhost/", html=page_html("warm", prose("warm")), content_type="text/html")
Chain(from_mapping({"PII_PERSON": "off", "EXTRACTOR": "resiliparse"})).run(_page)
