"""Which addresses may be dialled (rule 26)."""

from ipaddress import ip_address

import pytest

from services.connectors.egress.addresses import networks, why_shut
from shared.errors import Refused


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("::1", "loopback"),
        ("0.0.0.0", "this machine"),
        ("::", "this machine"),
        ("10.1.2.3", "private"),
        ("172.31.255.255", "private"),
        ("192.168.0.1", "private"),
        ("fd12::1", "private"),
        ("fec0::1", "private"),
        ("100.64.0.1", "carrier-grade"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("169.254.169.254", "hands out credentials"),
        ("100.100.100.200", "hands out credentials"),
        ("168.63.129.16", "hands out credentials"),
        ("fd00:ec2::254", "hands out credentials"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("255.255.255.255", "special use"),
        ("198.18.0.1", "special use"),
        ("::ffff:127.0.0.1", "another spelling"),
        ("::ffff:8.8.8.8", "another spelling"),
        ("::7f00:1", "another spelling"),
        ("64:ff9b::7f00:1", "another spelling"),
        ("2002:7f00:1::", "another spelling"),
        ("2001:0:1::", "tunnel"),
        ("2001:db8::1", "special use"),
        ("4000::1", "not among the public"),
    ],
)
def test_what_is_not_public_is_shut_and_says_why(address: str, why: str) -> None:
    assert why in why_shut(ip_address(address), ())


@pytest.mark.parametrize("address", ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "192.167.255.255"])
def test_public_addresses_are_open(address: str) -> None:
    assert why_shut(ip_address(address), ()) == ""


def test_a_listed_address_or_network_is_open_and_its_neighbours_are_not() -> None:
    listed = networks(("127.0.0.1", "10.1.0.0/16", "fd00::/8"))
    assert all(why_shut(ip_address(each), listed) == "" for each in ("127.0.0.1", "10.1.2.3", "fd00::1"))
    assert all(why_shut(ip_address(each), listed) for each in ("127.0.0.2", "10.2.0.1", "::1", "::ffff:127.0.0.1"))


def test_where_clouds_hand_out_credentials_is_listed_by_itself_or_not_at_all() -> None:
    metadata = ip_address("169.254.169.254")
    assert why_shut(metadata, networks(("169.254.0.0/16",)))
    assert why_shut(metadata, networks(("169.254.169.254",))) == ""


@pytest.mark.parametrize(
    "text", ["", "localhost", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.0/7", "127.1", "10.0.0.1:80"]
)
def test_what_is_no_address_or_far_too_wide_cannot_be_listed(text: str) -> None:
    with pytest.raises(Refused):
        networks((text,))


def test_what_stands_for_this_machine_is_never_open() -> None:
    assert why_shut(ip_address("0.0.0.0"), networks(("0.0.0.0/8",)))
