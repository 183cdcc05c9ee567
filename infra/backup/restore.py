"""Restore: check everything, then keys, settings and databases into a fresh state directory, then what was on its way, then what was taken back since.

A folder that is being restored into holds `.restoring` until it is complete: nothing starts there before, and the next restore begins anew.
"""

import json
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from infra.backup import gatelog, manifest, running
from infra.backup.fresh import fresh, refuse_full
from infra.backup.gatelog import Followed, Place
from infra.backup.keyfile import KeyFile
from infra.backup.manifest import Manifest
from infra.backup.pouring import Collecting, Counting, Draining, Piping
from infra.backup.running import Machine, Tell
from infra.backup.sealing import Identities
from infra.backup.take import DATABASES, PRICES, SECRETS, SETTINGS, STREAMS, WORKSPACE
from infra.local import config, folders, identities
from infra.local.layout import OLDEST, VERSION, Layout
from infra.local.prepare import make_folders
from infra.local.runtime import choose
from infra.postgres import locate
from shared.clock import now
from shared.errors import Refused

FRESH_HEAD = timedelta(hours=24)
"""As old as the newest signed head may be for a site to show anything (S6)."""


@dataclass(frozen=True)
class Checked:
    """A backup whose every byte was compared, with the keys that go with it."""

    directory: Path
    folder: Path
    manifest: Manifest
    keys: KeyFile
    identities: Identities
    followed: Followed

    @property
    def gap(self) -> str:
        """Why what was taken back since cannot be known for sure, or nothing."""
        until = self.followed.until
        if self.followed.gap or until is None:
            return self.followed.gap
        if now() - until > FRESH_HEAD:
            return f"nobody wrote down what was withdrawn after {until:%Y-%m-%d %H:%M}, more than 24 hours ago"
        return ""


def check(directory: Path, keys_file: Path, identity_file: Path, tell: Tell) -> Checked:
    """Refused with the first thing that is not right. Nothing is written."""
    directory = directory.resolve()
    opened = Identities.read(identity_file)
    folder = manifest.whole(directory)
    keys = KeyFile.read(keys_file, opened)
    public = keys.public_keys()
    found = manifest.read(folder, public)
    if found.install_id != keys.install_id:
        raise Refused("the keys belong to another installation than the backup. Nothing was changed.", code="mixed")
    if SECRETS in found.files and not keys.opens_secrets():
        raise Refused(
            "the key file is older than the secrets in the backup and cannot open them: use the newest file of `schleuse backup keys`. "
            "Nothing was changed.",
            code="old_keys",
        )
    tell({"step": "Checking every file", "total": sum(each.size for each in found.files.values())})
    manifest.check_files(folder, found, Counting(tell).add)
    opened.pour(folder / SETTINGS, Draining(Counting(lambda _: None)))
    start = Place(found.gate_seq, found.gate_hash, found.decision_position)
    followed = gatelog.read(directory, opened, public, start)
    _refuse_old_keys(keys, followed)
    return Checked(directory, folder, found, keys, opened, followed)


def restore(
    checked: Checked, named: Path, port_base: int | None, tell: Tell, *, cluster: bool | None = None
) -> dict[str, Any]:
    """Into a folder that is empty or does not exist. What came of it, see `_told`."""
    _refuse_other_release(checked.manifest)
    who = identities.resolve()
    with fresh(named, who, checked.directory) as layout:
        refuse_full(layout, sum(each.plain for each in checked.manifest.files.values()))
        me = (os.getuid(), os.getgid())
        tell({"step": "Keys and settings"})
        make_folders(layout, who, me)
        checked.keys.put(layout, who, me)
        _settings(layout, who, checked, port_base, cluster)
        machine = Machine(layout, who, choose(layout, *who.owner("site")))
        _databases(machine, checked, tell)
        tell({"step": "What was on its way, and what was taken back since"})
        with running.postgres(machine):
            running.provision(machine)
            again = _reconcile(machine, checked)
            replayed = _replay(machine, checked)
        _folder(machine, checked, WORKSPACE, "agent", layout.workspace)
        _folder(machine, checked, SECRETS, "connectors", layout.secrets)
    return _told(checked, layout, again, replayed)


def _settings(
    layout: Layout, who: identities.Identities, checked: Checked, port_base: int | None, cluster: bool | None
) -> None:
    """As they were, but for what belongs to the machine: OS users, ports that were asked for, egress rules."""
    into = Collecting()
    checked.identities.pour(checked.folder / SETTINGS, into)
    found = json.loads(bytes(into.data))
    machine = {"install_uid": os.getuid(), "os_separation": who.separated, "egress_separation": False}
    found |= machine | {"users": who.users, "uids": who.uids, "restored_at": now().isoformat(timespec="seconds")}
    if cluster is not None:
        found |= {"cluster": cluster, "nats_servers": []}
    folders.write(layout.config, json.dumps(found), 0o644)
    config.write(layout, who, port_base)
    if PRICES in checked.manifest.files:
        prices = Collecting()
        checked.identities.pour(checked.folder / PRICES, prices)
        folders.write(layout.prices, bytes(prices.data), 0o644)


