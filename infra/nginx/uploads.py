"""Where files are put into the workspace and fetched by their owner: handed on as they come, so that none stands on nginx's disk, and larger than
anything else (rule 14)."""

from collections.abc import Sequence

from infra.nginx.blocks import block

PLACES, FETCHED = ("/api/v1/files/content", "/files"), ("/files/get",)
"""The address that programs and pages put a file to, and that of the form; and where one is fetched only."""
BODY = "201m"
"""200 MB, and what a form has around them."""


def locations(limit: str, passing: Sequence[str]) -> list[str]:
    """`limit`: the line that limits requests; `passing`: those that hand on."""
    taken = (f"client_max_body_size {BODY};", "proxy_request_buffering off;", "client_body_timeout 60s;")
    sent = ("proxy_max_temp_file_size 0;", limit, *passing)
    found = [line for where in PLACES for line in block(f"location = {where}", *taken, *sent)]
    return found + [line for where in FETCHED for line in block(f"location = {where}", *sent)]
