"""Every project setting: declared once, read once into frozen typed objects, all problems reported together."""

from crawler.config.config import SECTIONS, Config, declared, from_mapping, load, sections
from crawler.config.crawl import CrawlConfig
from crawler.config.declare import ConfigError, Getter, setting
from crawler.config.documents import DocumentsConfig
from crawler.config.frontier import FrontierConfig
from crawler.config.language import LanguageConfig
from crawler.config.policy import PolicyConfig
from crawler.config.stages import Column, Stage
from crawler.config.storage import DedupConfig, StorageConfig
from crawler.config.text import ClassifyConfig, DecontaminationConfig, ExtractionConfig, PiiConfig, QualityConfig

__all__ = [
    "SECTIONS",
    "ClassifyConfig",
    "Column",
    "Config",
    "ConfigError",
    "CrawlConfig",
    "DecontaminationConfig",
    "DedupConfig",
    "DocumentsConfig",
    "ExtractionConfig",
    "FrontierConfig",
    "Getter",
    "LanguageConfig",
    "PiiConfig",
    "PolicyConfig",
    "QualityConfig",
    "Stage",
    "StorageConfig",
    "declared",
    "from_mapping",
    "load",
    "sections",
    "setting",
]
