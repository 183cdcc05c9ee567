"""Connect to a database as a role: {"role", "database"}."""

from pathlib import Path
from typing import Any

import asyncpg

from infra.observe.doing.session import slot


async def do(state: Path, attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [await _connect(state / "run" / "pg", each["role"], each["database"]) for each in attempts]


async def _connect(socket_dir: Path, role: str, database: str) -> dict[str, Any]:
    try:
        async with slot(role):
            connection = await asyncpg.connect(host=str(socket_dir), user=role, database=database, timeout=40)
            await connection.close()
    except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidAuthorizationSpecificationError) as error:
        return {"got": "refused", "detail": error.sqlstate}
    except PermissionError:
        return {"got": "refused", "detail": "the socket is out of reach"}
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        return {"got": "error", "detail": f"{type(error).__name__}: {error}"}
    return {"got": "done"}
