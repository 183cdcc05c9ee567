"""What must be true of an nginx.conf in front of this product (S7, S8, S12), whoever wrote it. Each rule gives its faults in words."""

import re
from collections.abc import Callable, Iterator

from infra.nginx.config import maps
from infra.nginx.reading import Directive, read

Faults = Iterator[str]
TELLING = ("request", "request_uri", "uri", "document_uri", "args", "query_string", "is_args", "request_body", "http_referer", "http_cookie", "http_authorization", "remote_user")  # fmt: skip
"""Variables that can hold a token."""
TELLING_KINDS = ("arg_", "cookie_", "sent_http_", "upstream_http_", "upstream_cookie_", "http_")
VARIABLE = re.compile(r"\$\{?(\w+)")
DOWNLOADS = ("^~ /downloads/", "^~ /d/")
"""Where the agent may name a copy to be sent."""
OWN_MAPS = ("$edge_second", "$edge_personal", "$edge_private", "$edge_path")


def faults_of(text: str, site_host: str) -> dict[str, list[str]]:
    """By rule: what is wrong; an empty list where it holds. `site_host`: the one name whose pages may be cached."""
    root = read(text)
    [http] = list(root.all("http")) or [Directive("http", (), [])]
    return {says: list(rule(http, site_host)) for says, rule in RULES.items()}


def _stale(http: Directive, _: str) -> Faults:
    for each in http.deep():
        if each.name == "proxy_cache_use_stale" and each.words != ("off",):
            yield f"proxy_cache_use_stale {each.value}"
        if each.name == "proxy_cache_background_update" and each.words != ("off",):
            yield f"proxy_cache_background_update {each.value}"


def _lifetime(http: Directive, _: str) -> Faults:
    for place in _caching(http):
        valid = [each.words for each in place.in_force("proxy_cache_valid")]
        if valid != [("200", "1s")]:
            yield f"proxy_cache_valid {valid} in {_name(place)}"
        ignored = {word for each in place.in_force("proxy_ignore_headers") for word in each.words}
        if not {"Cache-Control", "Expires", "X-Accel-Expires"} <= ignored:
            yield f"the service may ask for longer than a second in {_name(place)}"
        if "$edge_second" not in _of(place, "proxy_cache_key"):
            yield f"the key in {_name(place)} lacks the second: an answer could last for two"


def _private(http: Directive, site_host: str) -> Faults:
    for place in _caching(http):
        if _host(place) != site_host:
            yield f"{_host(place)} is cached in {_name(place)}; the site's name is {site_host}"
        if not {"$edge_private", "$edge_personal"} <= set(_of(place, "proxy_no_cache").split()):
            yield f"private answers are kept in {_name(place)}"
        if "$edge_personal" not in _of(place, "proxy_cache_bypass"):
            yield f"who has a cookie is answered from the cache in {_name(place)}"
        if not all(each in _of(place, "proxy_cache_key") for each in ("$scheme", "$host", "$request_uri")):
            yield f"the key in {_name(place)} mixes pages"
        ignored = {word for each in place.in_force("proxy_ignore_headers") for word in each.words}
        if ignored & {"Set-Cookie", "Vary"}:
            yield f"answers with {' or '.join(sorted(ignored & {'Set-Cookie', 'Vary'}))} are kept in {_name(place)}"
    here = {each.words[1]: each for each in http.all("map") if len(each.words) == 2}
    for name, expected in _generated().items():
        if name not in here or _lines(here[name]) != _lines(expected):
            yield f"the map {name} is not the one that is generated"


def _address(http: Directive, _: str) -> Faults:
    for place in _passing(http):
        told = {each.words[0].lower(): each.words[1:] for each in place.in_force("proxy_set_header")}
        for name in ("x-forwarded-for", "x-real-ip"):
            if told.get(name) != ("$remote_addr",):
                yield f"{name} is {' '.join(told.get(name, ('what the client sent',)))} in {_name(place)}"
        if "$" in " ".join(told.get("host", ("$",))):
            yield f"Host is not fixed in {_name(place)}"
        if told.get("forwarded") != ("",):
            yield f"Forwarded comes from the client in {_name(place)}"
    for each in http.deep():
        if each.name in ("set_real_ip_from", "real_ip_header"):
            yield f"{each.name} {each.value}: the address comes from a header"


def _log(http: Directive, _: str) -> Faults:
    formats = {each.words[0]: each for each in http.all("log_format")}
    for name, each in formats.items():
        for variable in VARIABLE.findall(each.value):
            if variable in TELLING or variable.startswith(TELLING_KINDS):
                yield f"log_format {name} writes ${variable}"
    for each in http.deep():
        if (
            each.name == "access_log"
            and each.words != ("off",)
            and (len(each.words) < 2 or each.words[1] not in formats)
        ):
            yield f"access_log {each.value} writes whole request lines"
        if each.name == "error_log" and each.words[-1] != "emerg":
            yield f"error_log {each.value} repeats request lines"
    if not list(http.all("error_log")):
        yield "the error log repeats request lines"


