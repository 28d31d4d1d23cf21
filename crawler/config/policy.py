"""Settings of policy: may we fetch it, may we keep it?"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from crawler.config.declare import setting
from crawler.config.egress import check_proxies

_DOMAIN = re.compile(r"[a-z0-9_.-]{1,253}|[0-9a-f:]{2,45}")


def _check_networks(value: tuple[str, ...]) -> str | None:
    for item in value:
        try:
            ipaddress.ip_network(item)
        except ValueError as error:
            return f"expected networks such as 127.0.0.0/8 or ::1/128 ({error})"
    return None


def _check_ports(value: tuple[int, ...]) -> str | None:
    if not value:
        return "expected at least one port, such as 443"
    wrong = [str(port) for port in value if not 0 < port < 65_536]
    return f"expected ports from 1 to 65535, not {', '.join(wrong)}" if wrong else None


def _check_domains(value: tuple[str, ...]) -> str | None:
    wrong = [item for item in value if not _DOMAIN.fullmatch(item)]
    return f"expected host names or addresses such as example.org, not {', '.join(wrong)}" if wrong else None


def _check_noted(value: tuple[str, ...]) -> str | None:
    unknown = sorted(set(value) - {"ai-policy.json", "llms.txt"})
    return f"expected ai-policy.json or llms.txt, not {', '.join(unknown)}" if unknown else None


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """May we fetch it, may we keep it?"""

    optout_profile: str = setting("OPTOUT_PROFILE", "strict", "which opt-out signals count",
                                  choices=("strict", "balanced", "minimal"))  # fmt: skip
    network_allow: tuple[str, ...] = setting("NETWORK_ALLOW", (), "networks (CIDR) that are opened although not globally "
                                             "routable", check=_check_networks)  # fmt: skip
    network_ports: tuple[int, ...] = setting("NETWORK_PORTS", (80, 443), "ports that may be connected to",
                                              check=_check_ports)  # fmt: skip
    egress_proxies: tuple[str, ...] = setting("EGRESS_PROXIES", (), "forward proxies of your own through which every "
                                              "request leaves: http://host:port, socks5://host:port?login=env:NAME; "
                                              "empty = directly", check=check_proxies, digest=False, gaps=True)  # fmt: skip
    certificate_exceptions: tuple[str, ...] = setting("CERTIFICATE_EXCEPTIONS", (), "domains, with their subdomains, "
                                                      "whose certificates are not verified", check=_check_domains)  # fmt: skip
    robots_max_age_seconds: float = setting("ROBOTS_MAX_AGE_SECONDS", 86_400.0, "robots.txt is fetched again after this",
                                            minimum=1.0, maximum=86_400.0)  # fmt: skip
    robots_error_age_seconds: float = setting("ROBOTS_ERROR_AGE_SECONDS", 3_600.0, "an unreachable robots.txt is tried "
                                              "again after this", minimum=1.0)  # fmt: skip
    robots_max_delay_seconds: float = setting("ROBOTS_MAX_DELAY_SECONDS", 60.0, "Crawl-delay is honoured up to this",
                                              minimum=0.0)  # fmt: skip
    robots_long_delay: str = setting("ROBOTS_LONG_DELAY", "cap", "a Crawl-delay above that: cap it, or skip the host",
                                     choices=("cap", "skip"))  # fmt: skip
    noted_files: tuple[str, ...] = setting("OPTOUT_NOTED_FILES", (), "files without a specification that are fetched once "
                                           "a host and recorded, never obeyed: ai-policy.json, llms.txt",
                                           check=_check_noted)  # fmt: skip
    max_body_bytes: int = setting("DOWNLOAD_MAXSIZE", 10 * 2**20, "body limit, also after decompression", minimum=1024)
    download_timeout_seconds: float = setting("DOWNLOAD_TIMEOUT", 30.0, "one request, from connect to last byte",
                                              minimum=0.1)  # fmt: skip
    max_redirects: int = setting("REDIRECT_MAX_TIMES", 5, "redirects followed", minimum=0)
