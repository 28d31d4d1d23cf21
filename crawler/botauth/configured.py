"""From settings to a signer, and what is wrong where there is none: read where requests are made, nowhere else."""

from __future__ import annotations

from collections.abc import Callable

from crawler.botauth.key import Key, KeyFileError, read_key
from crawler.botauth.request import RequestSigner
from crawler.config import ConfigError
from crawler.config.signature import WELL_KNOWN, SignatureConfig


def signing_key(config: SignatureConfig) -> Key:
    """The key in use. Raises: ConfigError where none is set, or its file is unusable."""
    if config.key_file is None:
        raise ConfigError(["BOT_SIGNATURE_KEY_FILE is not set: gristmill botkey new FILE makes a key"])
    try:
        return read_key(config.key_file)
    except KeyFileError as error:
        raise ConfigError([f"BOT_SIGNATURE_KEY_FILE={config.key_file!r}: the file {error}"]) from None


def agent_of(config: SignatureConfig) -> str:
    """The address of the directory. Raises: ConfigError where none is set."""
    if config.agent is None:
        example = f"https://bot.example.org{WELL_KNOWN}"
        raise ConfigError([f"BOT_SIGNATURE_AGENT is not set: give the URL of the published key, such as {example}"])
    return config.agent


def is_asked_for(config: SignatureConfig) -> bool:
    """True where a setting says that requests are to be signed."""
    return config.key_file is not None or config.agent is not None


def signer_of(config: SignatureConfig, clock: Callable[[], float]) -> RequestSigner | None:
    """What signs the requests of a crawl; None where they are not signed. Raises: ConfigError."""
    if not is_asked_for(config):
        return None
    return RequestSigner(signing_key(config), agent_of(config), config.seconds, clock)


def problems(config: SignatureConfig) -> list[str]:
    """Why requests could not be signed as the settings ask, one sentence each."""
    found: list[str] = []
    for part in (signing_key, agent_of) if is_asked_for(config) else ():
        try:
            part(config)
        except ConfigError as error:
            found += error.problems
    return found
