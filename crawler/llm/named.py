"""A model as people name it: `provider:NAME`, or `provider:NAME@URL` for a server that speaks a provider's protocol."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from crawler.llm.google_sdk import LOCATION
from crawler.llm.model import Provider, ProviderError
from crawler.problems import InputError, did_you_mean

PROVIDERS = {"anthropic": "Anthropic", "google": "Google", "openai": "OpenAI", "vertex": "Google"}
"""Whom the page goes to, by the word before the colon, where no URL is given."""
_NAME = re.compile(r"([a-z]+):(.+?)(?:@(https?://\S+))?")


@dataclass(frozen=True, slots=True)
class Model:
    """One model. url: None = the provider's own address."""

    provider: str
    name: str
    url: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}" + (f"@{self.url}" if self.url else "")

    @property
    def is_here(self) -> bool:
        """True where nothing leaves this machine."""
        host = urlsplit(self.url or "").hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def address(self) -> str:
        """Where it is asked, for people."""
        return self.url or f"{PROVIDERS[self.provider]}'s own address"

    @property
    def owner(self) -> str:
        """Whose server it is: a provider's name, or host and port."""
        return PROVIDERS[self.provider] if self.url is None else urlsplit(self.url).netloc

    def as_record(self) -> dict[str, str]:
        """Whom the pages went to, for job records: provider, model, address, region where one was chosen."""
        region = os.environ.get(LOCATION, "") if self.provider == "vertex" else ""
        return {"name": str(self), "provider": self.owner, "region": region}


def model_of(text: str) -> Model:
    """Read `provider:NAME[@URL]`. Raises: InputError."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise InputError([f"--model {text!r}: expected provider:NAME or provider:NAME@URL, such as openai:gpt-5-mini"])
    provider, name, url = found.groups()
    if provider not in PROVIDERS:
        raise InputError([f"--model {text!r}: no provider is called {provider!r}{did_you_mean(provider, PROVIDERS)}"])
    if url and (urlsplit(url).username or urlsplit(url).password or urlsplit(url).query):
        raise InputError([f"--model {provider}:{name}@…: a URL with a secret in it would be written down; set the key "
                          "in the environment"])  # fmt: skip
    if url and provider == "vertex":
        raise InputError([f"--model {text!r}: vertex takes no URL; GOOGLE_CLOUD_LOCATION says where"])
    return Model(provider, name, url.rstrip("/") if url else None)


def opened(model: Model) -> Provider:
    """The client of a model. Raises: InputError where the extra is not installed, or no key is set."""
    try:
        return _opened(model)
    except ImportError as error:
        raise InputError([f"--model {model}: {error.name} is not installed: pip install 'gristmill[llm]'"]) from None
    except ProviderError as error:
        raise InputError([str(error)]) from None


def _opened(model: Model) -> Provider:
    if model.provider == "openai":
        from crawler.llm.openai_sdk import OpenAI

        return OpenAI(model.name, model.url)
    if model.provider == "anthropic":
        from crawler.llm.anthropic_sdk import Anthropic

        return Anthropic(model.name, model.url)
    from crawler.llm.google_sdk import Gemini, Google

    return Google(model.name, None, vertex=True) if model.provider == "vertex" else Gemini(model.name, model.url)
