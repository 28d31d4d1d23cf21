"""The least a Scrapy project needs for `scrapy seed`: the command's tests need no other room."""

COMMANDS_MODULE = "crawler.commands"
