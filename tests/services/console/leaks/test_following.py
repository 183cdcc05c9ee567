"""Fingerprints follow the records: what comes and goes is told, never a value, and with which key (S14)."""

from pathlib import Path
from typing import Any

import pytest
from asyncpg import PostgresError

from schemas.console.v1 import ColumnFingerprinted
from services.console.leaks import store
from services.console.leaks.keeper import LeakKeeper
from services.console.leaks.note import ALL, note_changes
from services.console.leaks.usecases.follow_changes import follow_changes
from services.console.leaks.usecases.survey_columns import survey_columns
from services.console.leaks.usecases.tell_columns import tell_list
from shared.health import Health
from shared.leaks.key import LIST, LeakKey, believes, read_list
from shared.leaks.marks import marks
from tests.services.console.records.conftest import Shop, shop

__all__ = ["shop"]
KEY, OTHER = LeakKey(bytes(range(32))), LeakKey(bytes(32))


class Guard:
    """The keeper's steps, one at a time, and what the lock would know of this shop then."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.db = shop, shop.desk.db
        self.known: dict[str, set[bytes]] = {}
        self.raw = b""

    async def follow(self, key: LeakKey = KEY) -> list[ColumnFingerprinted]:
        slug = self.shop.app.slug
        async with self.db.transaction() as tx:
            tables = await survey_columns(tx, key)
        for name in ("customers", "orders"):
            async with self.db.transaction() as tx:
                assert await follow_changes(tx, key, slug, tables.get((slug, name)), name)
        async with self.db.transaction() as tx:
            await tell_list(tx, key)
        return await self._told(key)

    async def _told(self, key: LeakKey) -> list[ColumnFingerprinted]:
        rows = await self.shop.desk.rows(
            "SELECT position, convert_from(body, 'UTF8')::jsonb->'data' AS data FROM app.outbox WHERE name = 'column.fingerprinted' ORDER BY position"
        )
        new = [ColumnFingerprinted.model_validate(row["data"]) for row in rows if row["position"] > self._last()]
        self._reached = max([self._last(), *(row["position"] for row in rows)])
        mine = [each for each in new if each.label.startswith(f"{self.shop.app.slug}: ")]
        for told in mine:
            assert believes(told, key)
            self._learn(key, told)
        return mine

    def _last(self) -> int:
        return getattr(self, "_reached", 0)

    def _learn(self, key: LeakKey, told: ColumnFingerprinted) -> None:
        added, removed = ({raw[at : at + 8] for at in range(0, len(raw), 8)} for raw in key.opened(told))
        name = told.label.rpartition(".")[2]
        before = set() if told.whole else self.known.get(name, set())
        assert not added & before and removed <= before, "what comes is new, what goes was there"
        self.known[name] = (before | added) - removed
        self.raw += told.added + told.removed

    def knows(self, value: str, column: str = "name", key: LeakKey = KEY) -> bool:
        found = marks(key.seeking, value)
        assert found, "it can have a fingerprint"
        return found <= self.known.get(column, set())


@pytest.fixture
def guard(shop: Shop) -> Guard:
    return Guard(shop)


async def test_what_is_added_changed_and_deleted_is_followed(guard: Guard, shop: Shop) -> None:
    first, second = await shop.add(
        "customers", {"code": "A1", "name": "Alfreds Futterkiste"}, {"code": "B2", "name": "Berglunds snabbköp"}
    )
    await guard.follow()
    assert guard.knows("Alfreds Futterkiste") and guard.knows("Berglunds snabbköp")
    await shop.change("customers", first, name="Quixotic Holdings")
    told = await guard.follow()
    assert [each.whole for each in told] == [False], "only what came and went of the one column"
    assert guard.knows("Quixotic Holdings") and not guard.knows("Alfreds Futterkiste")
    await shop.delete("customers", second)
    await guard.follow()
    assert not guard.knows("Berglunds snabbköp") and guard.knows("Quixotic Holdings")
    assert await guard.follow() == [], "nothing changed"


async def test_a_value_of_two_rows_goes_with_the_last(guard: Guard, shop: Shop) -> None:
    keys = await shop.add("customers", *({"code": each, "name": "Twice Incorporated"} for each in "XY"))
    await guard.follow()
    await shop.delete("customers", keys[0])
    await guard.follow()
    assert guard.knows("Twice Incorporated")
    await shop.delete("customers", keys[1])
    await guard.follow()
    assert not guard.knows("Twice Incorporated")


async def test_a_row_whose_key_changes_is_followed(guard: Guard, shop: Shop) -> None:
    [key] = await shop.add("customers", {"code": "old-code-of-it", "name": "Wandering Company"})
    await guard.follow()
    assert guard.knows("old-code-of-it", "code")
    await shop.change("customers", key, code="new-code-of-it")
    await guard.follow()
    assert (
        guard.knows("new-code-of-it", "code")
        and not guard.knows("old-code-of-it", "code")
        and guard.knows("Wandering Company")
    )


async def test_a_whole_table_and_texts_in_json(guard: Guard, shop: Shop) -> None:
    await guard.follow()
    async with shop.desk.db.transaction() as tx:  # as an import does it
        await tx.raw.execute(
            f"INSERT INTO \"{shop.app.schema_name}\".customers (code, name, extra) VALUES ('Z', 'Imported Gadgets', '{{\"a\": [\"Nested Secret Name\"]}}')"
        )
        await note_changes(tx, shop.app.slug, "customers", ALL)
    await guard.follow()
    assert guard.knows("Imported Gadgets") and guard.knows("Nested Secret Name", "extra")


async def test_another_key_makes_everything_anew(guard: Guard, shop: Shop) -> None:
    await shop.add("customers", {"code": "K", "name": "Keyholder Limited"})
    await guard.follow()
    told = await guard.follow(OTHER)
    assert told and all(each.whole and each.key_id == OTHER.key_id for each in told)
    assert guard.knows("Keyholder Limited", key=OTHER) and not guard.knows("Keyholder Limited")


async def test_the_list_says_up_to_where_each_column_must_be_there(guard: Guard, shop: Shop) -> None:
    await shop.add("customers", {"code": "L", "name": "Listed Enterprises"})
    told = await guard.follow()
    async with shop.desk.db.reading() as tx:
        held = await store.columns(tx)
    newest: list[dict[str, Any]] = await shop.desk.rows(
        "SELECT convert_from(body, 'UTF8')::jsonb->'data' AS data FROM app.outbox WHERE name = 'column.fingerprinted' AND key = $1 ORDER BY position DESC LIMIT 1",
        f"column:{LIST}",
    )
    listed = ColumnFingerprinted.model_validate(newest[0]["data"])
    said = read_list(KEY.opened(listed)[0])
    assert {each.column_id: each.sequence for each in told}.items() <= said.items()
    assert set(said) == {row["column_id"] for row in held.values() if row["complete"]}


async def test_no_event_shows_a_value_or_that_two_columns_have_the_same(guard: Guard, shop: Shop) -> None:
    await shop.add("customers", {"code": "Same Words Twice", "name": "Same Words Twice"})
    told = await guard.follow()
    carried = [each.added for each in told if each.label.endswith((".code", ".name"))]
    assert len(carried) == 2 and len({*carried}) == 2
    [plain] = marks(KEY.seeking, "Same Words Twice")
    assert all(plain not in each for each in carried)


async def test_what_could_be_guessed_and_choices_are_not_told(guard: Guard, shop: Shop) -> None:
    await shop.add(
        "customers",
        {"code": "1", "name": "4711", "country": "Germany", "since": "2024-01-31", "stage": "won", "visits": "12"},
    )
    await guard.follow()
    assert not any(guard.known.values())
    assert {"since", "stage", "active", "seen"}.isdisjoint(guard.known)


async def test_a_table_that_cannot_be_read_keeps_no_other_from_being_followed(
    guard: Guard, shop: Shop, tmp_path: Path
) -> None:
    await guard.follow()
    await shop.add("customers", {"code": "C3", "name": "Unreadable Incorporated"})
    [order] = await shop.add("orders", {"customer": "C3"})
    schema = shop.app.schema_name
    async with guard.db.transaction() as tx:
        await tx.raw.execute(f"ALTER TABLE {schema}.customers RENAME TO customers_away")
    keeper = LeakKeeper(guard.db, tmp_path, Health("console"))
    try:
        with pytest.raises(PostgresError):
            await keeper._follow_rows(KEY)
        left = await shop.desk.rows("SELECT table_name FROM app.leak_todo WHERE app = $1", shop.app.slug)
        assert {row["table_name"] for row in left} == {"customers"}, order
    finally:
        async with guard.db.transaction() as tx:
            await tx.raw.execute(f"ALTER TABLE {schema}.customers_away RENAME TO customers")
