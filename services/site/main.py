"""The public site, put together: settings -> database -> books -> editions -> doorstep -> HTTP."""

import time
from dataclasses import dataclass

from starlette.routing import Route

from services.site.doors import Doors
from services.site.entrance.doorstep import Doorstep, Rooms
from services.site.entrance.porch import Porch
from services.site.instances import share
from services.site.intake import SiteIntake
from services.site.pages import application
from services.site.publication.books import Books
from services.site.publication.door import Door
from services.site.publication.expiry import Expiry
from services.site.publication.proof import Proof
from services.site.publication.shelf import Shelf
from services.site.publication.watch import Watch
from services.site.reading.cache import CSP, PageCache
from services.site.reading.edition import Edition
from services.site.reading.front import App, Front
from services.site.reading.layout import Layout
from services.site.reading.press import Press
from services.site.signals.buffer import SignalBuffer
from services.site.signals.domain import FormTokens
from services.site.signals.limits import RateLimit
from services.site.signals.tallies import Tallies
from services.site.signals.upkeep import Upkeep
from services.site.signals.visitors import Visitors
from services.site.tables import app, core
from shared.clock import now
from shared.db import Database
from shared.health import Health
from shared.identity import Sessions, TokenReader
from shared.identity.doors import SIGNED_IN, SignInDoor, Surface
from shared.identity.upkeep import IdentityUpkeep
from shared.ids import fresh_id
from shared.lifecycle import Part, Service
from shared.settings import Settings
from shared.signing import PublicKeys
from shared.web.guard import Guard

AUDIENCE = "site"
"""The name of this surface in tokens, standings and endings."""


def elapsed() -> float:
    """Seconds since the machine started, its sleep included: no change of the wall clock touches it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class Options:
    """What an installation decides. `base_url` stands in feeds and is the only origin that may send forms; `console_url` is
    where people sign in."""

    base_url: str
    hosts: frozenset[str]
    mode: str
    ingest_token: str
    console_url: str
    trusted_proxies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """What runs: `parts` start in this order, before the bus; `front` is the HTTP application."""

    books: Books
    cache: PageCache
    intake: SiteIntake
    watch: Watch
    parts: tuple[Part, ...]
    front: Front
    sessions: Sessions
    tallies: Tallies
    upkeep: Upkeep
    limit: RateLimit
    identity_upkeep: IdentityUpkeep


def assemble(db: Database, health: Health, keys: PublicKeys, options: Options) -> Site:
    """Wire everything by hand."""
    books = Books(keys, Shelf(), Door(str(fresh_id()), options.mode, now, elapsed))
    tallies, tokens = Tallies(), FormTokens()
    press = Press(db, books, tallies, tokens, options.base_url)
    watch = Watch(db, books, health)
    limit = RateLimit()
    buffer = SignalBuffer(db, tallies.update)
    doors = Doors(db, books, press.renderer, buffer, Visitors(db, options.trusted_proxies), tokens, limit, options.ingest_token)  # fmt: skip
    sessions = Sessions(db, TokenReader(keys, AUDIENCE, options.console_url))
    front = _front(books, press, doors, sessions, tokens, options)
    books.listeners.append(front.refresh)
    watch.opened = lambda key: setattr(tokens, "key", key)
    watch.ticks += [front.refresh, press.tick]
    upkeep = Upkeep(db, health, tallies, press.most_read, press.read_together)
    cleaner = IdentityUpkeep(db)
    parts = (watch, Proof(books), Expiry(books.shelf), buffer, press.indexer, upkeep, cleaner)
    return Site(books, press.public.cache, SiteIntake(books), watch, parts, front, sessions, tallies, upkeep, limit, cleaner)  # fmt: skip


def _front(
    books: Books,
    press: Press,
    doors: Doors,
    sessions: Sessions,
    tokens: FormTokens,
    options: Options,
) -> Front:
    """Front, guard, doorstep, and the rooms behind it."""
    surface = Surface(AUDIENCE, options.base_url, options.console_url)
    bare = Layout(press.public.catalog, bare=True)
    porch = Porch(bare)
    door = SignInDoor(
        surface, sessions, porch.refused, lambda _, form: tokens.is_leaving(form.get("token", ""), now().date())
    )
    rooms = _rooms(press, doors, bare, application(porch.routes(door), bare))
    inner = Doorstep(rooms, books, door, porch, bare)
    handed_over = {SIGNED_IN: options.console_url}
    guard = Guard(inner, hosts=options.hosts, origin=options.base_url, csp=CSP, handed_over=handed_over)
    return Front(guard, press.public.cache, books, options.hosts, surface.cookie)


def _rooms(press: Press, doors: Doors, bare: Layout, porch: App) -> Rooms:
    """The public's edition, the members', the porch, and what always answers."""

    def room(edition: Edition) -> App:
        return application([*doors.of(edition), *press.routes(edition)], edition.layout)

    always = application([Route("/static/{name}", bare.static.endpoint), doors.operators()], bare)
    return Rooms(room(press.public), room(press.members), porch, always, press.members.cache)


def compose(settings: Settings) -> Service:
    """The whole service, ready to run."""
    service = Service(settings)
    db = service.database(app, core, unhurried=True)  # a start verifies the whole log in one transaction
    site = assemble(db, service.health, PublicKeys.load(settings.public_keys), options_of(settings))
    share(service.notices, site.books, site.watch, site.tallies, site.upkeep, site.limit)
    service.bus(site.intake)
    service.health.need("gate")  # ready means: pages can be rendered
    for part in site.parts:
        service.part(part)
    service.http(site.front, settings.host, settings.port)
    return service


def options_of(settings: Settings) -> Options:
    base_url = (settings.site_base_url or settings.url).rstrip("/")
    return Options(
        base_url=base_url,
        hosts=frozenset(url.split("//", 1)[1].lower() for url in (settings.url, base_url)),
        mode=settings.site_mode_default,
        ingest_token=(settings.state / "keys" / "ingest.token").read_text().strip(),
        console_url=settings.urls["console"],
        trusted_proxies=settings.trusted_proxies,
    )


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("site")).run())
