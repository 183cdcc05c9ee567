"""What the Postgres server is told: its few settings, who may log in, and the one environment variable that names another server."""

import os
from pathlib import Path

from infra.local.layout import GROUP, Layout
from infra.postgres import app_roles
from schemas.catalogue import SERVICES

SUPERUSER = "pgadm"

SETTINGS: dict[str, str] = {
    # Only the socket, only for the group; nobody logs in over the network (S9).
    "listen_addresses": "''",
    "unix_socket_permissions": "0770",
    # An acknowledged commit is on disk.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # After a kill the server syncs its whole folder: 3,000 files one by one took 5 to 9 s on a busy disk, in one call 0.3 s.
    "recovery_init_sync_method": "syncfs",
    # Two cores, one machine shared with five services.
    "shared_buffers": "256MB",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "10min",
    "checkpoint_completion_target": "0.9",
    "max_worker_processes": "4",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "autovacuum_naptime": "15s",
    "track_io_timing": "off",
    # Five roles of CONNECTION_LIMIT connections each, and those of apps, stay below it, so no service can shut out another (S15).
    "max_connections": "130",
    "superuser_reserved_connections": "5",
    # Room for a role that takes 20,000 locks in one transaction beside everybody else (S15).
    "max_locks_per_transaction": "512",
    "wal_level": "replica",
    "max_wal_senders": "0",
    "max_replication_slots": "0",
    "log_line_prefix": "'%m [%p] %q%u@%d '",
    "log_min_duration_statement": "2s",
    # A slow statement is named without its values: they may be anything (S14).
    "log_parameter_max_length": "0",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
}

ROLE_SETTINGS: dict[str, str] = {
    "statement_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
    "lock_timeout": "15s",
    "temp_file_limit": "256MB",
    "log_statement": "none",
}
CONNECTION_LIMIT = 18
"""Of a role, which all instances of its service share (shared/db/engine.py), with room for whoever looks at it as that role, and for one that starts."""


def role_settings(major: int) -> dict[str, str]:
    """What each service's role is set to, on a server of that version."""
    return ROLE_SETTINGS | ({"transaction_timeout": "120s"} if major >= 17 else {})


def pg_bin_setting() -> Path | None:
    """$PG_BIN: the bin folder of another server."""
    named = os.environ.get("PG_BIN")
    return Path(named) if named else None


def server_conf(layout: Layout, *, separated: bool, group: str = GROUP) -> str:
    lines = [f"{name} = {value}" for name, value in SETTINGS.items()]
    lines.append(f"unix_socket_directories = '{layout.pg_socket_dir}'")
    if separated:
        lines.append(f"unix_socket_group = '{group}'")
    return "\n".join(lines) + "\n"


def hba_conf(*, mapped: bool) -> str:
    """Peer, nothing else: the server's own user, apps' roles in their database only, services. `all` does not match replication connections."""
    suffix = " map=dev" if mapped else ""
    lines = [
        f"local all {SUPERUSER} peer{suffix}",
        *app_roles.login_lines("dev" if mapped else ""),
        f"local all all peer{suffix}",
    ]
    return "\n".join(lines) + "\n"


def ident_conf(os_users: list[str], console: str = "console") -> str:
    """Without separate OS users these may be any role; nothing separates them then, and status says so. With them the console's may be any app's."""
    if not os_users:
        return "\n".join(app_roles.map_lines(console)) + "\n"
    roles = (SUPERUSER, *SERVICES, *app_roles.ROLES)
    return "".join(f"dev {user} {role}\n" for user in os_users for role in roles)
