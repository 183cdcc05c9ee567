"""The agent: settings -> database -> bus -> loop -> workspace page."""

from typing import Any
from uuid import UUID

from schemas.outward import Owner
from services.agent.actions.holding import ActionsHolding
from services.agent.actions.parts import make_actions
from services.agent.automations.parts import make_automations
from services.agent.automations.preface import automation_preface
from services.agent.belongings.api import add_belongings
from services.agent.belongings.domain import Holding
from services.agent.belongings.operator import belongings_verbs
from services.agent.belongings.pages import belongings_pages
from services.agent.belongings.parts import all_holdings
from services.agent.builtin.model import builtin_model
from services.agent.chat.parts import Chat
from services.agent.chat.web import make_web
from services.agent.conversations.both import AllConversations
from services.agent.conversations.holding import ConversationsHolding
from services.agent.conversations.kept import KeptConversations
from services.agent.conversations.recovery import Recovery
from services.agent.downloads.parts import make_downloads
from services.agent.drafting.tools import make_tools as drafting_tools
from services.agent.drafting.usecases.keep_answer import Telling
from services.agent.files.parts import make_files
from services.agent.guests.memory import GuestConversations
from services.agent.guests.visits import Visits
from services.agent.habits.behavior import BehaviorPreface
from services.agent.habits.running import Runner
from services.agent.habits.tools import make_tools as habit_tools
from services.agent.intake import AgentIntake
from services.agent.lessons.shelf import Lessons
from services.agent.lessons.tools import make_tools as lesson_tools
from services.agent.loop.desk import Desk
from services.agent.loop.domain import Happening
from services.agent.loop.models import Models
from services.agent.loop.preface import Preface
from services.agent.loop.turns import Turns
from services.agent.mail.holding import MailHolding
from services.agent.mail.parts import make_mail
from services.agent.memory.files import Workspaces
from services.agent.memory.holding import WorkspaceHolding
from services.agent.memory.preface import memory_preface
from services.agent.memory.progress import noting
from services.agent.memory.tools import make_tools as memory_tools
from services.agent.notifications.kept import Notifications
from services.agent.notifications.parts import make_toasts
from services.agent.owners.parts import make_owners
from services.agent.owners.still import StillThere
from services.agent.proposals.holding import ProposalsHolding
from services.agent.proposals.tools import make_tools as proposal_tools
from services.agent.sharing.tools import make_tools as sharing_tools
from services.agent.skills.preface import skills_preface
from services.agent.spend.ledger import Ledger
from services.agent.spend.prices import Prices
from services.agent.spend.witness import AuditWitness
from services.agent.tables import CORE_GRANTS, CORE_OWNED, PROTECTION, app, core
from services.agent.tasks.parts import make_tasks
from services.agent.tools.domain import Tool
from services.agent.tools.reaching import make_tools as reaching_tools
from services.agent.tools.registry import tools
from services.agent.tools.searching import make_tools as search_tools
from services.agent.tools.spending import make_tools as spend_tools
from services.agent.usecases.propose_item import propose_item
from shared.asking.asker import Asker
from shared.db import Database
from shared.identity.doors import Surface
from shared.identity.upkeep import IdentityUpkeep
from shared.lifecycle import Service
from shared.operator import Verb
from shared.settings import Settings

LONGEST_TOLD = 1000
"""Characters of a note that pages are told of; they read it whole."""


def propose_verb(db: Database) -> Verb:
    async def propose(args: dict[str, Any]) -> dict[str, Any]:
        """{"kind", "lang", "path", "source"} -> {"item_id"}; the item then waits for a person."""
        async with db.transaction() as tx:
            found = await propose_item(tx, args["kind"], args["lang"], args["path"], args["source"])
        return {"item_id": str(found)}

    return propose


