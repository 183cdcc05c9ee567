"""`schleuse nginx config` for a running installation, and what prove and the inventory say of it."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from infra.observe.grants.files import read_files
from infra.observe.installation import Installation
from infra.prove.areas import edge
from infra.prove.areas.edge import CONF
from infra.prove.check import Book
from infra.prove.target import Target
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


def test_the_command_needs_addresses_that_are_https(stack: Stack) -> None:
    done = stack.run("nginx", "config")
    assert done.returncode == 2 and "is not https" in done.stderr
    same = [word for front in ("console", "site", "workspace") for word in (f"--{front}-url", "https://one.example")]
    assert "three different host names" in stack.run("nginx", "config", *same).stderr


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
    for options in (["--public-url", "site=https://other.test"], ["--trusted-proxy", "10.0.0.1"]):
        done = stack.run("up", "--detach", *options)
        assert done.returncode == 2 and "already running" in done.stderr
    assert stack.layout.config.read_text() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--public-url", "shop=https://a.test"], "name one of"),
        (["--public-url", "site=ftp://a.test"], "is no origin"),
        (["--public-url", "site=https://a.test/path"], "is no origin"),
        (["--public-url", "site=https://user@a.test"], "is no origin"),
        (["--public-url", "site=https://a.test", "--public-url", "console=https://A.test:444"], "share the host name"),
        (["--trusted-proxy", "everybody"], "give the address"),
    ],
)
def test_addresses_that_make_no_sense_are_refused_and_nothing_is_made(
    tmp_path: Path, options: list[str], said: str
) -> None:
    from tests.factories.stack import schleuse  # noqa: PLC0415 - only here

    done = schleuse("up", "--detach", *options, "--state", str(tmp_path / "state"))
    assert done.returncode == 2 and said in done.stderr
    assert not (tmp_path / "state" / "config.json").exists()
