"""Where files are put into the workspace: handed on as they come, so that none stands on nginx's disk first, and larger than anything else (rule 14)."""

from collections.abc import Sequence

from infra.nginx.blocks import block

PLACES = ("/api/v1/files/content", "/files")
"""The address that programs and pages put a file to, and that of the form."""
BODY = "201m"
"""200 MB, and what a form has around them."""


def locations(limit: str, passing: Sequence[str]) -> list[str]:
    """`limit`: the line that limits requests; `passing`: those that hand on."""
    taken = (f"client_max_body_size {BODY};", "proxy_request_buffering off;", "client_body_timeout 60s;")
    return [line for where in PLACES for line in block(f"location = {where}", *taken, limit, *passing)]
