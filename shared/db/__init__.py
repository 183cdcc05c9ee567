"""One service, one database: engine, transactions, tables of delivery, schema as code."""

from shared.db.engine import Database
from shared.db.schema import Protection, add_missing, create_missing, log_changes, verify_core
from shared.db.tables import delivery_tables
from shared.db.transaction import Tx

__all__ = [
    "Database",
    "Protection",
    "Tx",
    "add_missing",
    "create_missing",
    "delivery_tables",
    "log_changes",
    "verify_core",
]
