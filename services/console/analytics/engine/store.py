"""The copy in ClickHouse: tables, pieces put in so that a repeated or overlapping one changes nothing, questions."""
# statements are built from the constants here
# ruff: noqa: S608

import time
from collections.abc import Sequence
from typing import Any

_COLUMNS = {
    "signals": """chunk Int64, key Int64, at DateTime64(6, 'UTC'), kind LowCardinality(String), item_id Nullable(UUID),
      lang LowCardinality(String), path String, referrer LowCardinality(String), link_id Nullable(UUID), visitor Int64, value Int8""",
    "calls": """chunk Int64, key UUID, at DateTime64(6, 'UTC'), asker LowCardinality(String), connector LowCardinality(String),
      operation String, outcome LowCardinality(String), duration_ms Nullable(Int64), bytes_out Nullable(Int64), bytes_in Nullable(Int64)""",
    "spend": """chunk Int64, key UUID, at DateTime64(6, 'UTC'), owner String, model String, app String, surface String,
      purpose String, cost Nullable(Decimal(76, 20)), tokens_in Nullable(Int64), tokens_out Nullable(Int64)""",
}
"""In the order in which rows are told."""
FORM = 1
"""Raised when these columns change: an older copy is then told everything again."""
_ORDERED = "ENGINE = MergeTree ORDER BY (chunk, key)"
_SETTINGS = {"mutations_sync": 2, "lightweight_deletes_sync": 2}
_GENERATION = "generation"


class Copy:
    """`client`: clickhouse-connect's, of either kind. Not for several threads at once."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._command(f"CREATE TABLE IF NOT EXISTS {_GENERATION} (name String) ENGINE = MergeTree ORDER BY name")

    def _command(self, sql: str) -> None:
        self._client.command(sql, settings=_SETTINGS)

    def begin(self, generation: str) -> bool:
        """Whether the copy is of this generation and form; if not it is empty now."""
        generation = f"{FORM}/{generation}"
        known = self._client.query(f"SELECT name FROM {_GENERATION}").result_rows
        if known == [(generation,)]:
            return True
        self._command(f"TRUNCATE TABLE {_GENERATION}")
        for source, columns in _COLUMNS.items():
            for name in (source, f"{source}_coming"):
                self._command(f"DROP TABLE IF EXISTS {name}")
                self._command(f"CREATE TABLE {name} ({columns}, INDEX by_time at TYPE minmax GRANULARITY 1) {_ORDERED}")
        self._client.insert(_GENERATION, [[generation]], column_names=["name"])
        return False

    def put(self, source: str, chunks: Sequence[int], afresh: Sequence[int], rows: bytes) -> None:
        """Make the pieces `chunks` exactly what `rows` says (all their rows, TabSeparated).

        Rows that are there already are not put in again and those that are gone go, so a piece that comes twice, or
        after a crash between here and whoever told it, leaves no doubles.
        """
        columns = _COLUMNS[source]
        assert columns
        wanted = ", ".join(str(int(each)) for each in chunks)
        if whole := ", ".join(str(int(each)) for each in afresh):
            self._command(f"DELETE FROM {source} WHERE chunk IN ({whole})")
        held = self._client.query(f"SELECT count() FROM {source} WHERE chunk IN ({wanted})").result_rows[0][0]
        if not held:
            self._insert(source, rows)
            return
        coming = f"{source}_coming"
        self._command(f"TRUNCATE TABLE {coming}")
        self._insert(coming, rows)
        known = f"(SELECT chunk, key FROM {source} WHERE chunk IN ({wanted}))"
        self._command(f"INSERT INTO {source} SELECT * FROM {coming} WHERE (chunk, key) NOT IN {known}")
        self._command(
            f"DELETE FROM {source} WHERE chunk IN ({wanted}) AND (chunk, key) NOT IN (SELECT chunk, key FROM {coming})"
        )
        self._command(f"TRUNCATE TABLE {coming}")

    def _insert(self, table: str, rows: bytes) -> None:
        if rows:
            self._client.raw_insert(table, insert_block=rows, fmt="TabSeparated", settings=_SETTINGS)

    def empty(self, source: str) -> None:
        assert _COLUMNS[source]
        self._command(f"TRUNCATE TABLE {source}")

    def merge(self) -> None:
        """What ClickHouse does by itself some time, now."""
        for source in _COLUMNS:
            self._command(f"OPTIMIZE TABLE {source} FINAL")

    def ask(self, sql: str, values: dict[str, Any]) -> dict[str, Any]:
        """Rows, how many rows were read, and the milliseconds that it took."""
        begun = time.perf_counter()
        found = self._client.query(sql, parameters=values)
        taken = (time.perf_counter() - begun) * 1000
        parts = self._client.query(f"EXPLAIN ESTIMATE {sql}", parameters=values).named_results()
        rows = [list(row) for row in found.result_rows]
        return {"rows": rows, "read_rows": sum(int(part["rows"]) for part in parts), "milliseconds": taken}

    def count(self) -> int:
        return sum(
            int(self._client.query(f"SELECT count() FROM {source}").result_rows[0][0])
            for source in _COLUMNS
            if self._client.query(f"EXISTS TABLE {source}").result_rows[0][0]
        )
