"""The access log: who may see what was asked, and which parts of an address never reach it (S7, S12)."""

from typing import TYPE_CHECKING

from infra.nginx.blocks import block, literal

if TYPE_CHECKING:
    from infra.nginx.config import Edge

MASKED = ("welcome", "set-password", "reset", "invite[^/]*", "invitation[^/]*", "s", "l", "d", "downloads", "spool")
"""First segments after which a token can stand."""
LONGEST_WORD = 40
"""Letters in a row after which anything is taken for a token; a UUID has 36."""
FIELDS = (
    ("at", "$time_iso8601"),
    ("method", "$request_method"),
    ("host", "$host"),
    ("path", "$edge_path"),
    ("status", "$status"),
    ("bytes", "$bytes_sent"),
    ("seconds", "$request_time"),
    ("upstream", "$upstream_addr"),
    ("upstream_status", "$upstream_status"),
    ("upstream_seconds", "$upstream_response_time"),
    ("cache", "$upstream_cache_status"),
    ("protocol", "$server_protocol"),
    ("tls", "$ssl_protocol"),
)
"""No query string (it can hold codes), no cookie, no referrer, no browser name."""


def formats(edge: "Edge") -> list[str]:
    """`inside` has the address of whoever asked; `public` has not: the site promises its visitors to keep none.

    The error log would repeat request lines, so requests write nothing to it below `emerg`: what went wrong with one stands in the access
    log's status fields.
    """
    return [
        _format("inside", (*FIELDS, ("address", "$remote_addr"))),
        _format("public", FIELDS),
        f"error_log {literal(edge.error_log or edge.home / 'error.log')} emerg;",
        "access_log off;",
    ]


def masking() -> list[str]:
    """`edge_path`: the decoded path, cut where a token begins."""
    return block(
        "map $uri $edge_path",
        f'"~^(?<edge_head>/({"|".join(MASKED)})/)." "${{edge_head}}...";',
        f'"~^(?<edge_start>.*?)[A-Za-z0-9_-]{{{LONGEST_WORD},}}" "${{edge_start}}...";',
        "default $uri;",
    )


def log_to(edge: "Edge", form: str) -> str:
    return f"access_log {literal(edge.access_log or edge.home / 'access.log')} {form};"


def _format(name: str, fields: tuple[tuple[str, str], ...]) -> str:
    line = ",".join(f'"{key}":"{value}"' for key, value in fields)
    return f"log_format {name} escape=json '{{{line}}}';"
