"""The statement that keeps the connectors' processes from refreshing the same token at once."""

from shared.db.raw import Raw

_HOLD = "SELECT pg_advisory_lock($1)"


async def hold(connection: Raw, key: int) -> None:
    """Returns when nobody else holds `key` (64 bits, signed); held until the connection ends."""
    await connection.execute(_HOLD, key)
