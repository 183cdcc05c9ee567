"""The parts about automations, wired: what makes them, runs them and looks after them."""

from dataclasses import dataclass

from services.agent.actions.people import People
from services.agent.automations.delegations import BoundDelegations
from services.agent.automations.runner import AutomationRunner
from services.agent.automations.tools import make_tools
from services.agent.automations.watch import AutomationWatch
from services.agent.conversations.domain import Conversations
from services.agent.loop.desk import Desk
from services.agent.notifications.kept import Notifications
from services.agent.owners.parts import Owners
from services.agent.tasks.parts import TaskParts
from services.agent.tools.domain import Tool
from shared.db import Database
from shared.lifecycle import Service


@dataclass(frozen=True)
class Automations:
    runner: AutomationRunner
    watch: AutomationWatch
    tools: tuple[Tool, ...]


def make_automations(
    service: Service, db: Database, owners: Owners, tasks: TaskParts, desk: Desk, conversations: Conversations, notifications: Notifications
) -> Automations:  # fmt: skip
    """Both are parts of the service afterwards, and the loop of tasks has its runner. They stop before the desk does, which is a part from later on."""
    who, restored_at = People(db).now, service.settings.restored_at
    owners.delegations.bound = BoundDelegations(db, owners.keys)
    watch = AutomationWatch(db, who, desk.stop_turn, notifications, restored_at)
    runner = AutomationRunner(
        db, tasks.runs, desk, conversations, owners.deciders, notifications, who, watch.wake, restored_at
    )
    tasks.loop.runner = runner
    service.part(watch)
    service.part(runner)
    service.health.counters["automations_running"] = lambda: runner.running
    return Automations(runner, watch, make_tools(db, tasks.tasks, watch.wake))
