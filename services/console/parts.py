"""What the console's pages, API and operator commands are built from; wired by hand in main.py."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from services.console.analytics.warehouse import Warehouse
from services.console.apps.keeper import AppKeeper
from services.console.apps.views import Catalogue
from services.console.identity.domain import FRONTS, Audience
from services.console.identity.issuer import Issuer
from services.console.jobs.keeper import JobKeeper
from services.console.keys.ring import KeyRing
from services.console.live import Live
from services.console.people.passwords import Passwords
from shared.db import Database
from shared.health import Health
from shared.inbox.parked import ParkedDesk
from shared.settings import Settings


@dataclass(frozen=True)
class Console:
    """The parts of one running console. `form_key` binds form tokens to cookies; `ring` holds the keys that sign decisions, `identity` the one that signs who people are (S3)."""

    settings: Settings
    db: Database
    live: Live
    ring: KeyRing
    identity: Issuer
    form_key: bytes = field(repr=False)
    passwords: Passwords
    parked: ParkedDesk
    health: Health
    catalogue: Catalogue
    apps: AppKeeper
    warehouse: Warehouse
    cleanup: JobKeeper
    wake_chain: Callable[[], None] = lambda: None
    """Somebody asked to recompute the copy of the call audit."""
    wake_mail: Callable[[], None] = lambda: None
    """A mail account was removed: its secrets are to be revoked."""

    @property
    def is_https(self) -> bool:
        return self.settings.url.startswith("https:")

    @property
    def site_url(self) -> str:
        return self.settings.site_base_url or self.settings.urls["site"]

    def audience_url(self, audience: Audience) -> str:
        """Where people find the site or the workspace."""
        return self.site_url if audience == "site" else self.settings.urls[FRONTS[audience]]

    def link(self, what: str, token: str) -> str:
        """A one-time link, to be shown once."""
        return f"{self.settings.url}/{what}/{token}"

    def guest_link(self, token: str) -> str:
        """The link of a guest of the site, to be shown once."""
        return f"{self.site_url}/invited/{token}"

    def share_link(self, token: str) -> str:
        """A share link to an item, to be shown once."""
        return f"{self.site_url}/l/{token}"

    def reader_url(self, item: Mapping[Any, Any], about: Mapping[Any, Any] | None = None) -> str:
        """Where readers find an item; empty when no address of its own leads there. `about`: the item that a comment is about."""
        if item["kind"] == "comment":
            return f"{self.reader_url(about)}#comments" if about else ""
        return "" if item["audience"] == "link" else self.item_url(item["kind"], item["lang"], item["path"])

    def item_url(self, kind: str, lang: str, path: str) -> str:
        """Where the site shows an item."""
        return f"{self.site_url}/{kind}/{lang}/{quote(path)}"

    def form_token(self, cookie: str) -> str:
        """The token that forms carry: derived from the browser's cookie, so it fits one session only."""
        return hmac.new(self.form_key, f"form:{cookie}".encode(), hashlib.sha256).hexdigest()

    def browser_mark(self, handle: str, browser: str) -> str:
        """What a browser keeps after a sign-in, to show later that this person has used it before."""
        signed = hmac.new(self.form_key, f"browser:{browser}:{handle}".encode(), hashlib.sha256).hexdigest()
        return f"{browser}.{signed}"

    def known_browser(self, handle: str, mark: str) -> str:
        """The browser that a mark names, empty when the mark is not ours or another person's."""
        browser = mark.rpartition(".")[0]
        expected = self.browser_mark(handle, browser).encode()
        return browser if browser and hmac.compare_digest(mark.encode("utf-8", "replace"), expected) else ""
