"""The public site, put together: settings -> database -> books -> watch -> pages -> HTTP."""

import time
from dataclasses import dataclass
from uuid import UUID

from services.site.intake import SiteIntake
from services.site.pages import Doorstep, application
from services.site.publication.books import Books
from services.site.publication.door import Door
from services.site.publication.shelf import Shelf
from services.site.publication.watch import Watch
from services.site.reading.cache import CSP, PageCache
from services.site.reading.catalog import Catalog
from services.site.reading.desk import Desk
from services.site.reading.freshness import Freshness
from services.site.reading.front import Front
from services.site.reading.indexer import Indexer
from services.site.reading.item_pages import ItemPages
from services.site.reading.layout import Layout
from services.site.reading.list_pages import ListPages
from services.site.reading.other_pages import OtherPages
from services.site.reading.pages import Pages
from services.site.reading.rendering import Renderer
from services.site.reading.search import SearchIndex
from services.site.signals.buffer import SignalBuffer
from services.site.signals.domain import FormTokens
from services.site.signals.pages import SignalDoor
from services.site.signals.tallies import Tallies
from services.site.signals.upkeep import Upkeep
from services.site.signals.visitors import Visitors
from services.site.tables import app, core
from shared.clock import now
from shared.db import Database
from shared.health import Health
from shared.ids import fresh_id
from shared.lifecycle import Part, Service
from shared.settings import Settings
from shared.signing import PublicKeys
from shared.web.guard import Guard


def elapsed() -> float:
    """Seconds since the machine started, its sleep included: no change of the wall clock touches it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class Options:
    """What an installation decides. `base_url` stands in feeds and is the only origin that may send forms."""

    base_url: str
    hosts: frozenset[str]
    mode: str
    ingest_token: str
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


def assemble(db: Database, health: Health, keys: PublicKeys, options: Options) -> Site:
    """Wire everything by hand. The catalog must hear of a change before the cache, and the cache before the index."""
    books = Books(keys, Shelf(), Door(str(fresh_id()), options.mode, now, elapsed))
    shelf, cache, tallies, tokens, index = books.shelf, PageCache(), Tallies(), FormTokens(), SearchIndex()
    catalog = Catalog(shelf)
    layout = Layout(catalog)
    renderer = Renderer(db, books)
    freshness = Freshness(shelf, catalog, cache, tallies)
    indexer = Indexer(shelf, renderer, index, catalog, cache)
    watch = Watch(db, books, health)
    buffer = SignalBuffer(db, tallies.update)

    def most_read(items: list[UUID]) -> None:
        catalog.most_read = items

    desk = Desk(books, catalog, cache, layout, renderer, options.base_url)
    pages = Pages(desk, ItemPages(desk, tallies, tokens), ListPages(desk), OtherPages(desk, index, indexer))
    door = SignalDoor(db, shelf, buffer, Visitors(db, options.trusted_proxies), tokens, options.ingest_token)
    inner = Doorstep(application([*door.routes(), *pages.routes()], layout), books, layout)
    guard = Guard(inner, hosts=options.hosts, origin=options.base_url, csp=CSP)
    front = Front(guard, cache, books, options.hosts)
    books.listeners.append(front.refresh)
    watch.opened = lambda key: setattr(tokens, "key", key)
    watch.ticks += [front.refresh, freshness.tick]
    parts = (watch, buffer, indexer, Upkeep(db, health, tallies, most_read))
    return Site(books, cache, SiteIntake(books), watch, parts, front)


def compose(settings: Settings) -> Service:
    """The whole service, ready to run."""
    service = Service(settings)
    site = assemble(
        service.database(app, core), service.health, PublicKeys.load(settings.public_keys), options_of(settings)
    )
    site.books.several = settings.cluster
    site.books.listeners.append(lambda: service.notices.tell("log"))
    service.notices.on("log", lambda _: site.watch.hurry())
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
        trusted_proxies=settings.trusted_proxies,
    )


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("site")).run())
