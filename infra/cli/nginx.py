"""`schleuse nginx config`: the edge's configuration for a state directory."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from infra.cli.options import DEFAULT_STATE, State
from infra.local import config as configs
from infra.local import public
from infra.local.config import HOSTS, Config
from infra.local.layout import Layout
from infra.local.spool import make_spool, worker_of
from infra.nginx import links
from infra.nginx.config import render
from infra.nginx.installed import edge_of, make_home, worker
from shared.errors import Refused

HOW = """# Start it with:   nginx -e stderr -c {file}
# The services must know these addresses, and believe this proxy alone about who asked. Once, while they are stopped:
#   schleuse up {urls} --trusted-proxy 127.0.0.1
"""


def register(app: typer.Typer) -> None:
    nginx = typer.Typer(help="nginx in front: TLS, cache, limits.", no_args_is_help=True)
    nginx.command("config")(config)
    nginx.command("rotate-links")(rotate_links)
    app.add_typer(nginx, name="nginx")


def config(
    state: State = DEFAULT_STATE,
    console_url: Annotated[str, typer.Option("--console-url", help="What staff types; https.")] = "",
    site_url: Annotated[str, typer.Option("--site-url", help="What the public types; https.")] = "",
    workspace_url: Annotated[str, typer.Option("--workspace-url", help="What owners of the agent type; https.")] = "",
    certificate: Annotated[Path, typer.Option("--certificate", help="Chain, PEM.")] = Path("/etc/ssl/schleuse.pem"),
    key: Annotated[Path, typer.Option("--key", help="Its key, PEM.")] = Path("/etc/ssl/private/schleuse.key"),
    listen: Annotated[list[str], typer.Option("--listen", help="Where TLS is served.")] = ["443", "[::]:443"],  # noqa: B006 - typer's way
    listen_http: Annotated[
        list[str], typer.Option("--listen-http", help="What leads to https; `none` for nothing.")
    ] = ["80", "[::]:80"],  # noqa: B006
    user: Annotated[
        str,
        typer.Option(
            "--user", help="OS user of the workers, when nginx is started as root.", show_default="www-data or nginx"
        ),
    ] = "",
    out: Annotated[Path | None, typer.Option("--out", help="Write it there instead of printing it.")] = None,
) -> None:
    """Print an nginx.conf for this installation; without addresses, for those that `up --public-url` has kept."""
    layout = Layout(state.resolve())
    found = configs.read(layout)
    if found is None:
        raise Refused(f"{state} is no state directory; start one with `schleuse up`", code="state")
    given = {"console": console_url, "site": site_url, "workspace": workspace_url}
    urls = {front: public.origin(given[front] or found.urls[front]) for front in HOSTS}
    http = tuple(each for each in listen_http if each != "none")
    edge = edge_of(layout, found, urls, certificate.absolute(), key.absolute())
    edge = replace(edge, listen_tls=tuple(listen), listen_http=http, user=user or worker())
    make_home(layout)
    _open_spool(layout, found, edge.user)
    _give(render(edge), urls, out)


def rotate_links(state: State = DEFAULT_STATE) -> None:
    """Sign mailed download links with a new key. Those signed with the one before still open; older ones do not."""
    layout = Layout(state.resolve())
    found = configs.read(layout)
    if found is None:
        raise Refused(f"{state} is no state directory; start one with `schleuse up`", code="state")
    links.rotate(layout, found.uids["agent"])
    if layout.links_conf.exists():
        links.write_links(layout, (os.getuid(), os.getgid()), worker_of(layout))
    typer.echo(
        "The next link is signed with the new key. Where nginx stands in front: `nginx -s reload`, else it refuses them."
    )


def _open_spool(layout: Layout, found: Config, user: str) -> None:
    """nginx's workers may read copies of downloads, and its master knows the keys of mailed links."""
    links.write_links(layout, (os.getuid(), os.getgid()), user)
    make_spool(layout, found.uids["agent"], layout.links_key.stat().st_gid)


def _give(text: str, urls: dict[str, str], out: Path | None) -> None:
    options = " ".join(f"--public-url {front}={url}" for front, url in urls.items())
    whole = HOW.format(file=out.resolve() if out else "FILE", urls=options) + text
    if out is None:
        typer.echo(whole, nl=False)
        return
    out.write_text(whole)
    typer.echo(f"{out} is written; start nginx with `nginx -e stderr -c {out.resolve()}`")
