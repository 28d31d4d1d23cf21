"""One request is one request on the wire: nobody below the frontier tries again on his own."""


def test_a_request_that_meets_a_broken_connection_is_not_sent_again_behind_the_gate(web, crawl):
    base = web.site("127.0.0.9", {"/robots.txt": web.reply(404), "/page": web.reset})
    report = crawl([f"{base}/page"])  # robots.txt leaves a connection open; the page goes over it
    assert report["outcomes"][f"{base}/page"]["outcome"] == "TryLater"
    assert web.asked(base).count("/page") == 1
