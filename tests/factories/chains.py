"""Whether what was staged at one end had exactly its effect at the other, read from the databases."""

from typing import Any

from tests.factories.stack import Stack


def position(stack: Stack, service: str) -> int:
    """The newest position in a service's outbox."""
    return int(stack.value(service, "SELECT coalesce(max(position), 0)::bigint AS p FROM app.outbox"))


def staged(stack: Stack, service: str, name: str, after: int) -> set[str]:
    """Ids of the events of a type that a service staged after a position."""
    rows = stack.rows(
        service, f"SELECT event_id::text AS id FROM app.outbox WHERE name = '{name}' AND position > {after}"
    )
    return {row["id"] for row in rows}


def handled(stack: Stack, service: str, name: str) -> list[str]:
    rows = stack.rows(service, f"SELECT event_id::text AS id FROM app.inbox WHERE name = '{name}'")
    return [row["id"] for row in rows]


def gate_log(stack: Stack) -> list[dict[str, Any]]:
    return stack.rows("bridge", "SELECT seq, hash, item_id::text AS item_id, kind FROM core.gate_log ORDER BY seq")


def site_log(stack: Stack) -> list[dict[str, Any]]:
    return stack.rows("site", "SELECT seq, hash, item_id::text AS item_id, kind FROM app.gate_entries ORDER BY seq")
