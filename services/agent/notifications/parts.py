"""Notifications and tasks as people and programs meet them, wired: pages, API, tools, and the clock of guests' reminders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import FastAPI
from starlette.routing import BaseRoute

from services.agent.chat.api import Api
from services.agent.chat.front import Front
from services.agent.guests.reminders import GuestReminders
from services.agent.guests.tasks import GuestTasks
from services.agent.guests.visits import Visits
from services.agent.notifications.api import add_notifications
from services.agent.notifications.kept import Notifications
from services.agent.notifications.pages import NotificationPages
from services.agent.tasks.api import add_tasks
from services.agent.tasks.both import AllTasks
from services.agent.tasks.domain import Tasks
from services.agent.tasks.pages import TaskPages
from services.agent.tasks.tools import make_tools
from services.agent.tools.domain import Tool

AddTo = Callable[[FastAPI, Api], None]


@dataclass(frozen=True)
class Toasts:
    """`tasks` are everybody's; `guests` is a part of the service."""

    notifications: Notifications
    tasks: AllTasks
    guests: GuestReminders
    tools: tuple[Tool, ...]

    def pages(self, front: Front) -> Sequence[BaseRoute]:
        return [*TaskPages(front, self.tasks).routes(), *NotificationPages(front, self.notifications).routes()]

    def also(self, others: AddTo) -> AddTo:
        """What `others` add to the API, and ours."""

        def add(app: FastAPI, api: Api) -> None:
            others(app, api)
            add_tasks(app, api, self.tasks)
            add_notifications(app, api, self.notifications)

        return add


def make_toasts(notifications: Notifications, kept: Tasks, visits: Visits) -> Toasts:
    of_guests = GuestTasks(visits)
    tasks = AllTasks(kept, of_guests)
    return Toasts(notifications, tasks, GuestReminders(visits, of_guests, notifications), make_tools(tasks))
