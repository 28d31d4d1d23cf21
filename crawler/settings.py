"""Table of contents: the way of a page as a list of components, in flow order, with their numbers.

Settings of the project itself (`CORPUS_DIR`, `DOWNLOAD_DELAY`, `LANGUAGES`, …) are declared, documented and checked in
`config.py`; `docs/settings.md` lists them. Here stands only what Scrapy needs to find the rooms.
"""

from importlib.util import find_spec

from crawler.middlewares import defaults as policy

BOT_NAME = "corpus"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"

# Which URL next? The frontier owns politeness across all workers; Scrapy's own slots add no delay.
SCHEDULER = "crawler.scheduler.scheduler.Scheduler"
DOWNLOADER = "crawler.downloader.open.OpenDownloader"

# May we? A missing or disabled compliance component refuses to start.
ADDONS = {"crawler.middlewares.addon.GuardAddon": 0}
DOWNLOADER_MIDDLEWARES = {
    **policy.DOWNLOADER_MIDDLEWARES,
    "crawler.scheduler.gate.PolitenessGate": 1000,  # closest to the wire: nothing leaves without a turn at its host
}
SPIDER_MIDDLEWARES_BASE: dict[str, int | None] = {}  # depth, referer, offsite: the frontier knows better

# Is it worth keeping? One thin adapter a stage, in the order of `crawler.stages.chain.STAGES`.
ITEM_PIPELINES = {
    "crawler.pipelines.withdrawn.WithdrawnPipeline": 10,  # domains and licences withdrawn from this corpus
    "crawler.pipelines.archive.ArchivePipeline": 50,  # raw exchange, where policy allowed it
    "crawler.pipelines.yields.YieldPipeline": 90,  # domains whose text has dried up
    "crawler.pipelines.extraction.ExtractionPipeline": 100,  # main text and metadata
    "crawler.pipelines.language.LanguagePipeline": 200,  # which language, wanted or not
    "crawler.pipelines.quality.QualityPipeline": 300,  # signals, score, rule sets
    "crawler.pipelines.pii.PiiPipeline": 400,  # personal data becomes placeholders
    "crawler.pipelines.contamination.ContaminationPipeline": 450,  # repeats an evaluation set
    "crawler.pipelines.exact.ExactDedupPipeline": 500,  # the same normalised text
    "crawler.pipelines.exact.NearDedupPipeline": 600,  # MinHash, banding, verification
    "crawler.pipelines.exact.ConfirmPipeline": 690,  # is the text still ours after a restart of the index
    "crawler.pipelines.sharding.ShardingPipeline": 700,  # a line on the disk
    "crawler.pipelines.settlement.Settlement": 800,  # every outcome recorded, every lease acknowledged
}

# What happens around the flow.
EXTENSIONS = {
    "crawler.observe.live.extension.ProgressExtension": 100,  # what a person sees while it works, and the summary
}
EXTENSIONS_BASE = {  # Scrapy's own without remote control, telnet and throttle, which are off: to load them costs 0.3 s
    "scrapy.extensions.corestats.CoreStats": 0,
    "scrapy.extensions.logcount.LogCount": 0,
    "scrapy.extensions.memusage.MemoryUsage": 0,
    "scrapy.extensions.memdebug.MemoryDebugger": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.feedexport.FeedExporter": 0,
    "scrapy.extensions.logstats.LogStats": 0,
    "scrapy.extensions.spiderstate.SpiderState": 0,
}

# Limits and manners: every default below has a test that it is what `docs/policy.md` says.
for _name, _value in policy.SETTINGS.items():
    globals()[_name] = _value

# One document a response: Scrapy starts CONCURRENT_ITEMS tasks for each; 100 were a quarter of the reactor's time.
CONCURRENT_ITEMS = 1

# The faster event loop, where it is installed: a tenth less CPU for a page that has not changed.
ASYNCIO_EVENT_LOOP = "uvloop.Loop" if find_spec("uvloop") else None

LOG_LEVEL = "WARNING"
LOGSTATS_INTERVAL = 0
FEED_EXPORT_ENCODING = "utf-8"
DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"  # a verdict is data, not trouble: it is in rejected/ and in the summary
