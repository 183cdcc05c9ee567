"""Who may log in to Postgres and the server settings that guard it: as the code writes them."""

from infra.local.config import Config
from infra.local.layout import Layout
from infra.postgres.settings import SETTINGS, hba_conf, ident_conf

GUARDED = ("listen_addresses", "unix_socket_permissions", "fsync", "full_page_writes", "synchronous_commit", "wal_level", "max_wal_senders", "max_replication_slots")  # fmt: skip
ABSENT = ("shared_preload_libraries", "session_preload_libraries", "local_preload_libraries", "archive_command", "primary_conninfo", "dynamic_library_path", "ssl", "allow_system_table_mods", "ignore_system_indexes", "zero_damaged_pages")  # fmt: skip
DEFAULTS = {"dynamic_library_path": "$libdir", "ssl": "off", "allow_system_table_mods": "off", "ignore_system_indexes": "off", "zero_damaged_pages": "off", "archive_command": "(disabled)"}  # fmt: skip


def login_lines(config: Config) -> list[str]:
    """Of pg_hba.conf."""
    return hba_conf(mapped=not config.os_separation).split("\n")[:-1]


def map_lines(config: Config) -> list[str]:
    """Of pg_ident.conf: the console as the apps' roles; and the one user of an installation that is not separated."""
    users = [] if config.os_separation else sorted({config.users["console"], config.users["pgadm"]})
    return ident_conf(users, config.users["console"]).split("\n")[:-1]


def guarded_settings(layout: Layout) -> dict[str, str]:
    """Server settings that somebody could open a way with."""
    guarded = {name: SETTINGS.get(name, "on").strip("'") for name in GUARDED}
    return guarded | {name: DEFAULTS.get(name, "") for name in ABSENT} | {"unix_socket_directories": str(layout.pg_socket_dir)}  # fmt: skip


def expected_login_rules(config: Config) -> dict[tuple[str, str], str]:
    rules = {("postgres", f"login rule {number}"): line for number, line in enumerate(login_lines(config), 1)}
    return rules | {("postgres", f"login map {number}"): line for number, line in enumerate(map_lines(config), 1)}


def expected_settings(layout: Layout) -> dict[tuple[str, str], str]:
    return {("postgres", f"server setting {name}"): value for name, value in guarded_settings(layout).items()}
