"""Operations on a finished corpus, named as `gristmill dataset` names them. No Scrapy, no Redis."""
