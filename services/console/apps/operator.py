"""The operator's commands on apps (S12). Recorded as `operator`."""

from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from services.console.apps.domain import InstalledApp
from services.console.apps.jobs import store as job_store
from services.console.apps.packages import store as packages
from services.console.apps.packages.domain import Shown, read_package_row
from services.console.apps.usecases.decide_app import Order, decide_app
from services.console.apps.usecases.offer_app import offer_app, place_of
from services.console.apps.usecases.set_job import set_job, start_job
from services.console.apps.usecases.share_app import share_app
from services.console.apps.usecases.stop_app import start_app, stop_app
from services.console.apps.views import get_app, list_apps
from services.console.parts import Console
from services.console.people.domain import OPERATOR
from shared.clock import now
from shared.errors import NotFound, Refused
from shared.telemetry import span

Args = dict[str, Any]


class AppOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console, self._catalogue = console, console.catalogue
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "apps.install": self.install,
            "apps.list": self.listed,
            "apps.cards": self.cards,
            "apps.decide": self.decide,
            "apps.stop": self.stop,
            "apps.start": self.start,
            "apps.share": self.share,
            "apps.jobs": self.jobs,
            "apps.job": self.job,
        }

    async def install(self, args: Args) -> Args:
        """args {"files": {path: base64}} → {"slug", "folder_hash", "state": waiting or installed, "url"}. It waits for a person's decision."""
        files = {str(path): _bytes(path, raw) for path, raw in args["files"].items()}
        with span("console operator apps.install"):
            async with self._console.db.transaction() as tx:
                package, waits = await offer_app(tx, OPERATOR, files)
        self._console.live.tell(event="cards")
        state = "waiting" if waits else "installed"
        about = {"slug": package.declaration.slug, "folder_hash": package.folder_hash, "state": state}
        return about | {"files": len(files), "has_code": package.has_code, "url": self._url(package.folder_hash)}

    async def listed(self, _: Args) -> Args:
        """{"apps": [...]}, by slug."""
        async with self._console.db.reading() as tx:
            return {"apps": [self._told(each) for each in await list_apps(tx)]}

    async def cards(self, _: Args) -> Args:
        """{"cards": [...]}: folders that wait."""
        async with self._console.db.reading() as tx:
            at = now()
            return {"cards": [self._card(read_package_row(row, at)) for row in await packages.waiting(tx, at)]}

    async def decide(self, args: Args) -> Args:
        """args {"app": slug or folder hash, "verdict": install or refuse, "reason"} → the app as in the list; for a refusal {"slug", "state"}."""
        with span("console operator apps.decide"):
            folder_hash = await self._waiting(str(args["app"]))
            order = Order(folder_hash, str(args["verdict"]), str(args.get("reason") or ""))
            async with self._console.db.transaction() as tx:
                key = await self._console.ring.signing(tx)
                slug = await decide_app(tx, key, OPERATOR, order, self._catalogue.on_changed)
        self._console.live.tell(event="cards")
        await self._console.apps.describe(slug)
        return await self._app(slug) if order.verdict == "install" else {"slug": slug, "state": "refused"}

    async def stop(self, args: Args) -> Args:
        """args {"app", "reason"} → the app."""
        slug = str(args["app"])
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            await stop_app(tx, key, OPERATOR, slug, str(args.get("reason") or ""), self._catalogue.on_changed)
        return await self._app(slug)

    async def start(self, args: Args) -> Args:
        """args {"app"} → the app."""
        slug = str(args["app"])
        async with self._console.db.transaction() as tx:
            await start_app(tx, await self._console.ring.signing(tx), OPERATOR, slug, self._catalogue.on_changed)
        return await self._app(slug)

    async def share(self, args: Args) -> Args:
        """args {"app", "shared": bool} → the app: whether the agent may know of it."""
        slug, shared = str(args["app"]), bool(args.get("shared", True))
        async with self._console.db.transaction() as tx:
            await share_app(tx, OPERATOR, slug, shared=shared, on_changed=self._catalogue.on_changed)
        return await self._app(slug)

    async def jobs(self, args: Args) -> Args:
        """args {"app"} → {"jobs": [...], "runs": [...]}: jobs of its code, and what became of them, newest first."""
        async with self._console.db.reading() as tx:
            app = await get_app(tx, str(args["app"]))
            jobs, runs = await job_store.listed(tx, app.slug), await job_store.runs(tx, app.slug)
        return {"jobs": [_plain(each) for each in jobs], "runs": [_plain(each) for each in runs]}

    async def job(self, args: Args) -> Args:
        """args {"app", "job", "do": on, off or run, "zone"} → {"run"?}: a run goes on by itself."""
        slug, name, what = str(args["app"]), str(args["job"]), str(args["do"])
        if what not in ("on", "off", "run"):
            raise Refused("A job is switched on or off, or run.", code="verb")
        async with self._console.db.transaction() as tx:
            if what == "run":
                run_id = await start_job(tx, OPERATOR, slug, name)
                tx.after_commit(lambda: self._console.apps.run(run_id, slug, name))
                return {"run": str(run_id)}
            zone = str(args.get("zone") or "")
            await set_job(tx, OPERATOR, slug, name, on=what == "on", zone=zone, wake=self._console.apps.wake)
        return {}

    async def _app(self, slug: str) -> Args:
        async with self._console.db.reading() as tx:
            return self._told(await get_app(tx, slug))

    async def _waiting(self, name: str) -> str:
        """A slug, or a hash or its first characters. NotFound when nothing waits under it, Refused when several do."""
        async with self._console.db.reading() as tx:
            rows = await packages.waiting(tx, now())
        found = [row["folder_hash"] for row in rows if row["slug"] == name or (len(name) >= 8 and row["folder_hash"].startswith(name))]  # fmt: skip
        if not found:
            raise NotFound(
                f"no app {name!r} waits for a decision; `schleuse apps card` shows those that do", code="app"
            )
        if len(found) > 1:
            raise Refused(f"{len(found)} apps that wait are named {name}; give the whole hash", code="app")
        return str(found[0])

    def _told(self, app: InstalledApp) -> Args:
        tables = {each.name: len(each.columns) for each in app.declaration.tables}
        about = {"slug": app.slug, "title": app.declaration.title, "kind": app.declaration.kind, "state": app.state}
        more = {"reason": app.reason, "version": app.version, "has_code": app.has_code, "shared": app.shared, "tables": tables}  # fmt: skip
        by = {"folder_hash": app.folder_hash, "by": app.by_name, "installed_at": app.installed_at.isoformat()}
        return about | more | by | {"url": f"{self._console.settings.url}/apps/{app.slug}"}

    def _card(self, shown: Shown) -> Args:
        row = shown.row
        about = {"slug": shown.slug, "title": shown.declaration.title, "kind": shown.declaration.kind}
        times = {"sent_at": row["sent_at"].isoformat(), "expires_at": row["expires_at"].isoformat()}
        size = {"files": row["files"], "bytes": row["bytes"], "has_code": row["has_code"], "sent_by": row["sent_by"]}
        return about | {"folder_hash": shown.folder_hash, "state": shown.state, "url": self._url(shown.folder_hash)} | size | times  # fmt: skip

    def _url(self, folder_hash: str) -> str:
        return f"{self._console.settings.url}{place_of(folder_hash)}"


def _plain(row: Any) -> Args:
    return {
        name: value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else value
        for name, value in row.items()
    }


def _bytes(path: object, raw: object) -> bytes:
    try:
        return b64decode(str(raw), validate=True)
    except BadBase64:
        raise Refused(f"The bytes of {path} are not base64.", code="folder") from None
