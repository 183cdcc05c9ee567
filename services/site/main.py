"""The public site, put together: settings -> database -> books -> watch -> pages -> HTTP."""

import time
from uuid import UUID

from services.site.intake import SiteIntake
from services.site.pages import Doorstep, application
from services.site.publication.books import Books
from services.site.publication.door import Door
from services.site.publication.shelf import Shelf
from services.site.publication.watch import Watch
from services.site.reading.cache import CSP, PageCache
from services.site.reading.catalog import Catalog
from services.site.reading.freshness import Freshness
from services.site.reading.front import Front
from services.site.reading.indexer import Indexer
from services.site.reading.layout import Layout
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
from shared.ids import fresh_id
from shared.lifecycle import Service
from shared.settings import Settings
from shared.signing import PublicKeys
from shared.web.guard import Guard


def elapsed() -> float:
    """Seconds since the machine started, its sleep included: no change of the wall clock touches it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def compose(settings: Settings) -> Service:
    """The whole service, ready to run."""
    service = Service(settings)
    db = service.database(app, core)
    books = Books(
        PublicKeys.load(settings.public_keys), Shelf(), Door(str(fresh_id()), settings.site_mode_default, now, elapsed)
    )
    shelf, cache, tallies, tokens, index = books.shelf, PageCache(), Tallies(), FormTokens(), SearchIndex()
    catalog = Catalog(shelf)
    layout = Layout(catalog)
    renderer = Renderer(db, books)
    freshness = Freshness(shelf, catalog, cache, tallies)
    indexer = Indexer(shelf, renderer, index)
    watch = Watch(db, books, service.health)
    watch.opened = lambda key: setattr(tokens, "key", key)
    buffer = SignalBuffer(db, tallies.update)

    def most_read(items: list[UUID]) -> None:
        catalog.most_read = items

    base_url = (settings.site_base_url or settings.url).rstrip("/")
    pages = Pages(books, catalog, cache, layout, renderer, index, indexer, tallies, tokens, base_url)
    token = (settings.state / "keys" / "ingest.token").read_text().strip()
    door = SignalDoor(db, shelf, buffer, Visitors(db, settings.trusted_proxies), tokens, token)
    hosts = hosts_of(settings, base_url)
    inner = Doorstep(application([*door.routes(), *pages.routes()], layout), books, layout)
    front = Front(Guard(inner, hosts=hosts, origin=base_url, csp=CSP), cache, books, hosts)
    books.listeners.append(front.refresh)
    watch.ticks += [front.refresh, freshness.tick]
    service.bus(SiteIntake(books))
    for part in (watch, buffer, indexer, Upkeep(db, service.health, tallies, most_read)):
        service.part(part)
    service.http(front, settings.host, settings.port)
    return service


def hosts_of(settings: Settings, base_url: str) -> set[str]:
    """The Host values that the site answers to: its own address, and the public one if it has one (S8)."""
    return {url.split("//", 1)[1].lower() for url in (settings.url, base_url)}


def main() -> None:
    raise SystemExit(compose(Settings.from_command_line("site")).run())
