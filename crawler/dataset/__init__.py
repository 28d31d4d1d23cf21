"""Operations on a finished corpus, named as `scrapy dataset` names them. No Scrapy, no Redis."""
