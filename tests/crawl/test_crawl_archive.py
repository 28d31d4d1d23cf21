"""The archive of a real crawl: who was asked, when, by whom, under which licence; and what is left when it expires."""

import json
from datetime import datetime

from warcio.archiveiterator import ArchiveIterator

from crawler.dataset.verify import verify
from crawler.storage.files.place import Place
from tests.support.process import scrapy


def archived(crawl, ending="gz"):
    """Fields and block of each record of the crawl's archive."""
    (path,) = (crawl.folder / "archive").glob(f"*.warc.{ending}")
    with path.open("rb") as file:
        return [
            (record.rec_headers, record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]


def test_a_crawl_archives_who_answered_when_to_whom_and_under_which_licence(crawl, make_site, tmp_path):
    site = make_site(pages=4)
    allowlist = tmp_path / "allow.yaml"
    allowlist.write_text(f'- {{domain: "{site.address}:{site.port}", tier: A, licence: CC-BY-4.0}}\n')
    arguments = {"url": ",".join(site.urls()), "allowlist": str(allowlist)}
    done = crawl.run(arguments, NETWORK_PORTS=site.port, CRAWLER_CONTACT="https://example.org/bot")
    assert done.returncode == 0, done.stderr
    records = archived(crawl)
    assert "operator: https://example.org/bot" in records[0][1].decode()
    exchanges = records[1:]
    assert [fields.get_header("WARC-Type") for fields, _ in exchanges] == ["metadata", "response", "request"] * 4
    for fields, _ in exchanges:
        assert fields.get_header("WARC-IP-Address") == site.address
        assert fields.get_header("X-Crawl-Licence-Tier") == "A"
        assert fields.get_header("X-Crawl-Licence") == "CC-BY-4.0"
    for fields, body in exchanges[::3]:
        fetch = json.loads(body)["fetch"]
        times = [datetime.fromisoformat(fetch[name]) for name in ("leased_at", "sent_at", "first_byte_at")]
        assert len(times) == 3 and datetime.fromisoformat(fetch["answered_at"]) >= times[1]
        assert fetch["attempt"] == 1 and fetch["lease"] and fetch["worker"] and fetch["fetchTimeMs"] >= 0
        assert fields.get_header("WARC-Date") == fetch["first_byte_at"]


def test_archives_of_a_crawl_expire_by_command_and_everybody_says_so(crawl, make_site):
    site = make_site(pages=3)
    assert crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, ARCHIVE_COMPRESSION="zstd").returncode == 0
    assert verify(Place(str(crawl.folder))).damage == []
    tiny = "0.0000001"  # days: less than the command itself takes to start
    dry = scrapy("dataset", "expire", "--older-than", tiny, "--dry-run", crawl.folder)
    assert dry.returncode == 0 and "would remove 1 archive," in dry.stdout
    assert len(list((crawl.folder / "archive").iterdir())) == 2
    done = scrapy("dataset", "expire", "--older-than", tiny, "--by", "keeper", "--reason", "agreed", crawl.folder)
    assert done.returncode == 0 and "removed 1 archive," in done.stdout
    (line,) = [json.loads(line) for line in (crawl.folder / "expired.jsonl").read_text().splitlines()]
    assert (line["by"], line["reason"], line["documents"]) == ("keeper", "agreed", 3)
    assert list((crawl.folder / "archive").iterdir()) == []
    checked = scrapy("dataset", "verify", crawl.folder)
    assert checked.returncode == 0 and "3 records come from 1 archive that has expired" in checked.stdout
    again = scrapy("crawl", "replay", "-a", f"archive={crawl.folder}/{line['path']}")
    assert again.returncode == 1 and "expired" in again.stderr and "Traceback" not in again.stderr