def _databases(machine: Machine, checked: Checked, tell: Tell) -> None:
    stored = checked.manifest.files[DATABASES]
    tell({"step": "Databases", "total": stored.plain})
    state = str(machine.layout.state)
    with running.started(
        machine, tell, "pgadm", "infra.backup.doing.put_databases", "--state", state, stdin=True
    ) as program:
        assert program.process.stdin is not None
        _pour(checked, DATABASES, Piping(program.process.stdin, tell), program)


def _pour(checked: Checked, name: str, into: "Piping", program: running.Program) -> None:
    try:
        checked.identities.pour(checked.folder / name, into)
        into.close()
    except BrokenPipeError:
        pass  # the program says why
    program.result()


def _reconcile(machine: Machine, checked: Checked) -> dict[str, Any]:
    state, module = str(machine.layout.state), "infra.backup.doing.reconcile"
    if STREAMS not in checked.manifest.files:
        return running.asked(machine, "pgadm", module, "--state", state)
    with running.started(machine, lambda _: None, "pgadm", module, "--state", state, stdin=True) as program:
        assert program.process.stdin is not None
        _pour(checked, STREAMS, Piping(program.process.stdin, lambda _: None), program)
    return program.result()


def _replay(machine: Machine, checked: Checked) -> dict[str, Any]:
    """Keys first: whoever closes the site signs with one that counts. The site is closed when anything may be missing."""
    followed = checked.followed
    changes = [each["statement"] for each in followed.entries if each["kind"] == "key"]
    why = f"restored without knowing all that was taken back: {checked.gap}" if checked.gap else ""
    closing = _console(machine, changes, why) if changes or why else None
    found = _bridge(machine, checked.manifest.gate_seq, followed.entries, followed.decisions, closing)
    if found["gap"] and not checked.gap:
        _bridge(machine, found["head"]["seq"], [], [], _console(machine, [], f"restored: {found['gap']}"))
    return found


def _console(machine: Machine, changes: list[str], why: str) -> gatelog.Record | None:
    """The console's keys follow; its signed closing of the site when there is a reason."""
    given = json.dumps({"keys": changes, "closing": why[:480]}).encode()
    state = str(machine.layout.state)
    found = running.asked(machine, "console", "services.console.restored", "--state", state, given=given)
    closing: gatelog.Record | None = found["closing"]
    return closing


def _bridge(
    machine: Machine,
    start: int,
    entries: list[gatelog.Record],
    decisions: list[gatelog.Record],
    closing: gatelog.Record | None,
) -> dict[str, Any]:
    if not (entries or decisions or closing):
        return {"withdrawn": [], "keys": 0, "modes": 0, "links": 0, "missing": [], "gap": "", "head": {"seq": start}}
    records = {"from": start, "entries": entries, "decisions": decisions, "closing": closing}
    state, given = str(machine.layout.state), json.dumps(records).encode()
    return running.asked(machine, "bridge", "services.bridge.replay", "--state", state, given=given)


def _folder(machine: Machine, checked: Checked, name: str, user: str, folder: Path) -> None:
    if name not in checked.manifest.files:
        return
    folders.folder(folder, 0o700, machine.who.owner(user))
    module = "infra.backup.doing.folder"
    with running.started(machine, lambda _: None, user, module, "put", str(folder), stdin=True) as program:
        assert program.process.stdin is not None
        _pour(checked, name, Piping(program.process.stdin, lambda _: None), program)


def _told(checked: Checked, layout: Layout, again: dict[str, Any], replayed: dict[str, Any]) -> dict[str, Any]:
    """`site`: `as_it_was`, or `off` with `because`: then an owner sets its mode in the console, once it is known what was withdrawn."""
    because = checked.gap or replayed["gap"]
    until = checked.followed.until
    return {
        "state": str(layout.state),
        "from": checked.manifest.at.isoformat(timespec="seconds"),
        "followed_until": until.isoformat(timespec="seconds") if until else None,
        "sent_again": again["sent_again"],
        "from_streams": again["from_streams"],
        "withdrawn_again": replayed["withdrawn"],
        "keys": replayed["keys"],
        "modes": replayed["modes"],
        "links": replayed["links"],
        "missing": replayed["missing"],
        "site": "off" if because else "as_it_was",
        "because": because,
    }


def _refuse_old_keys(keys: KeyFile, followed: Followed) -> None:
    revoked = _revoked(followed)
    if not keys.decision_keys() - revoked:
        raise Refused(
            "every decision key in the key file was revoked since: use the newest file of `schleuse backup keys`. Nothing was changed.",
            code="old_keys",
        )


def _revoked(followed: Followed) -> set[str]:
    changes = [json.loads(gatelog.signed(each, "statement").payload) for each in followed.entries if each["kind"] == "key"]  # fmt: skip
    return {each["subject_key_id"] for each in changes if each["action"] == "revoked"}


def _refuse_other_release(found: Manifest) -> None:
    ours = locate.major(locate.bin_folder())
    theirs = found.postgres.split(".")[0].split(" ")[0]
    if str(ours) != theirs:
        raise Refused(
            f"the backup was made with PostgreSQL {theirs}, and {ours} was found here. Set PG_BIN to the bin folder of version {theirs}. Nothing was changed.",
            code="postgres",
        )
    if not OLDEST <= found.state_version <= VERSION:
        raise Refused(
            f"the backup is of state version {found.state_version}; this release knows {OLDEST} to {VERSION}. "
            f"Restore it with the release that made it ({found.release}). Nothing was changed.",
            code="newer",
        )