def _names(http: Directive, _: str) -> Faults:
    defaults: dict[str, Directive] = {}
    addresses: set[str] = set()
    for server in http.all("server"):
        for each in server.all("listen"):
            addresses.add(each.words[0])
            if "default_server" in each.words:
                defaults[each.words[0]] = server
        passes = any(each.name == "proxy_pass" for each in server.deep())
        if passes and not any(each.words[0].startswith("($ssl_server_name") for each in server.all("if")):
            yield f"{_host(server)} answers on a connection that was opened for another name"
    for address in sorted(addresses):
        default = defaults.get(address)
        if default is None or not any(each.words[0] in ("421", "444") for each in default.all("return")):
            yield f"{address} answers for unknown host names"


def _tls(http: Directive, _: str) -> Faults:
    for each in http.deep():
        if each.name == "ssl_protocols" and not set(each.words) <= {"TLSv1.2", "TLSv1.3"}:
            yield f"ssl_protocols {each.value}"
        if each.name == "location" and list(each.all("add_header")) and not _has_hsts(each):
            yield f"no HSTS in {_name(each)}"
    for place in _passing(http):
        if not _has_hsts(place):
            yield f"no HSTS in {_name(place)}"
    if [each.words for each in http.all("server_tokens")] != [("off",)]:
        yield "the version of nginx is shown"


def _limits(http: Directive, _: str) -> Faults:
    wanted = {"sign_in": "signing in", "identity": "identity tokens", "signals": "signals", "search": "the search"}
    used = {word.removeprefix("zone=") for each in http.deep() if each.name == "limit_req" for word in each.words}
    yield from (f"no limit on {about}" for zone, about in wanted.items() if zone not in used)
    if not list(http.all("limit_conn")):
        yield "no limit on connections"
    yield from (f"client_max_body_size {each.value}" for each in http.deep() if each.name == "client_max_body_size" and each.words[0].startswith("0"))  # fmt: skip


def _copies(http: Directive, _: str) -> Faults:
    """Files are sent by the agent's word alone, and nowhere but where downloads are asked for."""
    for each in http.deep():
        if each.name in ("alias", "root") and each.outer is not None:
            if not list(each.outer.all("internal")):
                yield f"{each.name} {each.value} is open to everybody in {_name(each.outer)}"
            if [link.words for link in each.outer.all("disable_symlinks")] != [("on",)]:
                yield f"links are followed in {_name(each.outer)}"
    for place in _passing(http):
        ours = place.name == "location" and place.value in DOWNLOADS
        ignored = {word for each in place.in_force("proxy_ignore_headers") for word in each.words}
        told = {each.words[0].lower(): each.words[1:] for each in place.in_force("proxy_set_header")}
        if not ours and "X-Accel-Redirect" not in ignored:
            yield f"an answer may lead to files in {_name(place)}"
        if not ours and told.get("x-edge-spool") != ("",):
            yield f"X-Edge-Spool comes from the client in {_name(place)}"
        if ours and place.value == DOWNLOADS[1]:
            yield from _unsigned(place)


def _unsigned(place: Directive) -> Faults:
    checked = {each.words for each in place.all("if") if [found.words for found in each.all("return")] == [("404",)]}
    wanted = {("($edge_link_key", "=", "", ")"), ("($secure_link", "=", "", ")"), ("($secure_link", "=", "0", ")")}
    if _of(place, "secure_link") != "$arg_s,$arg_e":
        yield f"signatures of links are not looked at in {_name(place)}"
    if _of(place, "secure_link_md5") != "$secure_link_expires$uri $edge_link_key":
        yield f"signatures of links do not cover time, address and key in {_name(place)}"
    if not wanted <= checked:
        yield f"a forged or expired link passes in {_name(place)}"


RULES: dict[str, Callable[[Directive, str], Faults]] = {
    "nothing stale is served": _stale,
    "a page is kept for the second in which it was made": _lifetime,
    "nothing private is kept": _private,
    "the client's address is the peer's": _address,
    "no token reaches the logs": _log,
    "unknown host names are refused": _names,
    "TLS 1.2 or newer, HSTS, no version": _tls,
    "what can be tried often is limited": _limits,
    "files are sent by the agent's word alone": _copies,
}


def _caching(http: Directive) -> Iterator[Directive]:
    return (place for place in _passing(http) if _of(place, "proxy_cache") not in ("", "off"))


def _passing(http: Directive) -> Iterator[Directive]:
    return (each.outer for each in http.deep() if each.name == "proxy_pass" and each.outer is not None)


def _of(place: Directive, name: str) -> str:
    return " ".join(each.value for each in place.in_force(name))


def _host(place: Directive) -> str:
    at: Directive | None = place
    while at is not None and at.name != "server":
        at = at.outer
    return _of(at, "server_name") if at else ""


def _name(place: Directive) -> str:
    return f"{_host(place)} {place.name} {place.value}".strip()


def _has_hsts(place: Directive) -> bool:
    return any(each.words[0].lower() == "strict-transport-security" for each in place.in_force("add_header"))


def _lines(found: Directive) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.name, each.words) for each in found.inside or ()]


def _generated() -> dict[str, Directive]:
    root = read("\n".join(maps()))
    return {each.words[1]: each for each in root.all("map") if each.words[1] in OWN_MAPS}
