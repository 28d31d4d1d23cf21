"""An allowlist entry that names no sitemap: what the crawl says where its list of pages cannot be had."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.support.site import Site


@dataclass
class Guessed(Site):
    """A site of which nobody has said where its list is: `usual` answers at /sitemap.xml, `robots` is its file."""

    usual: tuple[int, bytes] = (404, b"")
    robots: str = ""

    def answer(self, path: str) -> tuple[int, bytes]:
        listed = f"<urlset><url><loc>{self.url(0)}</loc></url></urlset>".encode()
        index = f"<sitemapindex><sitemap><loc>{self.base}/broken.xml</loc></sitemap></sitemapindex>"
        answers = {
            "/sitemap.xml": (200, listed) if self.usual[0] == 200 and not self.usual[1] else self.usual,
            "/other.xml": (200, listed),
            "/parts.xml": (200, index.encode()),
            "/broken.xml": (500, b""),
            "/robots.txt": (200, self.robots.replace("BASE", self.base).encode()),
        }
        return answers.get(path) or super().answer(path)


TROUBLE = "(the allowlist names no sitemap of this domain, and robots.txt no other)"


@pytest.mark.parametrize(
    ("usual", "robots", "code", "said", "told"),
    [
        ((200, b""), "", 0, "", ""),
        ((500, b""), "", 1, f"/sitemap.xml: http_error, HTTP 500 {TROUBLE}", ""),
        ((200, b"<urlset><"), "", 1, "/sitemap.xml: line 1: broken XML, read as far as it goes:", ""),
        ((500, b""), "Sitemap: BASE/other.xml", 0, "", "/sitemap.xml: http_error, HTTP 500"),
        ((500, b""), "Sitemap: BASE/sitemap.xml", 1, f"/sitemap.xml: http_error, HTTP 500 {TROUBLE}", ""),
        ((404, b""), "", 0, "", f"/sitemap.xml: gone, HTTP 404 {TROUBLE}"),
        ((403, b""), "", 0, "", f"/sitemap.xml: access_denied, HTTP 403 {TROUBLE}"),
        ((200, b"<!doctype html><p>Welcome"), "", 0, "", f"/sitemap.xml: an HTML page, expected a sitemap {TROUBLE}"),
        ((404, b""), "Sitemap: BASE/other.xml", 0, "", ""),
        ((404, b""), "Sitemap: BASE/parts.xml", 0, "", "/broken.xml: http_error, HTTP 500"),
    ],
)
def test_a_guessed_sitemap_in_trouble_fails_the_crawl_and_other_lists_are_told_of(
    crawl, tmp_path, usual, robots, code, said, told
):
    site = Guessed(pages=1, usual=usual, robots=robots)
    site.start()
    authority = f"127.0.0.1:{site.port}"
    (tmp_path / "allow.yaml").write_text(f'- {{domain: "{authority}", tier: A, licence: CC0-1.0}}\n')
    try:
        settings = {"PROGRESS": "auto", "RETRY_TIMES": 0, "DOWNLOAD_DELAY": 0, "NETWORK_PORTS": site.port}
        done = crawl.run({"allowlist": str(tmp_path / "allow.yaml")}, **settings)
    finally:
        site.stop()
    assert done.returncode == code, done.stderr
    failure = "error: a requested sitemap could not be read:"
    summary = " ".join(done.stdout.split())
    assert (f"{failure}\n  http://{authority}{said}" in done.stderr) == bool(said), done.stderr
    assert (f"Sitemaps that brought no pages http://{authority}{told}" in summary) == bool(told), done.stdout
    assert ("Sitemaps that brought no pages" in summary) == bool(told), done.stdout
