"""Area edge: DIR/nginx/nginx.conf, or what would be generated, and who may read what nginx writes (S7, S8, S12)."""

import stat
from pathlib import Path
from urllib.parse import urlsplit

from infra.nginx.config import render
from infra.nginx.installed import edge_of, home_of
from infra.nginx.lint import RULES, faults_of
from infra.prove.check import Book, Check
from infra.prove.target import Target
from shared.errors import Refused

CONF = "nginx.conf"


async def check(target: Target) -> list[Check]:
    book = Book("edge")
    home, site = home_of(target.layout), target.config.urls["site"]
    conf = home / CONF
    if conf.exists():
        examine(book, CONF, conf.read_bytes(), urlsplit(site).hostname or "")
    else:  # what `schleuse nginx config` would print here
        urls = {name: url.replace("http:", "https:") for name, url in target.config.urls.items()}
        edge = edge_of(target.layout, target.config, urls, Path("/certificate"), Path("/key"))
        examine(book, "as generated", render(edge).encode(), edge.site.host)
    check_logs(book, home / "logs")
    return book.checks


def examine(book: Book, which: str, conf: bytes, site_host: str) -> None:
    try:
        found = faults_of(conf.decode(), site_host)
    except (Refused, ValueError) as error:
        book.holds(f"nginx, {which}", "the configuration can be read", str(error))
        return
    for says in RULES:
        book.holds(f"nginx, {which}", says, "; ".join(found[says][:5]))


def check_logs(book: Book, logs: Path) -> None:
    if logs.exists():
        mode = stat.S_IMODE(logs.stat().st_mode)
        book.holds("nginx", "nobody else reads the access log", f"{logs} has mode {mode:o}" if mode & 0o077 else "")
