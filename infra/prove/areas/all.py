"""The areas in the order in which they are shown."""

from collections.abc import Awaitable, Callable

from infra.prove.areas import (
    asking,
    audit,
    backups,
    bus,
    cards,
    chain,
    cluster,
    containers,
    conversations,
    database,
    edge,
    egress,
    files,
    fingerprints,
    fronts,
    grants,
    identity,
    people,
    row_security,
    secrets,
    site_rows,
    statements,
    undo,
)
from infra.prove.check import Check
from infra.prove.target import Target

AREAS: dict[str, Callable[[Target], Awaitable[list[Check]]]] = {
    "database": database.check,
    "bus": bus.check,
    "files": files.check,
    "statements": statements.check,
    "site rows": site_rows.check,
    "http": fronts.check,
    "chain": chain.check,
    "cluster": cluster.check,
    "edge": edge.check,
    "egress": egress.check,
    "containers": containers.check,
    "backups": backups.check,
    "grants": grants.check,
    "people": people.check,
    "identity": identity.check,
    "undo": undo.check,
    "secrets": secrets.check,
    "cards": cards.check,
    "asking": asking.check,
    "fingerprints": fingerprints.check,
    "audit": audit.check,
    "conversations": conversations.check,
    "row security": row_security.check,
}
