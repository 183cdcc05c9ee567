"""The edge of an installation: what a state directory says about fronts and addresses."""

import os
import pwd
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from infra.local.config import HOSTS, Config
from infra.local.layout import Layout
from infra.local.spool import distributions
from infra.nginx.config import CONSOLE_BODY, SITE_BODY, WORKSPACE_BODY, Edge, Front

BODIES = {"console": CONSOLE_BODY, "site": SITE_BODY, "workspace": WORKSPACE_BODY}


def home_of(layout: Layout) -> Path:
    return layout.state / "nginx"


def edge_of(layout: Layout, found: Config, urls: Mapping[str, str], certificate: Path, key: Path) -> Edge:
    """`urls`: what people type, by front."""
    fronts = {name: Front(urls[name], upstreams(found, name), BODIES[name]) for name in HOSTS}
    logs = home_of(layout) / "logs"
    return Edge(
        console=fronts["console"],
        site=fronts["site"],
        workspace=fronts["workspace"],
        certificate=certificate,
        key=key,
        home=home_of(layout),
        access_log=str(logs / "access.log"),
        error_log=str(logs / "error.log"),
        spool=layout.spool,
        links=layout.links_conf,
    )


def upstreams(found: Config, front: str) -> tuple[str, ...]:
    """Where the instances of a front listen."""
    host = found.listen.get(front, HOSTS[front])
    return (f"{'127.0.0.1' if host == 'localhost' else host}:{found.ports[front]}",)


def make_home(layout: Layout) -> None:
    """The folder of nginx: its workers may pass through it, and nobody but whoever starts it reads the logs."""
    home = home_of(layout)
    home.mkdir(mode=0o711, exist_ok=True)
    home.chmod(0o711)
    (home / "logs").mkdir(mode=0o700, exist_ok=True)


def worker() -> str:
    """Whom root should let do the work: the user of the distribution's nginx; empty when it is not root who starts it."""
    return distributions() if os.getuid() == 0 else ""


def lying(layout: Layout, me: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int], str]]:
    """(pattern of the path below the state directory, owner and group, mode) of what nginx may have there."""
    yield r"nginx", me, "711"
    yield r"nginx/logs", me, "700"
    yield r"nginx/(nginx\.conf|nginx\.pid|logs/(access|error)\.log)", me, "644"
    yield r"nginx/links\.conf", me, "600"
    yield r"nginx/data-(body|cache|proxy|fastcgi|uwsgi|scgi)", (_worker(layout, me[0]), me[1]), "700"


def _worker(layout: Layout, otherwise: int) -> int:
    """The OS user of nginx's workers, as its configuration says."""
    conf = home_of(layout) / "nginx.conf"
    found = re.search(r"^user (\S+);", conf.read_text(), re.MULTILINE) if conf.exists() else None
    try:
        return pwd.getpwnam(found[1]).pw_uid if found else otherwise
    except KeyError:
        return otherwise
