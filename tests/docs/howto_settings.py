"""The project's settings, for recipes whose sites are on this machine."""

import os

from crawler.settings import *  # noqa: F403  # a settings module is a list of names

NETWORK_ALLOW = "127.0.0.0/8"
NETWORK_PORTS = os.environ["RECIPE_PORTS"]
DOWNLOAD_DELAY = 0.05
FRONTIER_IDLE_SECONDS = 0.5
STAGE_WORKERS = 1
PII_PERSON = "off"  # the language model takes seconds to load, and no recipe is about it
PROGRESS = "off"
