"""Language models as tools on a finished corpus: judged, costed, marked. Nothing here is needed for a crawl."""
