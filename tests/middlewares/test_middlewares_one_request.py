"""One request is one request on the wire: nobody below the frontier tries again on his own."""


def test_a_request_that_meets_a_broken_connection_is_not_sent_again_behind_the_gate(web, crawl):
    base = web.site("127.0.0.9", {"/robots.txt": web.reply(404), "/page": web.reset})
    report = crawl([f"{base}/page"])  # robots.txt leaves a connection open; the page goes over it
    assert report["outcomes"][f"{base}/page"]["outcome"] == "TryLater"
    assert web.asked(base).count("/page") == 1


def test_the_moment_of_sending_is_that_of_the_wire_not_of_the_queue(web, crawl):
    base = web.site("127.0.0.10", {"/robots.txt": web.reply(404), "/page?a=1": web.reply()})
    report = crawl([f"{base}/page?a=1", "http://127.0.0.11:1/refused"], NETWORK_PORTS=f"{web.port},1")
    assert report["sent"] == [f"{base}/page?a=1"], "sent means written to a connection"
