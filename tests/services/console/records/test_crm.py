"""The CRM example, with a few rows of our own and, where it is there, the whole Northwind sample."""

import tomllib
from pathlib import Path
from uuid import uuid4

import pytest

from schemas.work import AppDeclaration
from services.console.apps.usecases.create_plain import create_plain
from tests.services.console.conftest import Desk
from tests.services.console.records.conftest import OWNER, Shop
from tests.services.console.records.test_importing import bring

EXAMPLE = Path(__file__).parents[4] / "infra" / "examples" / "crm"
NORTHWIND = Path(__file__).parents[5] / "shared" / "data" / "crm"
ORDER = ("categories", "products", "customers", "employees", "orders", "order_details")
COUNTS = {"categories": 8, "products": 77, "customers": 91, "employees": 9, "orders": 830, "order_details": 2155}


async def install(desk: Desk) -> Shop:
    declared = tomllib.loads((EXAMPLE / "app.toml").read_text()) | {"slug": f"crm-{uuid4().hex[:10]}"}
    async with desk.db.transaction() as tx:
        return Shop(desk, await create_plain(tx, AppDeclaration.model_validate(declared), OWNER, desk.key))


async def test_the_example_declares_tables_that_its_own_files_fit(desk: Desk) -> None:
    crm = await install(desk)
    assert (await bring(crm, (EXAMPLE / "stages.csv").read_bytes(), "stages")).added == 4
    codes = b"customerID,companyName\nALFKI,Alfreds\nANATR,Ana\nVINET,Vins\n"
    await bring(crm, codes, "customers")
    assert (await bring(crm, (EXAMPLE / "scores.csv").read_bytes(), "scores")).added == 3


@pytest.mark.skipif(not NORTHWIND.is_dir(), reason="the Northwind sample (../shared/data/crm) is not here")
async def test_northwind_loads_whole(desk: Desk) -> None:
    crm = await install(desk)
    for table in ORDER:
        raw = (NORTHWIND / f"{table.replace('_', '-')}.csv").read_bytes()
        report = await bring(crm, raw, table)
        assert (table, report.bad, report.added) == (table, [], COUNTS[table])
    [fuller] = [row for row in await crm.rows("employees") if row["last_name"] == "Fuller"]
    assert (fuller["reports_to"], str(fuller["birth_date"])) == (None, "1952-02-19")
