"""Downloads at the edge: the agent says what may be fetched, nginx sends its copy. Nobody reaches a copy but by the agent's word."""

from typing import TYPE_CHECKING

from infra.nginx.blocks import block, literal

if TYPE_CHECKING:
    from infra.nginx.config import Edge

SPOOL = "/spool/"
"""As the agent names it in X-Accel-Redirect."""
PLACES = ("/downloads/", "/d/")
KEPT = ("Content-Security-Policy \"default-src 'none'; sandbox\"", 'Referrer-Policy "no-referrer"', 'X-Content-Type-Options "nosniff"', 'X-Frame-Options "DENY"', 'Cross-Origin-Resource-Policy "same-origin"', 'Strict-Transport-Security "max-age=31536000"')  # fmt: skip
"""What nginx would drop of the agent's answer."""


def keys(edge: "Edge") -> list[str]:
    return [f"include {literal(edge.links)};"] if edge.links else []


def locations(edge: "Edge", towards: list[str], passing: list[str]) -> list[str]:
    """`towards` tells the agent that copies can be sent; `passing` leads to it. Without a spool nothing is special."""
    if edge.spool is None:
        return []
    led = [f"limit_req zone=pages burst={edge.limits.pages[1]} nodelay;", *_ours(towards), *passing]
    own, mailed = PLACES
    return [
        *block(f"location ^~ {own}", *led),
        *(block(f"location ^~ {mailed}", *_signed(), *led) if edge.links else []),
        *block(f"location ^~ {SPOOL}", *_copies(edge)),
    ]


def _ours(towards: list[str]) -> list[str]:
    """Here the agent's word leads to a copy; it still sets no speed and no charset."""
    kept = [each for each in towards if each.startswith("proxy_set_header")]
    return [*kept, "proxy_ignore_headers X-Accel-Limit-Rate X-Accel-Charset;", "proxy_max_temp_file_size 0;"]


def _signed() -> list[str]:
    """What is forged, of an unknown key, or too late is turned away before the agent is asked. The empty key signs nothing."""
    return [
        "secure_link $arg_s,$arg_e;",
        'secure_link_md5 "$secure_link_expires$uri $edge_link_key";',
        *block('if ($edge_link_key = "")', "return 404;"),
        *block('if ($secure_link = "")', "return 404;"),
        *block('if ($secure_link = "0")', "return 404;"),
    ]


def _copies(edge: "Edge") -> list[str]:
    """One range at a time; no link is followed, no folder listed."""
    return [
        "internal;",
        f"alias {literal(edge.spool or '')}/;",
        "disable_symlinks on;",
        "max_ranges 1;",
        *(f"add_header {each} always;" for each in KEPT),
    ]
