"""The folder of copies of registered downloads: the agent's own, and open to nginx's workers as far as they know a name."""

import grp
import os
import pwd
import re

from infra.local import folders
from infra.local.layout import Layout

WORKERS = ("www-data", "nginx")
"""The users of distributions' nginx."""
OPEN, SHUT = 0o2710, 0o700


def make_spool(layout: Layout, uid: int, gid: int) -> None:
    """`uid` and `gid`: the agent's."""
    group, mode = lying(layout, gid)
    folders.folder(layout.spool, mode, (uid, group))


def lying(layout: Layout, gid: int) -> tuple[int, int]:
    """(group, mode). Where nginx has no user of its own, it runs as whoever runs everything, or not at all: then nobody else enters."""
    group = group_of(worker_of(layout)) if os.getuid() == 0 else 0
    return (group, OPEN) if group else (gid, SHUT)


def worker_of(layout: Layout) -> str:
    """The OS user of nginx's workers: the one that its configuration was made for, else the distribution's; empty when there is none."""
    made = layout.links_conf
    found = re.match(r"# user (\S*)\n", made.read_text()) if made.exists() else None
    return found[1] if found else distributions()


def distributions() -> str:
    known = {each.pw_name for each in pwd.getpwall()}
    return next((name for name in WORKERS if name in known), "")


def group_of(user: str) -> int:
    """A user's own group; 0 when there is none."""
    try:
        return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_gid
    except KeyError:
        return 0
