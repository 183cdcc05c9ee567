"""One service, one database: engine, transactions, tables of delivery, schema as code."""

from shared.db.engine import Database
from shared.db.schema import Protection, create_missing, verify_core
from shared.db.tables import delivery_tables
from shared.db.transaction import Tx

__all__ = ["Database", "Protection", "Tx", "create_missing", "delivery_tables", "verify_core"]
