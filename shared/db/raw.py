"""asyncpg's connection as a type; the class cannot be subscripted at run time."""

from typing import TYPE_CHECKING

import asyncpg

if TYPE_CHECKING:
    Raw = asyncpg.Connection[asyncpg.Record]
else:
    Raw = asyncpg.Connection
