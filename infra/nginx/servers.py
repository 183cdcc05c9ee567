"""The servers: one per host name, one that refuses every other name, one that leads from http to https."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from infra.nginx import downloads, uploads
from infra.nginx.blocks import block, literal
from infra.nginx.logs import log_to

if TYPE_CHECKING:
    from infra.nginx.config import Edge, Front

SUBMIT_BODY = "48m"
"""Pictures as cameras make them; the console makes them smaller."""
HSTS = 'add_header Strict-Transport-Security "max-age=31536000" always;'
TROUBLE = {
    400: "This request cannot be read.",
    403: "This is not for you.",
    404: "There is nothing at this address.",
    405: "This address does not take that kind of request.",
    408: "The request took too long.",
    413: "The request is larger than is taken here.",
    414: "The address is too long.",
    421: "This server does not answer for that host name.",
    429: "Too many requests from this address. Wait a moment.",
    500: "Something is wrong here. Try again in a moment.",
    502: "This page is not available at the moment. Try again in a few seconds.",
    503: "This page is not available at the moment. Try again in a few seconds.",
    504: "This page is not available at the moment. Try again in a few seconds.",
}
"""What nginx itself says; the services' own error pages pass unchanged."""
UNREAD = 400
"""What could not be read has no path, and without one nginx finds no named location."""
RETRY = (429, 502, 503, 504)
CLEARED = ("Forwarded", "X-Forwarded-Host", "traceparent", "tracestate", "baggage", "X-Edge-Spool")
"""Headers that a client could use to be taken for somebody else, or to put words into traces."""
SIGNED_OUT = r"~ ^/(sign-in|welcome/|set-password/|reset|invit)"


def all_servers(edge: "Edge") -> list[str]:
    upstreams = [line for name, front in edge.fronts.items() for line in _upstream(edge, name, front)]
    return [*upstreams, *_strangers(edge), *_to_https(edge), *_console(edge), *_site(edge), *_workspace(edge)]


def _upstream(edge: "Edge", name: str, front: "Front") -> list[str]:
    """Each instance once; one that does not answer is left alone for two seconds."""
    if edge.resolver:
        return []
    single = len(front.upstreams) == 1
    members = [f"server {literal(each)}{'' if single else ' max_fails=1 fail_timeout=2s'};" for each in front.upstreams]
    return block(f"upstream {name}", *members, "keepalive 32;", "keepalive_timeout 20s;")


def _strangers(edge: "Edge") -> list[str]:
    """Unknown names: no handshake without a name of ours, no answer to another Host on a connection that has one."""
    tls = [f"listen {literal(each)} ssl http2 default_server;" for each in edge.listen_tls]
    plain = [f"listen {literal(each)} default_server;" for each in edge.listen_http]
    found = block("server", *tls, "ssl_reject_handshake on;", *_own_words(), _refuse(421))
    return [*found, *(block("server", *plain, *_own_words(), "return 444;") if plain else [])]


def _to_https(edge: "Edge") -> list[str]:
    found: list[str] = []
    for front in edge.fronts.values() if edge.listen_http else ():
        listen = [f"listen {literal(each)};" for each in edge.listen_http]
        target = f"return 301 https://{literal(front.authority)}$request_uri;"
        found += block("server", *listen, f"server_name {literal(front.host)};", log_to(edge, "public"), target)
    return found


def _console(edge: "Edge") -> list[str]:
    return _server(
        edge, "console",
        *_limited(edge, "console", SIGNED_OUT, "sign_in"),
        *_limited(edge, "console", "= /identity", "identity"),
        *_stream(edge, "console"),
        *_static(edge, "console"),
        *block("location = /submit", _limit(edge, "pages"), f"client_max_body_size {SUBMIT_BODY};", *_pass(edge, "console")),
        *_limited(edge, "console", "/", "pages"),
    )  # fmt: skip


def _workspace(edge: "Edge") -> list[str]:
    return _server(
        edge, "workspace",
        *_limited(edge, "workspace", "~ ^/(sign-in|signed-in)$", "identity"),
        *_stream(edge, "workspace"),
        *_static(edge, "workspace"),
        *downloads.locations(edge, towards(edge.workspace, {"X-Edge-Spool": "yes"}), _pass(edge, "workspace")),
        *uploads.locations(_limit(edge, "pages"), _pass(edge, "workspace")),
        *_limited(edge, "workspace", "/", "pages"),
    )  # fmt: skip


def _site(edge: "Edge") -> list[str]:
    """Only here is anything cached. The operator's door for access logs is closed from outside: it is used where the site listens."""
    return _server(
        edge, "site",
        *block("location = /signals/ingest", "return 404;"),
        *_limited(edge, "site", "~ ^/(sign-in|signed-in)$", "identity"),
        *_limited(edge, "site", "/invited/", "sign_in"),
        *_limited(edge, "site", "/signals/", "signals"),
        *_limited(edge, "site", "/s/", "signals"),
        *_limited(edge, "site", "~ ^/(comments|answers)$", "signals"),
        *_limited(edge, "site", "~ ^/l/[^/]*[.]gif$", "signals"),
        *_limited(edge, "site", "= /search", "search"),
        *_static(edge, "site"),
        *block("location /", *_pass(edge, "site"), *_cached(edge)),
    )  # fmt: skip


