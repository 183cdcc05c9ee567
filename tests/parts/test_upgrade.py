"""Starting over what an older release left: keys, settings, protected tables. What it left is written down here, so no history is needed."""

import json
import os
import shutil
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest

from infra.local import config, folders, keys, preflight
from infra.local.identities import as_one_user
from infra.local.layout import FINGERPRINT, FINGERPRINT_HOLDERS, VERSION, Layout
from shared.errors import Refused
from shared.sealing import Identity
from shared.signing import SigningKey
from shared.testing.servers import Servers, short_folder

ME = (os.getuid(), os.getgid())
LATER_DUTIES = (("console", "identity"), ("admin", "backup"), ("connectors", "audit"), ("connectors", "secrets"), ("bridge", "witness"))  # fmt: skip
LATER_SETTINGS = ("public_urls", "listen", "nats_servers", "cluster", "containers")
OLD_CORE = """
SET session_replication_role = replica;
DELETE FROM core.decisions WHERE verdict = 'undo' OR round > 0;
RESET session_replication_role;
DROP INDEX core.decisions_one_verdict;
DROP INDEX core.decisions_undone_once;
ALTER TABLE core.decisions DROP COLUMN round CASCADE;
ALTER TABLE core.decisions DROP COLUMN undoes CASCADE;
ALTER TABLE core.decisions DROP CONSTRAINT decisions_verdict;
ALTER TABLE core.decisions ADD CONSTRAINT decisions_verdict CHECK (verdict IN ('approve', 'reject', 'request_changes', 'withdraw'));
CREATE UNIQUE INDEX decisions_one_verdict ON core.decisions (item_id, revision) WHERE verdict <> 'withdraw';
ALTER TABLE core.switch_settings DROP CONSTRAINT switch_settings_known;
ALTER TABLE core.switch_settings ADD CONSTRAINT switch_settings_known CHECK ((name, value) IN (('publication_mode', 'review'), ('site_mode', 'off'),
  ('publication_mode', 'frozen'), ('four_eyes', 'on'), ('four_eyes', 'off'), ('site_mode', 'open')));
"""
"""How release 0.1.0 declared the lock's record of decisions."""
SHAPE = """
SELECT conname AS name, pg_get_constraintdef(oid) AS is FROM pg_constraint WHERE connamespace = 'core'::regnamespace
UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'core'
UNION ALL SELECT attrelid::regclass || '.' || attname, format_type(atttypid, atttypmod) FROM pg_attribute
  WHERE attrelid::regclass::text LIKE 'core.%' AND attnum > 0 AND NOT attisdropped ORDER BY name
"""


@pytest.fixture
def layout() -> Iterator[Layout]:
    folder = short_folder("old")
    made = Layout(folder.resolve())
    who = as_one_user()
    for path in (made.tls, made.run, made.logs):
        folders.folder(path, 0o755, ME)
    keys.make_keys(made, who, ME)
    (made.tls / "ca.pem").write_text("certificate")
    yield made
    shutil.rmtree(folder)


def age(layout: Layout) -> None:
    """Take away what later releases added."""
    for service, duty in LATER_DUTIES:
        (layout.keys / service / f"{duty}.key").unlink()
        public = layout.keys / f"{service}.pub.json"
        found = json.loads(public.read_text())
        found.pop(duty)
        public.write_text(json.dumps(found))
    if layout.config.exists():
        settings = json.loads(layout.config.read_text())
        settings = {name: value for name, value in settings.items() if name not in LATER_SETTINGS} | {"version": 1}
        layout.config.write_text(json.dumps(settings))


def seeds(layout: Layout) -> dict[str, str]:
    """All but the one that every start makes anew."""
    files = [path for path in layout.keys.rglob("*.key") if path.name != FINGERPRINT]
    return {str(path.relative_to(layout.keys)): path.read_text() for path in files}


def agrees(layout: Layout) -> bool:
    """Every private half is the one whose public half is written down, and nothing waits."""
    for service in ("console", "bridge", "connectors", "admin"):
        public = json.loads((layout.keys / f"{service}.pub.json").read_text())
        for duty in set(public) - {"bus"}:
            path = layout.keys / service / f"{duty}.key"
            if duty == "secrets":
                if Identity.load(path).recipient != public[duty]["public_key"]:
                    return False
                continue
            if path.exists() and SigningKey.load(path).key_id != public[duty]["key_id"]:
                return False
    return not list(layout.keys.rglob(".new-*"))


