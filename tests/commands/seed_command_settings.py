"""The least a Scrapy project needs for `gristmill seed`: the command's tests need no other room."""

COMMANDS_MODULE = "crawler.commands"
