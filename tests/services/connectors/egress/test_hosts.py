"""Names of hosts and URLs: what looks like an allowed one is not (NT-03)."""

import contextlib

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.connectors.egress.hosts import PORTS, allow_list, canonical_host, host_key, parse_url, permits
from shared.errors import Refused

ALLOWED = allow_list(("example.com",), 443)


def leads_there(url: str) -> bool:
    """Whether the guard would let it out to example.com."""
    try:
        return permits(ALLOWED, parse_url(url).key)
    except Refused:
        return False


@pytest.mark.parametrize(
    "url",
    [
        "https://notexample.com/",
        "https://example.com.attacker.test/",
        "https://example.com@attacker.test/",
        "https://example.com:443@attacker.test/",
        "https://attacker.test/@example.com",
        "https://attacker.test?example.com",
        "https://attacker.test#@example.com",
        "https://example.com:8443/",
        "https://example.com\\@attacker.test/",
        "https://attacker.test\\.example.com/",
        "https://example\uff0ecom/",
        "https://example\u3002com/",
        "https://attacker.test\uff0f.example.com/",
        "https://\uff45xample.com/",
        "https://ex\u00adample.com/",
        "https://exam%70le.com/",
        "https://example.com%2eattacker.test/",
        "https://example.com%00.attacker.test/",
        "https://exam\tple.com/",
        "https://example.com /",
        "https://sub.example.com/",
        "http://example.com/",
        "https://example.com../",
        "https://.example.com/",
        "https://еxample.com/",
        "https:example.com",
        "//example.com/",
        "https:///example.com",
        "",
    ],
)
def test_neighbours_and_disguises_do_not_pass(url: str) -> None:
    assert not leads_there(url)


@pytest.mark.parametrize(
    "url", ["https://example.com", "https://EXAMPLE.COM./", "HTTPS://Example.com:443/x?y=z#f", "https://example.com?q"]
)
def test_only_the_name_passes_whatever_its_case_and_final_dot(url: str) -> None:
    assert leads_there(url)


def test_sub_names_pass_where_they_are_stated_and_the_name_itself_does_not() -> None:
    below = allow_list(("*.example.com",), 443)
    assert permits(below, "a.example.com:443")
    assert permits(below, "a.b.example.com:443")
    assert not permits(below, "example.com:443")
    assert not permits(below, "notexample.com:443")
    assert not permits(below, "a.example.com:80")


@pytest.mark.parametrize("entry", ["", " ", "*", "*.", "*.com", "*.127.0.0.1", ":443", "https://example.com", "example.com/x", "a b", "example.com:0", "user@example.com"])  # fmt: skip
def test_an_entry_that_names_no_host_is_refused(entry: str) -> None:
    with pytest.raises(Refused):
        allow_list((entry,), 443)


def test_an_empty_entry_allows_nothing() -> None:
    assert not permits(("", ":443", "*.", "*.:443"), "example.com:443")
    assert not permits((), "example.com:443")


def test_entries_become_ascii_with_their_port() -> None:
    written = ("Bücher.example", "example.com.", "EXAMPLE.com:443", "[2001:DB8::1]:8443", "2001:db8::1", "127.0.0.1:80")
    assert allow_list(written, 443) == (
        "xn--bcher-kva.example:443",
        "example.com:443",
        "[2001:db8::1]:8443",
        "[2001:db8::1]:443",
        "127.0.0.1:80",
    )


@pytest.mark.parametrize("host", ["127.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "256.1.1.1", "::1%eth0", "[::1"])  # fmt: skip
def test_other_spellings_of_addresses_are_no_hosts(host: str) -> None:
    with pytest.raises(Refused):
        canonical_host(host)


@pytest.mark.parametrize("path", ["/a/../b", "/a/./b", "/..", "/%2e%2e/b", "/a/.%2E", "/x\\y"])
def test_paths_that_two_readers_understand_differently_are_refused(path: str) -> None:
    with pytest.raises(Refused):
        parse_url(f"https://example.com{path}")


def test_a_refusal_repeats_nothing_of_the_url() -> None:
    with pytest.raises(Refused) as refused:
        parse_url("https://user:hunter2@example.com/?key=hunter2")
    assert "hunter2" not in refused.value.message


PIECES = st.sampled_from(["example.com", "attacker.test", "@", ":", "443", "\\", "/", "?", "#", ".", "%2e", "[::1]", "。", "．", "ä", " ", "\t", "//", "xn--", "*", "~", "|", '"', "{", "%"])  # fmt: skip


@given(st.lists(PIECES, max_size=8).map("".join), st.sampled_from(["https://", "http://", "HTTPS://", "https:/", ""]))
@example("example.com/%7Ex?y=%zz|", "https://")
def test_the_library_that_connects_reads_the_same_host_as_the_check(rest: str, scheme: str) -> None:
    """And the same port, path and query: what parse_url lets through has one meaning."""
    try:
        target = parse_url(scheme + rest)
    except Refused:
        return
    read = httpx2.URL(target.url)
    assert host_key(read.host, read.port or PORTS[read.scheme]) == target.key
    assert parse_url(target.url) == target
    with contextlib.suppress(httpx2.InvalidURL):  # where it can read the first form at all, it reads the same host
        raw = httpx2.URL(scheme + rest)
        assert host_key(raw.host, raw.port or PORTS[raw.scheme]) == target.key
