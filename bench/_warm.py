"""Imported once by the process that warm workers are forked from: one page through all stages loads what loads late."""

from bench._prose import prose
from bench._site import page_html
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain

_page = Document(url="http://localhost/", html=page_html("warm", prose("warm")), content_type="text/html")
Chain(from_mapping({"PII_PERSON": "off", "EXTRACTOR": "resiliparse"})).run(_page)
