"""Names of hosts and URLs: one way to read them. What is checked is what is dialled (rule 26)."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote

import idna

from shared.errors import Refused

PORTS = {"http": 80, "https": 443}
LONGEST = 253
WILDCARD = "*."
KEPT_IN_PATHS = "/%:@!$&'()*+,;=~-._?[]"
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_ENDS_IN_A_NUMBER = re.compile(r"([0-9]+|0x[0-9a-f]*)")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>[^#]*)(#.*)?", re.DOTALL)
_NAMED_PORT = re.compile(r"(?P<host>[^:\[\]]*|\[[^\[\]]*\])(:(?P<port>[0-9]{1,5}))?")
_DOTS_ONLY = re.compile(r"(\.|%2e){1,2}", re.IGNORECASE)


@dataclass(frozen=True)
class Target:
    """Where a URL leads. `host`: ASCII, lower case, no final dot; an IPv6 address without brackets. `path_and_query` begins with `/`."""

    scheme: str
    host: str
    port: int
    path_and_query: str

    @property
    def key(self) -> str:
        """`host:port`, as allow-lists and cards have it."""
        return host_key(self.host, self.port)

    @property
    def authority(self) -> str:
        """For the Host header: the port only where it is not the scheme's own."""
        named = f"[{self.host}]" if ":" in self.host else self.host
        return named if self.port == PORTS[self.scheme] else f"{named}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path_and_query}"


@lru_cache(maxsize=256)
def allow_list(hosts: tuple[str, ...], default_port: int) -> tuple[str, ...]:
    """`host`, `host:port`, `*.host`, `*.host:port`, `[IPv6]:port` as people write them -> `host:port` in ASCII, in order, each once.

    Refused (code `host`) for anything else, an empty entry among them: it would allow nothing.
    """
    return tuple(dict.fromkeys(_entry(each, default_port) for each in hosts))


def host_key(host: str, port: int) -> str:
    """`host:port` in ASCII; IPv6 addresses in brackets. Refused (code `host`) when it is no name of a host."""
    name = canonical_host(host)
    return f"[{name}]:{_port(port)}" if ":" in name else f"{name}:{_port(port)}"


def permits(allow_list: Iterable[str], host_key: str) -> bool:
    """Both canonical, the port among what must be equal. `*.host` stands for every name below `host`, not for `host`."""
    name, _, port = host_key.rpartition(":")
    return any(
        name.endswith(f".{held.removeprefix(WILDCARD)}") and port == held_port
        if held.startswith(WILDCARD)
        else bool(held) and (held, held_port) == (name, port)
        for held, _, held_port in (each.rpartition(":") for each in allow_list)
    )


def parse_url(url: str) -> Target:
    """Refused (code `url`) when two readers could understand it differently: user names, backslashes, blanks, dot segments, other schemes."""
    found = _URL.fullmatch(url)
    if found is None or any(each < " " or each == "\x7f" for each in url):
        raise _no_url("it must be http:// or https://, a host, and a path, without control characters")
    scheme = found["scheme"].lower()
    if scheme not in PORTS:
        raise _no_url(f"the scheme {scheme}: is neither http nor https")
    authority = found["authority"]
    if "@" in authority or "\\" in url:
        raise _no_url("it names a user or holds a backslash; credentials belong into a secret")
    host, port = _host_and_port(authority, PORTS[scheme])
    return Target(scheme, host, port, _path_and_query(found["rest"]))


@lru_cache(maxsize=4096)
def canonical_host(text: str) -> str:
    """A name in ASCII by UTS-46, lower case, without its final dot; an address in its one usual spelling. Refused (code `host`)."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if ":" in bare:
        return _ipv6(bare)
    name = _ascii(bare)
    labels = name.split(".")
    if len(name) > LONGEST or not all(_LABEL.fullmatch(label) for label in labels):
        raise _no_host(text, "write a name such as api.example.com")
    if _ENDS_IN_A_NUMBER.fullmatch(labels[-1]):
        return _ipv4(name)
    return name


def _entry(text: str, default_port: int) -> str:
    below = text.startswith(WILDCARD)
    host, port = _host_and_port(text.removeprefix(WILDCARD), default_port)
    if below and ("." not in host or ":" in host or _ENDS_IN_A_NUMBER.fullmatch(host.rpartition(".")[2])):
        raise _no_host(text, "a * stands for names below a domain such as *.example.com")
    return f"{WILDCARD if below else ''}{host_key(host, port)}"


def _host_and_port(text: str, default_port: int) -> tuple[str, int]:
    if text.count(":") > 1 and not text.startswith("["):
        return _ipv6(text), default_port
    found = _NAMED_PORT.fullmatch(text)
    if found is None or not found["host"]:
        raise _no_host(text, "write host or host:port")
    return canonical_host(found["host"]), _port(int(found["port"]) if found["port"] else default_port)


def _ascii(text: str) -> str:
    """Refused where the text becomes a name only by replacing characters: full-width letters and dots, ligatures, invisible hyphens."""
    lowered = unicodedata.normalize("NFC", text).lower().removesuffix(".")
    if lowered.isascii() and "xn--" not in lowered:
        return lowered
    try:
        encoded = idna.encode(lowered, uts46=True).decode("ascii")
        read_back = idna.decode(encoded)
    except (idna.IDNAError, UnicodeError):
        raise _no_host(text, "it is no valid internationalised name") from None
    if lowered not in (encoded, read_back):
        raise _no_host(text, "it holds characters that stand for others, such as full-width ones; write plain ones")
    return encoded


def _ipv4(name: str) -> str:
    """Only the dotted form: `127.1`, `0x7f.1`, `017700000001` and `2130706433` are spellings that resolvers read and people do not."""
    try:
        return str(IPv4Address(name))
    except AddressValueError:
        raise _no_host(name, "an IPv4 address is written as four decimal numbers") from None


def _ipv6(text: str) -> str:
    try:
        if "%" in text:
            raise AddressValueError
        return str(IPv6Address(text))
    except AddressValueError:
        raise _no_host(text, "write [IPv6 address]:port, without a zone") from None


def _port(port: int) -> int:
    if not 1 <= port <= 65535:
        raise Refused(f"port {port} does not exist; ports go from 1 to 65535", code="host")
    return port


def _path_and_query(rest: str) -> str:
    path, mark, query = rest.partition("?")
    if any(_DOTS_ONLY.fullmatch(segment) for segment in path.split("/")):
        raise _no_url("its path has . or .. segments; write the path that they lead to")
    return quote(f"{path or '/'}{mark}{query}", safe=KEPT_IN_PATHS)


def _no_host(text: str, what_to_do: str) -> Refused:
    return Refused(f"{text[:80]!a} is no name of a host: {what_to_do}", code="host")


def _no_url(reason: str) -> Refused:
    """Says nothing of the URL itself, which may carry a key."""
    return Refused(f"the URL is refused: {reason}", code="url")
