"""One module an operation of `scrapy dataset` and `scrapy frontier`: options in, sentences out."""
