"""Composition root of the console."""

from services.console.access.operator import AccessOperator
from services.console.access.restored import KeysEndWithARestore
from services.console.actions.operator import ActionOperator
from services.console.agency.operator import AgencyOperator
from services.console.analytics.keeper import WarehouseKeeper
from services.console.analytics.operator import AnalyticsOperator
from services.console.analytics.warehouse import Warehouse
from services.console.apps.keeper import AppKeeper
from services.console.apps.operator import AppOperator
from services.console.apps.processes import Processes
from services.console.apps.views import Catalogue
from services.console.asking import AskOperator
from services.console.audit.operator import CopyDesk
from services.console.audit.watch import ChainWatch
from services.console.automations.operator import AutomationOperator
from services.console.cards.operator import CardOperator
from services.console.connectors.operator import ConnectorOperator
from services.console.delegations.keeper import DelegationKeeper
from services.console.forgetting.operator import ForgetOperator
from services.console.guests.operator import GuestOperator
from services.console.identity.issuer import Issuer
from services.console.identity.teller import Teller
from services.console.imports.keeper import ImportKeeper
from services.console.instances.echo import Echo
from services.console.intake import ConsoleIntake
from services.console.jobs.keeper import JobKeeper
from services.console.jobs.operator import JobOperator
from services.console.keys.keeper import KeyKeeper
from services.console.keys.operator import KeyOperator
from services.console.keys.ring import KeyRing
from services.console.leaks.keeper import LeakKeeper
from services.console.leaks.operator import LeakOperator
from services.console.links.operator import LinkOperator
from services.console.live import Live
from services.console.mail.keeper import MailKeeper
from services.console.mappings.operator import MappingOperator
from services.console.operator import ConsoleOperator
from services.console.parts import Console
from services.console.people.operator import PeopleOperator
from services.console.people.passwords import Passwords
from services.console.people.watch import SessionWatch
from services.console.proposals.operator import ProposalOperator
from services.console.provenance.operator import ProvenanceOperator
from services.console.records.operator import RecordOperator
from services.console.schema import app
from services.console.secrets.operator import SecretOperator
from services.console.secrets.watch import ExpiryWatch
from services.console.sharing.operator import SharingOperator
from services.console.spend.operator import SpendOperator
from services.console.tables import core
from services.console.undo.operator import UndoOperator
from services.console.web import make_web
from shared.asking.asker import Asker
from shared.inbox.parked import ParkedDesk
from shared.lifecycle import Service
from shared.settings import Settings
from shared.signing import PublicKeys


def compose(settings: Settings) -> Service:
    """Everything wired, nothing started."""
    service = Service(settings)
    db = service.database(app, core)
    live, ring = Live(), KeyRing(settings.keys)
    keeper = KeyKeeper(db, ring, live, service.health)
    keys = PublicKeys.load(settings.public_keys)
    identity = Issuer.load(settings.keys, settings.url)
    delegations = DelegationKeeper(db, identity)
    mail = MailKeeper(db, ring)
    cleanup = JobKeeper(db, ring, live, settings.restored_at)
    link = service.bus(ConsoleIntake(live, keeper.wake, delegations.wake, keys, mail.wake, cleanup.wake))
    chain = ChainWatch(db, keys, service.health, live)
    catalogue = Catalogue(db)
    processes = Processes(db, settings, catalogue)
    apps = AppKeeper(db, processes, catalogue, live)
    console = Console(
        settings=settings,
        db=db,
        live=live,
        ring=ring,
        identity=identity,
        form_key=(settings.keys / "session.key").read_bytes().strip(),
        passwords=Passwords(),
        parked=ParkedDesk(db, link.applier, link.reader),
        health=service.health,
        catalogue=catalogue,
        apps=apps,
        warehouse=Warehouse(settings),
        wake_chain=chain.wake,
        wake_mail=mail.wake,
        cleanup=cleanup,
    )
    service.operator(PeopleOperator(console).verbs | GuestOperator(console).verbs)
    service.operator(ConsoleOperator(console).verbs | KeyOperator(console).verbs)
    service.operator(UndoOperator(console).verbs | SecretOperator(console).verbs)
    service.operator(ConnectorOperator(console).verbs | CardOperator(console).verbs)
    service.operator(ActionOperator(console).verbs | SharingOperator(console).verbs | LinkOperator(console).verbs)
    service.operator(RecordOperator(console).verbs | MappingOperator(console).verbs)
    service.operator(AccessOperator(console).verbs | AgencyOperator(console).verbs)
    service.operator(SpendOperator(console).verbs | AutomationOperator(console).verbs)
    service.operator(
        AppOperator(console).verbs
        | JobOperator(console, cleanup).verbs
        | ProposalOperator(console).verbs
        | ForgetOperator(console).verbs
    )
    service.operator(AnalyticsOperator(console).verbs | ProvenanceOperator(console).verbs)
    asker = Asker("console", link.connection)
    link.also(asker)
    service.operator({**AskOperator(asker).verbs, **CopyDesk(db, keys).verbs, **LeakOperator(db).verbs})
    service.part(keeper)
    service.part(Teller(db, identity))
    service.part(WarehouseKeeper(db, console.warehouse, settings, service.health))
    service.part(KeysEndWithARestore(db, identity, settings.restored_at))
    service.part(delegations)
    service.part(processes)
    service.part(apps)
    service.part(mail)
    service.part(LeakKeeper(db, settings.keys, service.health))
    service.part(cleanup)
    service.part(ImportKeeper(db))
    service.part(SessionWatch(db, live))
    service.part(ExpiryWatch(db, live))
    service.part(chain)
    service.part(Echo(db, live, service.notices))
    service.http(make_web(console), settings.host, settings.port, closing=live.stop)
    return service


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("console")).run())
