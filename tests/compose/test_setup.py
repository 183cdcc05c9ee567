"""Setup hands out keys and configuration: each volume gets its own and nothing else, and a second run changes nothing."""

import json
import os
import stat
from pathlib import Path

import pytest

from infra.docker import uids
from infra.docker.setup import setup
from infra.local import config
from infra.local.layout import SHARED_KEYS, Layout, key_files
from schemas.catalogue import SERVICES
from shared.errors import Refused
from tests.compose.test_agreement import PLAIN

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="setup gives folders away, which needs root")


@pytest.fixture
def place(tmp_path: Path) -> tuple[Layout, Path]:
    """The volumes, empty."""
    layout, mounts = Layout(tmp_path / "state"), tmp_path / "mounts"
    for folder in ("run/keeper", "run/nats"):
        (layout.state / folder).mkdir(parents=True)
    for folder in ("public", "edge", "certificates", *(f"keys/{name}" for name in (*SERVICES, "keeper"))):
        (mounts / folder).mkdir(parents=True)
    return layout, mounts


def _files(root: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in sorted(root.rglob("*")) if path.is_file()
    }  # fmt: skip


def test_every_volume_holds_its_own_keys_and_no_others(place: tuple[Layout, Path]) -> None:
    layout, mounts = place
    setup(layout, PLAIN, mounts)
    for service in SERVICES:
        wanted = {*key_files(service)} | ({"ingest.token"} if service == "site" else set())
        found = {path.name: path for path in (mounts / "keys" / service).iterdir()}
        assert found.keys() == wanted
        assert {stat.S_IMODE(path.stat().st_mode) for path in found.values()} == {0o600}
        assert not list((layout.keys / service).iterdir()), "nothing is left where others could look"
    assert [path.name for path in (mounts / "keys" / "keeper").iterdir()] == ["bus.nk"]
    assert sorted(path.name for path in (mounts / "public").iterdir()) == ["ca.pem", "config.json", "public.json"]
    key = mounts / "edge" / "privkey.pem"
    assert (key.stat().st_uid, stat.S_IMODE(key.stat().st_mode)) == (uids.users()["nginx"].uid, 0o600)


def test_what_it_writes_is_an_installation_beyond_loopback(place: tuple[Layout, Path]) -> None:
    layout, mounts = place
    setup(layout, PLAIN, mounts)
    found = config.read(layout)
    assert found is not None and found.containers and found.egress_separation and found.os_separation
    assert found.site_mode_default == "off"
    assert found.urls == PLAIN.urls
    assert json.loads((mounts / "public" / "config.json").read_text())["trusted_proxies"] == [
        "10.84.1.2",
        "10.84.2.2",
        "10.84.3.2",
    ]


def test_a_second_run_changes_nothing_but_the_keys_of_fingerprints(place: tuple[Layout, Path]) -> None:
    layout, mounts = place
    shared = {key: {f"mounts/keys/{service}/{key}" for service in holders} for key, holders in SHARED_KEYS.items()}
    setup(layout, PLAIN, mounts)
    before = _files(layout.state.parent)
    setup(layout, PLAIN, mounts)
    after = _files(layout.state.parent)
    assert {name for name in before | after if before.get(name) != after.get(name)} == set().union(*shared.values())
    for holders in shared.values():
        assert len({after[name][2] for name in holders}) == 1, "both have the same"


def test_a_run_that_was_killed_between_keys_is_completed(place: tuple[Layout, Path]) -> None:
    """A key that is still in the state volume was not moved completely: it is moved again."""
    layout, mounts = place
    setup(layout, PLAIN, mounts)
    moved = mounts / "keys" / "bridge" / "gate.key"
    whole = moved.read_text()
    (layout.keys / "bridge" / "gate.key").write_text(whole)
    moved.write_text(whole[:10])
    setup(layout, PLAIN, mounts)
    assert moved.read_text() == whole and not list((layout.keys / "bridge").iterdir())


def test_a_certificate_that_does_not_fit_its_key_is_refused(place: tuple[Layout, Path]) -> None:
    layout, mounts = place
    setup(layout, PLAIN, mounts)
    (mounts / "certificates" / "fullchain.pem").write_text((mounts / "edge" / "fullchain.pem").read_text())
    (mounts / "certificates" / "privkey.pem").write_text((layout.tls / "nats.key").read_text())
    with pytest.raises(Refused, match="belong together"):
        setup(layout, PLAIN, mounts)