def compose(settings: Settings) -> Service:
    """Everything wired, nothing started."""
    service = Service(settings)
    db = service.database(app, core, protection=PROTECTION)
    surface = Surface("agent", settings.url, settings.urls["console"])
    owners = make_owners(service, db, surface)
    kept, visits = KeptConversations(db, service.notices), Visits(settings.part)
    guests = GuestConversations(visits)
    conversations = AllConversations(kept, guests)
    notifications = Notifications(db, service.notices)
    ledger = Ledger(db, owners.settings, Prices(settings.state))

    def everything() -> tuple[Tool, ...]:
        return all_tools

    service.part(ledger)
    service.part(Recovery(db, kept, settings.part, ledger.settle_abandoned))
    tasks = make_tasks(service, db, kept.worker, notifications.tell)
    toasts = make_toasts(notifications, tasks.tasks, visits)
    actions = make_actions(service, db, owners.deciders, conversations, everything)

    def announce(owner: Owner, conversation_id: UUID, note: UUID, text: str) -> None:
        told = Happening(conversation_id, note, 1, "note", {"text": text[:LONGEST_TOLD]})
        desk.channels.publish((owner.kind, owner.id, conversation_id), told)

    def wake_automations() -> None:
        automations.watch.wake()

    kept.announce = announce
    link = service.bus(AgentIntake(owners, actions.runner.wake, announce, wake_automations, Telling(surface.console_url, announce, notifications.put)))  # fmt: skip
    asker = Asker("agent", link.connection)
    link.also(asker)
    ledger.knows = AuditWitness(asker, lambda: link.connection.connected, owners.delegations.of)
    models = Models(asker, owners.settings, owners.delegations, builtin_model)
    workspaces, files = Workspaces(settings.workspace, db), make_files(settings.workspace, db)
    prefaces: list[Preface] = [
        memory_preface(workspaces),
        BehaviorPreface(db),
        skills_preface(files.files, workspaces),
        automation_preface,
    ]
    turns = Turns(conversations, ledger, models, everything, actions.desk, prefaces, StillThere(db))
    desk = Desk(conversations, turns, service.notices)
    automations = make_automations(service, db, owners, tasks, desk, conversations, notifications)
    proposing = (*proposal_tools(db, owners.settings.may_propose, surface.console_url, files.files), *drafting_tools(db, owners.settings.may_propose, surface.console_url))  # fmt: skip
    habits = habit_tools(db, Runner(turns.side, actions.desk, everything), everything)
    lessons, downloads = lesson_tools(Lessons(db)), make_downloads(service, db)
    reading = (
        spend_tools(ledger), search_tools(conversations), reaching_tools(asker, owners.delegations.need),
        make_mail(db, asker, owners.delegations.need, files.files), files.tools, toasts.tools, automations.tools,
    )  # fmt: skip
    all_tools = noting(
        workspaces,
        tools(proposing, memory_tools(workspaces), sharing_tools(db), habits, lessons, downloads.tools, *reading),
    )
    own: list[Holding] = [
        ConversationsHolding(db, kept),
        WorkspaceHolding(workspaces),
        ProposalsHolding(db),
        ActionsHolding(db),
        downloads.holding,
        MailHolding(db),
    ]
    holdings = all_holdings(db, core, CORE_OWNED, CORE_GRANTS, own)
    service.operator({"items.propose": propose_verb(db), **belongings_verbs(holdings)})
    for part in (IdentityUpkeep(db), visits, toasts.guests, desk):
        service.part(part)

    def closing() -> None:
        owners.close()
        web.close()
        desk.close()

    service.health.counters |= {
        "turns_running": lambda: desk.running,
        "turns_waiting": lambda: desk.waiting,
        "model_calls_open": lambda: ledger.open,
        "cap_refusals": lambda: ledger.refused,
        "guests_here": lambda: len(visits),
    }
    chat = Chat(
        surface, db, service.notices, owners.sessions, owners.door, visits, conversations, guests, desk, ledger, notifications
    )  # fmt: skip
    web = make_web(
        chat,
        lambda front: [
            *belongings_pages(holdings, front),
            *downloads.pages(front),
            *files.pages(front),
            *toasts.pages(front),
        ],
        toasts.also(files.also(downloads.also(lambda app, api: add_belongings(app, api, holdings)))),
        settings,
    )
    service.part(web.passing)
    service.http(web.app, settings.host, settings.port, closing=closing)
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("agent")).run())
