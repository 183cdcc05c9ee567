"""What the agent proposes becomes an app, rows or a job when a person accepts, and nothing before; the agent is told."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.agent.v1 import AppProposed, JobProposed, RecordProposed
from schemas.outward import Owner
from schemas.work import ANY_APP, ANY_COLUMN, AppDeclaration, CleanupJob, Column, Condition, Table
from services.console.apps.views import find_app
from services.console.proposals.usecases.decide_proposal import Order, decide_proposal
from services.console.proposals.usecases.record_proposal import record_proposal
from shared.clock import now
from shared.errors import Conflict, Forbidden, Permanent, Refused
from tests.services.console.conftest import TOM
from tests.services.console.jobs.conftest import OWNER, Workplace


def wish(**more: Any) -> dict[str, Any]:
    return {
        "proposal_id": uuid4(),
        "owner": Owner(kind="user", id=OWNER.id),
        "owner_name": "Mara",
        "why": "asked",
        "at": now(),
    } | more


async def propose(workplace: Workplace, proposed: Any) -> UUID:
    async with workplace.desk.db.transaction() as tx:
        await record_proposal(tx, proposed)
    await workplace.keeper.look_once()
    found: UUID = proposed.proposal_id
    return found


async def decide(
    workplace: Workplace, proposal: UUID, verdict: str = "accept", by: Any = OWNER, reason: str = "no"
) -> None:
    async with workplace.desk.db.transaction() as tx:
        await decide_proposal(tx, workplace.desk.key, by, Order(proposal, verdict, reason))


async def answers(workplace: Workplace, proposal: UUID) -> list[dict[str, Any]]:
    """What the agent was told, in order."""
    key = f"proposal:{proposal}"
    rows = await workplace.desk.rows(
        "SELECT body FROM app.outbox WHERE name = 'proposal.answered' AND key = $1 ORDER BY keyversion", key
    )
    return [json.loads(row["body"])["data"] for row in rows]


async def test_an_accepted_app_is_there_and_more_columns_come_to_it(workplace: Workplace) -> None:
    slug = f"loans-{uuid4().hex[:8]}"

    def declared(*columns: Column) -> AppDeclaration:
        return AppDeclaration(
            slug=slug, title="Loans", kind="application", tables=(Table(name="loans", columns=columns),)
        )

    first = await propose(workplace, AppProposed(**wish(), declaration=declared(Column(name="title"))))
    async with workplace.desk.db.reading() as tx:
        assert await find_app(tx, slug) is None
    with pytest.raises(Forbidden):
        await decide(workplace, first, by=TOM)
    await decide(workplace, first)
    with pytest.raises(Conflict, match="already"):
        await decide(workplace, first, "refuse")
    second = await propose(workplace, AppProposed(**wish(), declaration=declared(Column(name="due_on", type="date"))))
    await decide(workplace, second)
    changed = await propose(workplace, AppProposed(**wish(), declaration=declared(Column(name="title", type="date"))))
    with pytest.raises(Refused, match="cannot become"):
        await decide(workplace, changed)
    async with workplace.desk.db.reading() as tx:
        app = await find_app(tx, slug)
    assert (
        app is not None
        and app.shared
        and [each.name for each in app.declaration.tables[0].columns] == ["title", "due_on"]
    )
    assert [each["state"] for each in await answers(workplace, first)] == ["accepted"]


async def test_accepted_rows_come_and_change_with_their_types(workplace: Workplace) -> None:
    about = {"app": workplace.app.slug, "table": "vsg_runs"}
    new = await propose(
        workplace, RecordProposed(**wish(), **about, rows='[{"name":"one","cost":"2.50","status":null}]')
    )
    await decide(workplace, new)
    (row,) = await workplace.desk.rows(f'SELECT id, name, cost, status FROM "{workplace.app.schema_name}".vsg_runs')
    assert (row["name"], str(row["cost"]), row["status"]) == ("one", "2.50", None)
    changed = RecordProposed(**wish(), **about, rows='[{"name":"two"}]', keys=json.dumps([{"id": row["id"]}]))
    await decide(workplace, await propose(workplace, changed))
    assert await workplace.names() == {"two"}
    wrong = await propose(workplace, RecordProposed(**wish(), **about, rows='[{"name":"x","cost":"much"}]'))
    with pytest.raises(Refused):
        await decide(workplace, wrong)
    assert await answers(workplace, wrong) == [] and await workplace.names() == {"two"}


async def test_what_cannot_be_meant_is_answered_at_once(workplace: Workplace) -> None:
    broken = await propose(workplace, RecordProposed(**wish(), app=workplace.app.slug, table="vsg_runs", rows="{}"))
    audit = CleanupJob(
        name="x", app="platform", table="calls", conditions=(Condition(column="at", op="older_than", value="90"),), schedule="every Sunday", zone="UTC"
    )  # fmt: skip
    kept = await propose(workplace, JobProposed(**wish(), job=audit))
    for proposal, words in ((broken, "list of objects"), (kept, "rule 13")):
        (told,) = await answers(workplace, proposal)
        assert told["state"] == "failed" and words in told["reason"]
    with pytest.raises(Permanent):
        await propose(workplace, JobProposed(**wish(owner=Owner(kind="guest", id="7")), job=audit))


async def test_a_proposed_job_is_counted_told_and_switched_on_by_a_person(workplace: Workplace) -> None:
    async with workplace.desk.db.transaction() as tx:
        await tx.raw.execute(f'ALTER TABLE "{workplace.app.schema_name}".vsg_runs ALTER COLUMN status SET DEFAULT NULL')
    await workplace.add_run("old", 5)
    await workplace.add_run("undated", None)
    old = Condition(column=ANY_COLUMN, op="older_than", value="90")
    job = workplace.job().model_copy(update={"conditions": (old,)})
    proposal = await propose(workplace, JobProposed(**wish(), job=job))
    (told,) = await answers(workplace, proposal)
    assert (told["state"], told["rows"], told["undated"], len(told["next"])) == ("waiting", 1, 1, 5)
    assert await workplace.state(proposal) == "proposed" and await workplace.names() == {"old", "undated"}
    await decide(workplace, proposal)
    assert await workplace.state(proposal) == "on"
    run = await workplace.run(proposal)
    assert run["deleted"] == 1
    await workplace.switch(proposal, "off")
    assert [each["state"] for each in await answers(workplace, proposal)] == ["waiting", "accepted", "ended"]


async def test_a_table_that_several_apps_have_is_asked_for(workplace: Workplace) -> None:
    job = workplace.job().model_copy(update={"app": ANY_APP, "table": f"none_{uuid4().hex[:6]}"})
    proposal = await propose(workplace, JobProposed(**wish(), job=job))
    (told,) = await answers(workplace, proposal)
    assert told["state"] == "failed" and "No app has a table" in told["reason"]
