"""Each hop is checked like a first address, and no credential goes to a new host (NT-01, rule 26)."""

import pytest

from services.connectors.egress.hosts import allow_list, parse_url
from services.connectors.egress.redirects import MOST_HOPS, Hop, next_hop
from shared.errors import Refused

ALLOWED = allow_list(("a.example", "b.example", "a.example:80"), 443)
FIRST = Hop("POST", parse_url("https://a.example/x?key=1"))
HEADERS = (("authorization", "Bearer hunter2"), ("cookie", "s=hunter2"), ("x-api-key", "hunter2"), ("content-type", "text/plain"), ("accept", "*/*"))  # fmt: skip


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://169.254.169.254/latest/meta-data/", "egress"),
        ("https://169.254.169.254/", "egress"),
        ("https://127.0.0.1:4222/", "egress"),
        ("https://[::ffff:169.254.169.254]/", "egress"),
        ("http://a.example/", "egress"),
        ("https://c.example/", "egress"),
        ("//c.example/", "egress"),
        ("https://a.example:8443/", "egress"),
        ("ftp://a.example/", "url"),
        ("file:///etc/passwd", "url"),
        ("gopher://a.example/", "url"),
        ("https://a.example@c.example/", "url"),
        ("https://a.example\\@c.example/", "url"),
        ("https://2130706433/", "host"),
        ("https://[::1", "url"),
    ],
)
def test_a_hop_that_may_not_be_is_refused(location: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        next_hop(FIRST, 302, location, ALLOWED)
    assert refused.value.code == code
    assert "key=1" not in refused.value.message


def test_the_eleventh_redirect_in_a_row_is_refused() -> None:
    hop = FIRST
    for number in range(MOST_HOPS):
        hop = next_hop(hop, 307, f"/{number}", ALLOWED)
    with pytest.raises(Refused) as refused:
        next_hop(hop, 307, "/again", ALLOWED)
    assert refused.value.code == "redirects"


def test_credentials_stay_at_their_host_and_do_not_come_back() -> None:
    away = next_hop(FIRST, 307, "https://b.example/y", ALLOWED)
    assert not away.with_secrets
    assert away.headers(HEADERS) == (("content-type", "text/plain"), ("accept", "*/*"))
    back = next_hop(away, 307, "https://a.example/z", ALLOWED)
    assert not back.with_secrets


def test_the_same_host_keeps_them() -> None:
    hop = next_hop(FIRST, 302, "/elsewhere", ALLOWED)
    assert (hop.method, hop.with_secrets, hop.with_body, hop.target.url) == ("GET", True, False, "https://a.example/elsewhere")  # fmt: skip
    assert ("content-type", "text/plain") not in hop.headers(HEADERS)
    assert ("authorization", "Bearer hunter2") in hop.headers(HEADERS)
