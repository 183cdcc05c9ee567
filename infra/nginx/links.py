"""The edge's copy of the keys that mailed download links are signed with: a file of its own, which nginx's master reads before it lets go of its rights."""

from infra.local import folders
from infra.local.folders import Owner
from infra.local.keys import link_key
from infra.local.layout import Layout
from infra.nginx.blocks import block, literal
from shared.errors import Refused

KEPT = 2
"""Keys: the newest signs, and the one before it still opens what it signed."""


def render_links(keys: str, user: str = "") -> str:
    """`keys`: what stands in the agent's file, the newest first. `user`: of nginx's workers."""
    pairs = [line.split() for line in keys.splitlines() if line.strip()]
    known = [f'{literal(key_id)} "{literal(secret)}";' for key_id, secret in pairs]
    return "\n".join([f"# user {user}", *block("map $arg_k $edge_link_key", 'default "";', *known), ""])


def write_links(layout: Layout, me: Owner, user: str) -> None:
    """DIR/nginx/links.conf, for whoever starts nginx alone."""
    folders.write(layout.links_conf, render_links(keys_of(layout), user), 0o600, me)


def keys_of(layout: Layout) -> str:
    """Refused where no start has made them yet."""
    if not layout.links_key.exists():
        raise Refused(f"{layout.state} has no key of download links yet; a start makes it: `schleuse up`", code="state")
    return layout.links_key.read_text()


def rotated(keys: str) -> str:
    """A new key before the newest of those that are there."""
    made, _ = link_key()
    return made + "".join(line + "\n" for line in keys.splitlines()[: KEPT - 1])


def rotate(layout: Layout, agent: int) -> None:
    """The agent, whose user id is `agent`, reads it before it makes or opens the next link."""
    text, owner = rotated(keys_of(layout)), (agent, layout.links_key.stat().st_gid)
    folders.put_inside(layout.links_key.parent, layout.links_key.name, text, owner)
