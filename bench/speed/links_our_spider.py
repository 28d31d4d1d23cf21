"""Our crawl up to the links, for `bench.speed.links`.

It runs with everything that guards a
crawl (robots.txt and opt-outs, network guard, politeness across workers, leases); what is left out is what comes after
the links: no text, no records.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from crawler.documents.from_response import document_of
from crawler.spiders.corpus import CorpusSpider
from crawler.urls.canonicalize import Address

if TYPE_CHECKING:
    from scrapy.http import Response

LINKS_ONLY = ("parse",)


class OurLinkSpider(CorpusSpider):
    """`CorpusSpider` that settles a page as soon as its links are in the frontier."""

    name = "links-ours"
    custom_settings = {  # noqa: RUF012  # Scrapy's own declaration
        "ITEM_PIPELINES": {},
        "ADDONS": {"crawler.middlewares.addon.GuardAddon": 0},
        "EXTENSIONS": {"crawler.observe.live.extension.ProgressExtension": None},
    }

    async def start(self) -> AsyncIterator[Any]:
        await self.pool.warm_up()
        async for request in super().start():
            yield request

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        lease = response.meta["lease"]
        doc = document_of(response, lease, self.config, await self._scope_for(lease.url))
        doc = await self.pool.run(doc, LINKS_ONLY)
        await self.put_links([Address(name, "") for name in doc.links], lease)
        await self.frontier.settle(lease.token)
        return
        yield  # type: ignore[unreachable]  # makes it a generator

    async def failed(self, failure: Any) -> AsyncIterator[Any]:
        async for doc in super().failed(failure):
            if doc.lease_token is not None:
                await self.frontier.settle(doc.lease_token)
        return
        yield  # type: ignore[unreachable]  # makes it a generator

    def closed(self, reason: str) -> None:  # noqa: ARG002  # Scrapy's signature
        self.pool.close()
