"""Table of contents: the way of a page as a list of components, in flow order, with their numbers.

Settings of the project itself (`CORPUS_DIR`, `DOWNLOAD_DELAY`, `LANGUAGES`, …) are declared, documented and checked in
`config/`; `docs/settings.md` lists them. Here stands only what Scrapy needs to find the rooms.
"""

import crawler.loading  # isort: skip  # noqa: F401  # first of all: Ctrl-C while the rest is loaded is one line
from importlib.util import find_spec
from os import environ

from crawler.config.environment import from_environment
from crawler.config.stages import pipeline_numbers
from crawler.runtime import known_settings

BOT_NAME = "corpus"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"

# Which URL next? The frontier owns politeness across all workers; Scrapy's own slots add no delay.
SCHEDULER = "crawler.scheduler.scheduler.Scheduler"
DOWNLOADER = "crawler.downloader.open.OpenDownloader"

# May we? Requests pass from the lowest number to the highest, responses and exceptions the other way. The add-on
# refuses to start where a component of `crawler/middlewares/defaults.py` is missing, disabled or out of order.
ADDONS = {
    "crawler.observe.live.json_log.JsonLogAddon": -1,  # the log as JSON lines, where LOG_JSON is set
    "crawler.middlewares.addon.GuardAddon": 0,
}
DOWNLOADER_MIDDLEWARES = {
    "crawler.middlewares.retry.RetryMiddleware": 50,  # exceptions, last: what nobody else explained is tried later
    "crawler.middlewares.withdrawn.WithdrawnMiddleware": 80,  # requests, first: what was withdrawn from this corpus
    "crawler.middlewares.licence.LicenceMiddleware": 90,  # requests, then: the allowlist still says yes
    "crawler.browser.room.BrowserRoomMiddleware": 95,  # requests: the browser has room for a page of such a domain
    "crawler.middlewares.guard.GuardMiddleware": 100,  # requests, then: URL, identity; exceptions: refused addresses
    "crawler.middlewares.robots.RobotsMiddleware": 200,  # robots.txt and the opt-outs in it
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,  # connect to last byte
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,  # Accept
    "crawler.middlewares.source.EchoMiddleware": 450,  # responses, nearly last: no key of a source in a body
    "crawler.middlewares.limits.DecompressionMiddleware": 500,  # responses, last: bodies bounded after decompression
    "crawler.middlewares.limits.LimitsMiddleware": 600,  # text only
    "crawler.middlewares.conditional.ConditionalMiddleware": 650,  # a page fetched before: only if it has changed
    "crawler.middlewares.optout.OptOutMiddleware": 700,  # opt-outs in headers
    "crawler.middlewares.status.StatusMiddleware": 800,  # no page, no body
    "crawler.middlewares.redirect.RedirectMiddleware": 850,  # responses, first: a redirect is an entry of its own
    "crawler.middlewares.counts.CountsMiddleware": 900,  # counts what was not put back
    "crawler.scheduler.gate.PolitenessGate": 950,  # requests, nearly last: nothing leaves without a turn at its host
    "crawler.middlewares.source.SourceMiddleware": 955,  # JSON and a key for the sources that have one (-a api=)
    "crawler.middlewares.signature.SignatureMiddleware": 960,  # requests, last: signed, where there is a key
}
DOWNLOADER_MIDDLEWARES_BASE: dict[str, int | None] = {}  # Scrapy's defaults: the wanted ones stand in the table above
DOWNLOAD_HANDLERS = {  # http and https with checked addresses; nothing else is fetched
    "http": "crawler.downloader.handler.GuardedDownloadHandler",
    "https": "crawler.downloader.handler.GuardedDownloadHandler",
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
TWISTED_DNS_RESOLVER = "crawler.downloader.resolver.GuardedResolver"
SPIDER_MIDDLEWARES_BASE: dict[str, int | None] = {}  # depth, referer, offsite: the frontier knows better

# Is it worth keeping? One thin adapter a stage, from 100 to 499, in the order of `crawler/config/stages.py`.
ITEM_PIPELINES = {
    "crawler.pipelines.withdrawn.WithdrawnPipeline": 10,  # pages, licences and texts withdrawn from this corpus
    "crawler.pipelines.archive.ArchivePipeline": 50,  # raw exchange, where policy allowed it
    "crawler.pipelines.yields.YieldPipeline": 90,  # domains that suddenly give little text
    **{f"crawler.pipelines.stages.{stage}": number for stage, number in pipeline_numbers().items()},
    "crawler.pipelines.withdrawn.WithdrawnTextPipeline": 495,  # texts once more, behind pipelines of the user's own
    "crawler.pipelines.dedup.ExactDedupPipeline": 500,  # the same normalised text
    "crawler.pipelines.dedup.NearDedupPipeline": 600,  # MinHash, banding, verification
    "crawler.pipelines.dedup.ConfirmPipeline": 690,  # is the text still ours after a restart of the index
    "crawler.pipelines.sharding.ShardingPipeline": 700,  # a line on the disk
    "crawler.pipelines.settlement.Settlement": 800,  # every outcome recorded, every lease acknowledged
}

# What happens around the flow.
EXTENSIONS = {
    "crawler.observe.live.extension.ProgressExtension": 100,  # what a person sees while it works, and the summary
    "crawler.observe.live.counters_pipe.CountersExtension": 105,  # for the supervisor of `gristmill work`
    "crawler.observe.metrics.extension.MetricsExtension": 106,  # Prometheus, where METRICS_PORT is set
    "crawler.observe.live.written.ReportExtension": 110,  # report.html and stats.json beside what was sealed
}
EXTENSIONS_BASE = {  # Scrapy's own without remote control, telnet and throttle, which are off: to load them costs 0.3 s
    "scrapy.extensions.corestats.CoreStats": 0,
    "scrapy.extensions.logcount.LogCount": 0,
    "scrapy.extensions.memusage.MemoryUsage": 0,
    "scrapy.extensions.memdebug.MemoryDebugger": 0,
    "crawler.middlewares.counts.OtherLimits": 0,  # its page count is CountsMiddleware's
    "scrapy.extensions.feedexport.FeedExporter": 0,
    "scrapy.extensions.logstats.LogStats": 0,
    "scrapy.extensions.spiderstate.SpiderState": 0,
}
LOG_FORMATTER = "crawler.observe.live.log_lines.LogLines"  # a failing disk is one sentence, no traceback a page

# Limits and manners: every default below has a test that it is what `docs/policy.md` says.
ROBOTSTXT_OBEY = True  # says what is so; Scrapy's own middleware is replaced by ours
DNS_TIMEOUT = 10  # seconds
DOWNLOAD_TIMEOUT = 30  # seconds, one request from connect to last byte
DOWNLOAD_MAXSIZE = 10 * 2**20  # bytes, on the wire and after decompression
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_VERIFY_CERTIFICATES = True
DOWNLOAD_FAIL_ON_DATALOSS = True  # half a page is no page
REACTOR_THREADPOOL_MAXSIZE = 20  # name look-ups
DEFAULT_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8"}

# What of Scrapy is off: the frontier retries and redirects, nobody logs in, nobody steers a crawl from outside.
TWISTED_REACTOR_ENABLED = True
COOKIES_ENABLED = False
REFERER_ENABLED = False
HTTPPROXY_ENABLED = False  # a proxy would resolve names behind our back
HTTPCACHE_ENABLED = False
RETRY_ENABLED = False
REDIRECT_ENABLED = False
METAREFRESH_ENABLED = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # it runs posted Python

# One document a response: Scrapy starts CONCURRENT_ITEMS tasks for each; 100 were a quarter of the reactor's time.
CONCURRENT_ITEMS = 1

# The faster event loop, where it is installed: a tenth less CPU for a page that has not changed.
ASYNCIO_EVENT_LOOP = "uvloop.Loop" if find_spec("uvloop") else None

LOG_LEVEL = "WARNING"
LOGSTATS_INTERVAL = 0
FEED_EXPORT_ENCODING = "utf-8"
DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"  # a verdict is data, not trouble: it is in rejected/ and in the summary

# The environment comes before this page: CRAWLER_<NAME> sets NAME. (The command line, -s NAME=…, comes before both.)
globals().update(from_environment(environ, known_settings()))