def _server(edge: "Edge", name: str, *locations: str) -> list[str]:
    front = edge.fronts[name]
    return block(
        "server",
        *(f"listen {literal(each)} ssl http2;" for each in edge.listen_tls),
        f"server_name {literal(front.host)};",
        log_to(edge, "public" if name == "site" else "inside"),
        f"client_max_body_size {literal(front.body)};",
        HSTS,
        *_own_words(),
        *block(f'if ($ssl_server_name != "{literal(front.host)}")', "return 421;"),
        *towards(front),
        *locations,
    )


def towards(front: "Front", more: Mapping[str, str] = {}) -> list[str]:
    """What a service is told about whoever asks: the peer's address and nothing that the peer says about it."""
    told = {
        "Host": literal(front.knows_itself_as or front.authority),
        "X-Forwarded-For": "$remote_addr",
        "X-Real-IP": "$remote_addr",
        "X-Forwarded-Proto": "$scheme",
        "Connection": '""',
    } | dict.fromkeys(CLEARED, '""')
    told |= more
    return [
        *(f"proxy_set_header {name} {value};" for name, value in told.items()),
        "proxy_http_version 1.1;",
        "proxy_buffer_size 16k;",
        "proxy_buffers 16 16k;",
        "proxy_busy_buffers_size 64k;",
        "proxy_connect_timeout 3s;",
        "proxy_read_timeout 60s;",
        "proxy_send_timeout 30s;",
        "proxy_next_upstream error timeout;",
        "proxy_next_upstream_tries 2;",
        "proxy_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;",
        "proxy_cache off;",
    ]


def _pass(edge: "Edge", name: str) -> list[str]:
    if not edge.resolver:
        return [f"proxy_pass http://{name};"]
    return [f"set $edge_upstream http://{literal(edge.fronts[name].upstreams[0])};", "proxy_pass $edge_upstream;"]


def _limited(edge: "Edge", name: str, where: str, zone: str) -> list[str]:
    return block(f"location {where}", _limit(edge, zone), *_pass(edge, name))


def _limit(edge: "Edge", zone: str) -> str:
    return f"limit_req zone={zone} burst={getattr(edge.limits, zone)[1]} nodelay;"


def _stream(edge: "Edge", name: str) -> list[str]:
    """Server-sent events: handed on as they come. The services say something every 15 s."""
    return block("location = /live", *_pass(edge, name), "proxy_buffering off;", "proxy_read_timeout 1h;")


def _static(edge: "Edge", name: str) -> list[str]:
    """Style sheets, scripts, pictures: the only answers that are compressed, for they hold nothing secret."""
    packed = [
        "gzip on;",
        "gzip_vary on;",
        "gzip_min_length 512;",
        "gzip_types text/css text/javascript application/javascript image/svg+xml;",
    ]
    return block("location /static/", *_pass(edge, name), *packed)


def _cached(edge: "Edge") -> list[str]:
    """S7: for the second in which it was made, never stale, never a 403, 404 or 410, nothing personal, nothing with a cookie.

    Who waits for another's question looks again after the lock's time-out, and not before: nginx tells nobody. Until then is at most 500 ms.
    """
    return [
        "proxy_cache site;",
        'proxy_cache_key "$edge_second $scheme://$host$request_uri";',
        "proxy_cache_methods GET HEAD;",
        "proxy_cache_valid 200 1s;",
        "proxy_cache_lock on;",
        "proxy_cache_lock_timeout 50ms;",
        "proxy_cache_use_stale off;",
        "proxy_cache_background_update off;",
        "proxy_cache_bypass $edge_personal;",
        "proxy_no_cache $edge_personal $edge_private;",
        "proxy_ignore_headers Cache-Control Expires X-Accel-Expires X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;",
        *([HSTS, "add_header X-Cache $upstream_cache_status always;"] if edge.cache_header else []),
    ]


def _own_words() -> list[str]:
    """Pages of nginx's own: one sentence as text, kept by nobody, and no word on what runs here."""
    found: list[str] = []
    for status in TROUBLE:
        if status != UNREAD:
            found += [f"error_page {status} @edge_{status};", *block(f"location @edge_{status}", *_words(status))]
    unread = block("location = /edge-400", "internal;", *_words(UNREAD))
    return [f"error_page {UNREAD} 494 495 496 497 = /edge-400;", *unread, *found]


def _words(status: int) -> list[str]:
    again = ["add_header Retry-After 5 always;"] if status in RETRY else []
    private = 'add_header Cache-Control "private, no-store" always;'
    return [HSTS, private, *again, "default_type text/plain;", f'return {status} "{status}: {TROUBLE[status]}\\n";']


def _refuse(status: int) -> str:
    return f"return {status};"
