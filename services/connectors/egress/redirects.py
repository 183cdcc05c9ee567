"""Following redirects: each is a new check like the first address, and none carries credentials to another host (rule 26)."""

from dataclasses import dataclass
from urllib.parse import urljoin

from services.connectors.egress.dialling import shut
from services.connectors.egress.hosts import Target, parse_url, permits
from shared.errors import Refused

FOLLOWED = frozenset({301, 302, 303, 307, 308})
MOST_HOPS = 10
CREDENTIAL_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token", "referer"}
)
BODY_HEADERS = frozenset(
    {"content-length", "content-type", "content-encoding", "content-language", "transfer-encoding"}
)


@dataclass(frozen=True)
class Hop:
    """What is sent next. `with_secrets`: whether the connector may add its own credentials: at the first host, and nowhere else.

    `with_body`: whether the request's body goes along (307, 308), which therefore has to be at hand once more.
    """

    method: str
    target: Target
    with_secrets: bool = True
    with_body: bool = True
    number: int = 0

    def headers(self, asked: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Those of the first request (names in lower case) that go along: no credentials to another host, nothing about a body that stays."""
        left_out = (frozenset() if self.with_secrets else CREDENTIAL_HEADERS) | (
            frozenset() if self.with_body else BODY_HEADERS
        )
        return tuple((name, value) for name, value in asked if name.lower() not in left_out | {"host"})


def is_redirect(status: int, location: str | None) -> bool:
    return status in FOLLOWED and location is not None


def next_hop(sent: Hop, status: int, location: str, allow_list: tuple[str, ...]) -> Hop:
    """Where the answer to `sent` leads. Refused (codes `url`, `host`, `egress`, `redirects`): another scheme, back from https to http,
    a host that is not on the list, the eleventh in a row."""
    if sent.number >= MOST_HOPS:
        raise Refused(
            f"{sent.target.key} redirects more than {MOST_HOPS} times; its address has to be corrected",
            code="redirects",
        )
    target = _target(sent.target, location)
    if (sent.target.scheme, target.scheme) == ("https", "http"):
        raise shut(f"{sent.target.key} redirects from https to http")
    if not permits(allow_list, target.key):
        raise shut(f"{sent.target.key} redirects to {target.key}, which is not on the connector's list of hosts")
    method = _method(sent.method, status)
    stays = (target.scheme, target.key) == (sent.target.scheme, sent.target.key)
    return Hop(method, target, sent.with_secrets and stays, sent.with_body and method == sent.method, sent.number + 1)


def _target(sent: Target, location: str) -> Target:
    """Resolved against what was sent, then read by the one parser."""
    try:
        return parse_url(urljoin(sent.url, location))
    except ValueError:
        raise Refused(f"{sent.key} redirects to something that is no URL", code="url") from None
    except Refused as error:
        raise Refused(f"{sent.key} redirects elsewhere: {error.message}", code=error.code) from None


def _method(method: str, status: int) -> str:
    """As browsers do (RFC 9110, 15.4): 303 asks for the result, 301 and 302 turn a POST into a GET, 307 and 308 repeat the request."""
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        return "GET"
    return method
