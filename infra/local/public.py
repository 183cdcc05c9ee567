"""What people type to reach the fronts, where that differs from where the services listen: behind nginx or another proxy."""

import os
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from infra.local import config, folders, identities, place
from infra.local.config import HOSTS, Config
from infra.local.layout import Layout
from infra.local.prepare import make_run_folder, prepare
from shared.errors import Refused


def read_urls(given: Iterable[str]) -> dict[str, str]:
    """`console=https://console.example` and so on, by front. Refused for anything but an origin."""
    found: dict[str, str] = {}
    for each in given:
        front, _, url = each.partition("=")
        if front not in HOSTS:
            raise Refused(f"--public-url {each}: name one of {', '.join(HOSTS)}, as in console=https://console.example")
        found[front] = origin(url)
    return found


def origin(url: str) -> str:
    """Scheme, host and port in lower case. Refused for a path, a user, a scheme that browsers do not open."""
    parts = urlsplit(url.rstrip("/").lower())
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.path
        or parts.query
        or parts.fragment
        or "@" in url
    ):
        raise Refused(
            f"{url!r} is no origin; write scheme, host and, where it is not the usual one, port: https://site.example"
        )
    if parts.port == {"http": 80, "https": 443}[parts.scheme]:
        return f"{parts.scheme}://{parts.hostname}"
    return f"{parts.scheme}://{parts.netloc}"


def check(urls: Mapping[str, str]) -> None:
    """Refused when two fronts share a host name: cookies ignore ports (S8)."""
    hosts: dict[str | None, str] = {}
    for front, url in urls.items():
        other = hosts.setdefault(urlsplit(url).hostname, front)
        if other != front:
            raise Refused(
                f"{other} and {front} share the host name {urlsplit(url).hostname}; give each a name of its own (S8)"
            )


def keep(
    named: Path,
    port_base: int | None,
    urls: Mapping[str, str],
    proxies: Iterable[str],
    *,
    cluster: bool | None = None,
) -> None:
    """Write them into DIR/config.json, making the state first where there is none. Refused while it runs, with nothing changed."""
    trusted = [str(ip_address(_address(each))) for each in proxies]
    who = identities.resolve()
    layout = place.settle(named, who)
    lock = place.hold(layout)
    try:
        found = config.read(layout)
        check(
            {**config.urls_from(config.port_base_of(found, port_base)), **(found.public_urls if found else {}), **urls}
        )
        if found is None:
            make_run_folder(layout)
            found = prepare(layout, who, port_base, lambda _: None, cluster=cluster).config
        _write(layout, found, dict(urls), trusted)
    finally:
        os.close(lock)


def _address(given: str) -> str:
    try:
        return str(ip_address(given))
    except ValueError:
        raise Refused(
            f"--trusted-proxy {given}: give the address from which the proxy connects, as in 127.0.0.1"
        ) from None


def _write(layout: Layout, found: Config, urls: dict[str, str], trusted: list[str]) -> None:
    public = found.public_urls | urls
    changed = {"public_urls": public, "urls": config.urls_from(found.port_base) | public}
    proxies = {"trusted_proxies": trusted} if trusted else {}
    new = Config(**{**found.model_dump(), **changed, **proxies})
    folders.write(layout.config, new.model_dump_json(indent=1), 0o644, (os.getuid(), os.getgid()))
