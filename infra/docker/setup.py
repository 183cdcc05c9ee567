"""The setup container: makes everybody's folders and keys, writes what the parts read, and ends. Runs before each start; existing things stay.

The state volume looks like a state directory of the native mode. What a part needs of it lies in volumes of its own: its keys are moved there, so
that no other container has them; public things are copied to a volume that everybody reads.
"""

import os
import sys
from pathlib import Path

from infra.docker import addresses, uids
from infra.docker.bus import places
from infra.docker.edge import LINKS, write_edge
from infra.docker.settings import Asked, asked
from infra.local import config, folders, identities, keys, spool
from infra.local.config import Config
from infra.local.layout import Layout
from infra.local.prepare import make_folders
from infra.nats import certificate
from infra.nats.config import render
from infra.nginx.links import render_links
from schemas.catalogue import SERVICES
from shared.errors import Refused, SchleuseError

STATE = Path("/state")
MOUNTS = Path("/mounts")
ME = (0, 0)
HOPELESS = 78


def setup(layout: Layout, wishes: Asked, mounts: Path) -> None:
    """Everything; can run again, and being killed in between does no harm. Refused with a sentence that says what to do."""
    who = _identities()
    make_folders(layout, who, ME)
    folders.folder(layout.spool, spool.OPEN, (who.uids["agent"], uids.users()["nginx"].uid))
    keys.make_keys(layout, who, ME)
    found = write_config(layout, who, wishes)
    _certificate(layout, who, wishes.net)
    keys.publish(layout, ME)
    _hand_out_keys(layout, who, mounts)
    _bus(layout, who, found, mounts)
    _public(layout, mounts / "public")
    folders.write(layout.processes, "[]", 0o644, ME)  # nothing is supervised here
    nginx = uids.users()["nginx"].uid
    write_edge(wishes, found.ports, mounts / "edge", mounts / "certificates", nginx)
    signed_with = (mounts / "keys" / "agent" / "links.key").read_text()
    folders.write(mounts / "edge" / LINKS, render_links(signed_with), 0o600, (nginx, nginx))


def _identities() -> identities.Identities:
    """The image's users; made from the same list as everybody's."""
    if os.getuid() != 0:
        raise Refused("setup gives folders away and must run as root inside its container")
    return identities.as_own_users()


def write_config(layout: Layout, who: identities.Identities, wishes: Asked) -> Config:
    """config.json of an installation in containers. The site mode of a fresh one follows rule 27."""
    fresh = config.read(layout) is None
    made = config.write(layout, who, None)
    listen = addresses.fronts(wishes.net)
    servers = addresses.NATS_SERVERS if "cluster" in wishes.profiles else addresses.NATS_SERVERS[:1]
    changed = {
        "containers": True,
        "egress_separation": True,
        "listen": listen,
        "public_urls": wishes.urls,
        "urls": wishes.urls,
        "trusted_proxies": addresses.proxies(wishes.net),
        "nats_servers": [f"tls://{addresses.on_the_bus(wishes.net, each)}:{made.ports['nats']}" for each in servers],
        "otlp_endpoint": f"http://{addresses.on_the_bus(wishes.net, 'otel')}:4318/v1/traces"
        if "tracing" in wishes.profiles
        else None,
    }
    if fresh:
        changed["site_mode_default"] = config.site_mode(listen.values())
    found = Config(**{**made.model_dump(), **changed})
    folders.write(layout.config, found.model_dump_json(indent=1), 0o644, ME)
    return found


def _certificate(layout: Layout, who: identities.Identities, net: str) -> None:
    private, public = layout.tls / "nats.key", layout.tls / "ca.pem"
    if private.exists() and public.exists():
        return
    text, key = certificate.make([addresses.on_the_bus(net, each) for each in addresses.NATS_SERVERS])
    public.unlink(missing_ok=True)
    folders.write(private, key, 0o600, who.owner("nats"))
    folders.write(public, text, 0o644, ME)


def _hand_out_keys(layout: Layout, who: identities.Identities, mounts: Path) -> None:
    """Move each service's keys to its own volume. A file that is still here was not moved completely: it is written again."""
    for service in SERVICES:
        owner, place = who.owner(service), mounts / "keys" / service
        folders.check_folder(place, 0o700, owner)
        for path in sorted((layout.keys / service).iterdir()):
            folders.put_inside(place, path.name, path.read_text(), owner)
            path.unlink()
    _keep_copy(mounts / "keys" / "site", "ingest.token", layout.ingest_token, who.owner("site"))
    keeper = uids.users()["keeper"].uid, uids.users()["keeper"].uid
    for folder, mode in ((mounts / "keys" / "keeper", 0o700), (layout.run / "keeper", 0o755)):
        folders.check_folder(folder, mode, keeper)
    folders.check_folder(layout.run / "nats", 0o755, who.owner("nats"))
    _keep_copy(mounts / "keys" / "keeper", "bus.nk", layout.admin_seed, keeper)


def _keep_copy(place: Path, name: str, original: Path, owner: folders.Owner) -> None:
    """A copy that its reader always finds: what is the same is not written again, for setup may run while others do."""
    path, text = place / name, original.read_text()
    if path.is_symlink() or not path.is_file() or path.read_text() != text:
        folders.put_inside(place, name, text, owner)


def _bus(layout: Layout, who: identities.Identities, found: Config, mounts: Path) -> None:
    """nats.conf of each server. In the cluster each has two others."""
    homes = {"nats": layout.nats, "nats-2": mounts / "nats-2", "nats-3": mounts / "nats-3"}
    users = keys.bus_users(layout)
    for name, place in places(found).items():
        folders.folder(homes[name] / "js", 0o700, who.owner("nats"))
        folders.write(homes[name] / "nats.conf", render(place, users), 0o644, ME)


def _public(layout: Layout, place: Path) -> None:
    """What everybody may read."""
    folders.check_folder(place, 0o755, ME)
    for path in (layout.config, layout.public_keys, layout.tls / "ca.pem"):
        folders.write(place / path.name, path.read_bytes(), 0o644, ME)
    if layout.prices.is_file():
        folders.write(place / layout.prices.name, layout.prices.read_bytes(), 0o644, ME)
    else:
        (place / layout.prices.name).unlink(missing_ok=True)


def main() -> int:
    os.umask(0o022)
    try:
        setup(Layout(STATE), asked(), MOUNTS)
    except (SchleuseError, OSError) as error:
        sys.stderr.write(f"schleuse: setup failed: {error}\n")
        return HOPELESS
    sys.stdout.write("schleuse: folders, keys and configuration are ready\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
