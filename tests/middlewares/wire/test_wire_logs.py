"""What a site says ends up in logs and records: as text that does nothing, and without anybody's password."""

from __future__ import annotations

import json
import re

from tests.hostile.hostile_pages import article, html, page
from tests.middlewares.wire.policy_cases import robots, to
from tests.support.corpus_crawl import crawl
from tests.support.loopback_web import Answer, PolicyWeb

ESC = "\x1b[31mred\x07"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


def test_control_characters_and_user_information_reach_neither_log_nor_record(tmp_path):
    license = f"License: http://user:hunter2@127.5.0.9:1/{ESC}\nUser-agent: *\nAllow: /\n"
    with PolicyWeb() as web:
        pages = {
            "/header": Answer(headers=(("X-Robots-Tag", f"noai{ESC}, noai"),)),
            "/meta": page(html(article("meta"), head=f'<meta name="robots" content="noai, {ESC}">')),
            "/type": Answer(body=b"x", content_type=f"text/{ESC}"),
            "/coding": Answer(body=b"x", headers=(("Content-Encoding", ESC),)),
            "/redirect": to(f"http://user:hunter2@127.200.0.1:{web.port}/{ESC}"),
            "/away": to("ftp://user:hunter2@127.0.0.1/x"),
            "/link": page(html(article("link") + f'<a href="http://user:hunter2@127.5.0.1:{web.port}/p">p</a>')),
            "/status": Answer(status=418, headers=(("X-Odd", ESC),)),
        }
        base = web.site("127.5.0.1", pages)
        rules = f"User-agent: *\nDisallow: /page # {ESC}\nDisallow: /{ESC}\n"
        other = web.site("127.5.0.2", {**robots(rules), "/page": page(b"x")})
        third = web.site("127.5.0.3", {**robots(license), "/page": page(b"x")})
        seeds = [*(base + path for path in pages), f"{other}/page", f"{third}/page"]
        done = crawl(tmp_path / "corpus", seeds, web.port)
    assert done.returncode == 0, done.log[-3000:]
    assert set(done.kept) | set(done.rejected) >= set(seeds)
    assert [line for line in done.log.split("\n") if CONTROL.search(line)] == []
    records = json.dumps([*done.kept.values(), *done.rejected.values()])
    assert re.findall(r"\\u00(?:0[0-8b-f]|1.|7f|8.|9.)", records) == []
    assert "hunter2" not in done.log
    assert "hunter2" not in records
