"""The parts about action cards, wired: where a tool asks, and what runs what people allowed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.agent.actions.desk import ActionDesk
from services.agent.actions.people import People
from services.agent.actions.runner import ActionRunner, Notes
from services.agent.owners.deciders import Deciders
from services.agent.tools.domain import Tool
from shared.db import Database
from shared.lifecycle import Service


@dataclass(frozen=True)
class Actions:
    """`runner.wake` is for the intake: a decision was kept."""

    desk: ActionDesk
    runner: ActionRunner


def make_actions(
    service: Service, db: Database, deciders: Deciders, notes: Notes, tools: Callable[[], Sequence[Tool]]
) -> Actions:
    """`tools`: all there are, of every role; asked when something runs."""
    settings = service.settings
    desk = ActionDesk(db, settings.urls["console"])
    runner = ActionRunner(db, desk, deciders, tools, notes, People(db).now, settings.part)
    service.part(runner)
    return Actions(desk, runner)
