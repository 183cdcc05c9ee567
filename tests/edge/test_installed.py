"""`schleuse nginx config` for a running installation, and what prove and the inventory say of it."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from infra.local import public
from infra.observe.grants.files import read_files
from infra.observe.installation import Installation
from infra.prove.areas import edge
from infra.prove.areas.edge import CONF
from infra.prove.check import Book
from infra.prove.target import Target
from shared.errors import Refused
from tests.factories.edge import NGINX, make_certificate
from tests.factories.stack import Stack
from tests.prove.planting import Hole, see

pytestmark = pytest.mark.stack


async def examine(target: Target, book: Book) -> None:
    book.checks += await edge.check(target)


def written(stack: Stack) -> Path:
    """The configuration, as the command writes it for the addresses that the installation has kept."""
    home = stack.layout.state / "nginx"
    done = stack.run("nginx", "config", "--listen", "127.0.0.1:1", "--listen-http", "none", "--certificate", str(home / "edge.pem"), "--key", str(home / "edge.key"), "--out", str(home / CONF))  # fmt: skip
    assert done.returncode == 0, done.stderr
    return home / CONF


def test_a_hole_in_the_file_in_use_is_found(product: tuple[Stack, int]) -> None:
    stack, port = product
    (stack.layout.state / "nginx").mkdir(mode=0o711, exist_ok=True)
    conf = written(stack)
    sound = conf.read_text()
    assert "server_name site.test;\n" in sound and f"Host site.test:{port};" in sound
    if NGINX is not None:
        make_certificate(conf.parent)
        tried = subprocess.run(
            [NGINX, "-e", "stderr", "-t", "-c", str(conf)], capture_output=True, text=True, check=False
        )
        assert tried.returncode == 0, tried.stderr
        for name in ("edge.pem", "edge.key"):
            (conf.parent / name).unlink()
    hole = Hole(
        "stale pages",
        examine,
        "proxy_cache_use_stale error",
        lambda _: conf.write_text(sound.replace("proxy_cache_use_stale off", "proxy_cache_use_stale error")),
        lambda _: conf.write_text(sound),
    )  # fmt: skip
    see(hole, stack)
    lines = asyncio.run(read_files(Installation.load(stack.state)))
    strange = [line for line in lines if line.what.startswith("nginx") and not line.is_right]
    assert strange == [], "the inventory knows what nginx keeps"


def test_public_addresses_cannot_be_changed_while_it_runs(product: tuple[Stack, int]) -> None:
    stack, _ = product
    before = stack.layout.config.read_text()
    done = stack.run("up", "--detach", "--public-url", "site=https://other.test", "--trusted-proxy", "10.0.0.1")
    assert done.returncode == 2 and "already running" in done.stderr
    assert stack.layout.config.read_text() == before


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        (["shop=https://a.test"], "name one of"),
        (["site=ftp://a.test"], "is no origin"),
        (["site=https://a.test/path"], "is no origin"),
        (["site=https://user@a.test"], "is no origin"),
        (["site=https://a.test", "console=https://A.test:444"], "share the host name"),
    ],
)
def test_addresses_that_make_no_sense_are_refused(urls: list[str], said: str) -> None:
    with pytest.raises(Refused, match=said):
        public.check(public.read_urls(urls))


def test_addresses_are_kept_as_browsers_write_them() -> None:
    given = ["site=HTTPS://Site.Example:443/", "console=https://console.example:8443"]
    assert public.read_urls(given) == {"site": "https://site.example", "console": "https://console.example:8443"}


def test_a_refused_address_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="give the address"):
        public.keep(tmp_path / "state", None, {}, ["everybody"])
    assert not (tmp_path / "state").exists()
