"""Which addresses may be dialled: public ones, and what the connector lists explicitly (rule 26)."""

import socket
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from shared.errors import Refused

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

SHUT: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), why)
    for why, networks in {
        "it stands for this machine": ("0.0.0.0/8", "::/128"),
        "it is a loopback address": ("127.0.0.0/8", "::1/128"),
        "it is a private address": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
        "it is a carrier-grade NAT address": ("100.64.0.0/10",),
        "it is a link-local address": ("169.254.0.0/16", "fe80::/10"),
        "it is a cloud's own address": ("168.63.129.16/32",),
        "it is a multicast address": ("224.0.0.0/4", "ff00::/8"),
        "it is another spelling of an IPv4 address": (
            "::/96",
            "::ffff:0:0/96",
            "64:ff9b::/96",
            "64:ff9b:1::/48",
            "2002::/16",
        ),
        "it is a tunnel's address": ("2001::/32",),
        "it is set aside for special use": (
            *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20"),
        ),
    }.items()
    for network in networks
)  # IANA's special-purpose address registries
GLOBAL_IPV6 = IPv6Network("2000::/3")
METADATA: frozenset[Address] = frozenset(
    ip_address(each)
    for each in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254")
)
"""Where clouds hand out a machine's credentials: to be listed one by one, never by their network."""
NEVER: tuple[Network, ...] = tuple(
    ip_network(each) for each in ("0.0.0.0/8", "::/128", "224.0.0.0/4", "ff00::/8", "255.255.255.255/32")
)
WIDEST = {4: 8, 6: 7}


@lru_cache(maxsize=256)
def networks(addresses: tuple[str, ...]) -> tuple[Network, ...]:
    """What a connector lists. Refused (code `address`) for no address, and for a network so wide that it names nothing."""
    return tuple(_network(each) for each in addresses)


def why_shut(address: Address, listed: Iterable[Network]) -> str:
    """Empty when it may be dialled, else the reason in a few words."""
    if any(address in network for network in NEVER):
        return _reason(address)
    if any(address in network for network in listed if address not in METADATA or network.num_addresses == 1):
        return ""
    return _reason(address)


def is_own(address: Address) -> bool:
    """Whether it is one of this machine's. The kernel is asked by a datagram socket that sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asked:
        asked.connect((str(address), 9))
        return ip_address(asked.getsockname()[0]) == address
    return False


def _reason(address: Address) -> str:
    if address in METADATA:
        return "it is where a cloud hands out credentials"
    for network, why in SHUT:
        if address in network:
            return why
    if address.version == 6 and address not in GLOBAL_IPV6:
        return "it is not among the public IPv6 addresses"
    return "it is this machine's own address" if is_own(address) else ""


def _network(text: str) -> Network:
    try:
        found = ip_network(text.strip(), strict=False)
    except ValueError:
        raise Refused(
            f"{text[:60]!a} is no address or network; write 192.0.2.7 or 10.1.0.0/16", code="address"
        ) from None
    if found.prefixlen < WIDEST[found.version]:
        raise Refused(
            f"{found} is too wide to be meant; list the addresses that the connector needs (at most /{WIDEST[found.version]})",
            code="address",
        )
    return found
