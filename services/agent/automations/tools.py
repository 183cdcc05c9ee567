"""The tool that makes an automation. It always waits on a card, which says exactly what will be done at which times; a person's word makes the task (rule 28)."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from schemas.agency import AUTOMATE
from schemas.outward import Owner
from services.agent.automations import store
from services.agent.automations.domain import APP, AutomationArguments
from services.agent.tasks.domain import Tasks, Wanted
from services.agent.tasks.scheduling import read_schedule
from services.agent.tools.domain import PEOPLE, Asked, Found, Tool
from shared.clock import now
from shared.db import Database
from shared.errors import Refused
from shared.schedules.calendar import next_after
from shared.schedules.checks import check_rule
from shared.schedules.domain import RULE, Understood
from shared.schedules.telling import next_lines
from shared.schedules.zones import wall


class AutomationTool:
    """`place`: says beforehand whose the card's automation is, so that none is ever unknown; `made`: called once it is there."""

    def __init__(self, tasks: Tasks, place: Callable[[UUID, Owner], Awaitable[None]], made: Callable[[], None]) -> None:
        self._tasks, self._place, self._made = tasks, place, made

    def exact(self, asked: Asked, given: AutomationArguments) -> AutomationArguments:
        """What the words mean now, in the owner's zone: whoever decides later decides on that. Refused when they are not understood, or nothing ever comes."""
        if asked.me.app == APP:
            raise Refused("An automation makes no automations; ask in the chat.", code="automation")
        at = now()
        understood = read_schedule(given.when, asked.me.zone, at)
        zone = understood.zone
        lines = tuple(f"{wall(zone, each.at):%Y-%m-%d %H:%M} {zone} = {each.utc} {each.note}".strip() for each in next_lines(understood, at))  # fmt: skip
        rule = understood.rule.model_dump(mode="json", exclude_defaults=True) | {"kind": understood.rule.kind}
        words = " ".join((understood.words, *understood.notes))[:2000]
        return given.model_copy(update={"zone": zone, "rule": rule, "words": words, "next": lines})

    async def create(self, asked: Asked, given: AutomationArguments) -> Found:
        """Run from the card alone. Refused when its only time has passed while it waited."""
        if asked.card_id is None:
            raise Refused("An automation is made by a card that a person allowed, and not otherwise.", code="card")
        rule, at = RULE.validate_python(given.rule), now()
        notes = check_rule(rule, given.zone, at)
        if next_after(rule, given.zone, at) is None:
            raise Refused("The time for it has passed while it waited for a decision; ask for it again.", code="past")
        when = Understood(rule, given.zone, given.words, tuple(notes))
        wanted = Wanted(
            "automation", given.title, given.instruction, when, given.notify, given.misfire, overlap=given.overlap,
            sources=asked.tainted, conversation_id=asked.conversation_id, card_id=asked.card_id,
        )  # fmt: skip
        await self._place(asked.card_id, asked.me.owner)
        task = await self._tasks.add(asked.me, wanted)
        self._made()
        return Found({"task": str(task.task_id), "words": task.words}, f"{task.title}: {task.words}")


def make_tools(db: Database, tasks: Tasks, made: Callable[[], None]) -> tuple[Tool, ...]:
    async def place(card_id: UUID, owner: Owner) -> None:
        async with db.transaction() as tx:
            await store.add_place(tx, card_id, owner)

    mine = AutomationTool(tasks, place, made)
    about = (
        "Let the agent do something by itself at certain times, e.g. every morning at 7. `when` in words, `instruction` as it would be said here. It always"
        " waits for an owner or admin first. For a mere reminder there is create_reminder."
    )
    return (Tool(AUTOMATE, about, AutomationArguments, mine.create, PEOPLE, writes="tasks", own=False, always=True, exact=mine.exact),)  # fmt: skip