def test_keys_of_later_duties_are_added_and_no_other_is_touched(layout: Layout) -> None:
    age(layout)
    before = seeds(layout)
    keys.make_keys(layout, as_one_user(), ME)
    after = seeds(layout)
    assert set(after) - set(before) == {f"{service}/{duty}.key" for service, duty in LATER_DUTIES}
    assert {name: after[name] for name in before} == before
    assert agrees(layout)
    assert (layout.keys / "console" / "identity.key").stat().st_mode & 0o777 == 0o600
    keys.publish(layout, ME)
    assert len(json.loads(layout.public_keys.read_text())["identity"]) == 1
    keys.make_keys(layout, as_one_user(), ME)
    assert seeds(layout) == after


def test_every_start_makes_a_fingerprint_key_of_both_that_nobody_else_reads(layout: Layout) -> None:
    paths = [layout.keys / service / FINGERPRINT for service in FINGERPRINT_HOLDERS]
    before = {path.read_text() for path in paths}
    keys.make_keys(layout, as_one_user(), ME)
    after = {path.read_text() for path in paths}
    assert len(before) == len(after) == 1 and before != after
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}


@pytest.mark.parametrize("killed_at", ["write", "rename_inside"])
def test_killed_between_the_halves_of_a_new_key(
    layout: Layout, killed_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    age(layout)

    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(folders, killed_at, kill)
        with pytest.raises(Killed):
            keys.make_keys(layout, as_one_user(), ME)
    keys.make_keys(layout, as_one_user(), ME)
    assert agrees(layout)
    assert (layout.keys / "console" / "identity.key").exists()


def test_a_key_that_was_deleted_because_it_was_revoked_does_not_come_back(layout: Layout) -> None:
    (layout.keys / "console" / "decision.key").unlink()
    keys.make_keys(layout, as_one_user(), ME)
    assert not (layout.keys / "console" / "decision.key").exists()


@pytest.mark.parametrize("version", [VERSION + 1, 0, "two", None])
def test_a_state_that_cannot_be_used_is_refused_with_what_to_do(layout: Layout, version: object) -> None:
    layout.config.write_text(json.dumps({"version": version}))
    with pytest.raises(Refused, match="Nothing was changed") as refused:
        preflight.check(layout, None)
    assert ("a newer program" in refused.value.message) == (version == VERSION + 1)
    assert json.loads(layout.config.read_text()) == {"version": version}


def test_what_a_restore_left_half_done_is_not_started(layout: Layout) -> None:
    (layout.state / preflight.RESTORING).touch()
    with pytest.raises(Refused, match="run `schleuse restore` again"):
        preflight.check(layout, None)


def test_settings_of_an_older_release_are_kept_and_completed(layout: Layout) -> None:
    who = as_one_user()
    config.write(layout, who, None)
    age(layout)
    older = config.read(layout)
    assert older is not None and older.version == 1
    found = config.write(layout, who, None)
    assert (found.version, found.listen["console"], found.install_id) == (VERSION, "localhost", older.install_id)


async def test_the_databases_of_an_older_release_become_what_this_one_declares(servers: Servers) -> None:
    declared = await shape(servers)
    await sql(servers, OLD_CORE)
    try:
        assert await shape(servers) != declared
    finally:
        servers.provision_postgres()
    assert await shape(servers) == declared
    servers.provision_postgres()
    assert await shape(servers) == declared


async def shape(servers: Servers) -> list[tuple[str, str]]:
    """Columns in any order: an added one stands at the end."""
    connection = await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user="pgadm", database="console_site_db")
    try:
        return sorted((row["name"], row["is"]) for row in await connection.fetch(SHAPE))
    finally:
        await connection.close()


async def sql(servers: Servers, text: str) -> None:
    connection = await asyncpg.connect(host=str(servers.layout.pg_socket_dir), user="pgadm", database="console_site_db")
    try:
        await connection.execute(text)
    finally:
        await connection.close()
