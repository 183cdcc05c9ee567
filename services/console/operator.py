"""The operator's commands (S12): over the socket only, recorded as `operator`, never a second pair of eyes."""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from services.console.parts import Console
from services.console.people.domain import OPERATOR
from services.console.people.usecases.offer_owner_link import offer_owner_link
from services.console.queue import store, views
from services.console.queue.domain import Draft, Order, check_verdict
from services.console.queue.times import check_times, read_time
from services.console.queue.usecases.decide_item import Decided, decide_item
from services.console.queue.usecases.submit_item import prepare_files, read_draft, submit_item
from services.console.queue.usecases.wait_for import wait_for_items, wait_for_queue, wait_for_verdicts
from services.console.queue.usecases.withdraw_item import withdraw_item
from services.console.signals import views as signals
from shared.attaching import Prepared
from shared.clock import now
from shared.db import Tx
from shared.errors import Conflict, NotFound, Refused
from shared.ids import new_id
from shared.telemetry import span

Args = dict[str, Any]
PATIENCE = 60.0
SETTLE = 5.0
"""Seconds to wait for the publication that follows an approval at once, so that what comes next (a withdrawal) finds it."""
AT_ONCE = 50
"""Decisions in one transaction: enough to be quick, few enough not to hold many rows long."""


class ConsoleOperator:
    """Verbs by name in `verbs`; each takes and gives plain JSON."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Callable[[Args], Awaitable[Args]]] = {
            "owner.link": self.owner_link,
            "items.submit": self.submit,
            "items.list": self.listed,
            "items.decide": self.decide,
            "items.withdraw": self.withdraw,
            "items.wait": self.wait,
            "signals.totals": self.totals,
        }

    async def owner_link(self, _: Args) -> Args:
        """{"url": one-time link or null when there is an owner}."""
        async with self._console.db.transaction() as tx:
            token = await offer_owner_link(tx)
        return {"url": None if token is None else f"{self._console.settings.url}/welcome/{token}"}

    async def submit(self, args: Args) -> Args:
        """args {"items": [{"kind","lang","path","text","audience"?,"files"?: [{"name","data": base64}]}]} → {"items": [{"item_id","path","state","url"}], "refused": [{"path","reason"}]}.

        Returns when the lock has answered every one; `state` is submitted, unchanged or (no answer in a minute) sent.
        """
        sent: list[UUID] = []
        refused: list[Args] = []
        with span("console operator items.submit"):
            for listed in _portions(args["items"]):
                ready = [await self._read_one(one, refused) for one in listed]
                async with self._console.db.transaction() as tx:
                    sent += [(await submit_item(tx, OPERATOR, *each)).submission_id for each in ready if each]
        found = await wait_for_queue(self._console.db, self._console.live, sent, PATIENCE)
        rows = [found[each] for each in sent]
        refused += [{"path": row["path"], "reason": row["reason"]} for row in rows if row["state"] == "refused"]
        return {"items": [self._submitted(row) for row in rows if row["state"] != "refused"], "refused": refused}

    async def _read_one(self, one: Args, refused: list[Args]) -> tuple[Draft, Prepared] | None:
        try:
            kind, lang, path, text = (str(one[name]) for name in ("kind", "lang", "path", "text"))
            given = [
                (str(each["name"]), b64decode(str(each["data"]), validate=True)) for each in one.get("files") or ()
            ]
            attached = await prepare_files(given, text)
            return read_draft(kind, lang, path, text, str(one.get("audience") or "public"), attached), attached
        except Refused as error:
            refused.append({"path": one["path"], "reason": error.message, "code": error.code})
            return None

    def _submitted(self, row: Args) -> Args:
        state = "submitted" if row["state"] == "queued" else row["state"]
        url = self._console.item_url(row["kind"], row["lang"], row["path"])
        return {
            "item_id": str(row["item_id"]),
            "path": row["path"],
            "state": state,
            "revision": row["revision"],
            "url": url,
        }

    async def listed(self, args: Args) -> Args:
        """args {"status"} → {"items": [...]}, unpaged."""
        async with self._console.db.reading() as tx:
            rows = await views.list_items(tx, views.Filter(state=str(args.get("status") or "all")), limit=None)
        return {"items": [self._item(row) for row in rows]}

    def _item(self, row: Any) -> Args:
        names = (
            "kind",
            "lang",
            "path",
            "audience",
            "title",
            "state",
            "revision",
            "content_hash",
            "version",
            "blocks",
            "checks",
        )
        more = ("published_revision", "scheduled_revision", "live_revision", "gate_seq")
        url = self._console.item_url(row["kind"], row["lang"], row["path"])
        by = {"submitted_by": row["by_name"], "deciding": bool(row["deciding"]), "url": url}
        times = {
            name: row[name].isoformat() if row[name] else None
            for name in ("live_since", "publish_at", "expire_at", "scheduled_until")
        }
        return {"item_id": str(row["item_id"])} | {name: row[name] for name in (*names, *more)} | by | times

    async def decide(self, args: Args) -> Args:
        """args {"items": [id or kind/lang/path]} or {"all_pending": true}, "verdict", "reason", "at", "until" → {"decided", "refused"}.

        Waits up to a minute for the lock's answers. all_pending takes items with `check` findings too: the operator asked for
        all of them; those with `block` never. With "at", what is approved becomes public then, with "until" it is
        taken down then; the answer has "publish_at" and "expire_at".
        """
        verdict = check_verdict(str(args["verdict"]))
        at, until = (read_time(str(args[name])) if args.get(name) else None for name in ("at", "until"))
        check_times(verdict, at, until, now())
        reason = str(args.get("reason") or "")
        make = partial(Order, verdict=verdict, reason=reason, publish_at=at, expire_at=until, batch=new_id())
        refused: list[Args] = []
        sent: list[Decided] = []
        with span("console operator items.decide"):
            for portion in _portions(await self._named(args, refused)):
                sent += await self._decide_some(portion, make, refused)
        answer = await self._verdicts(sent, refused, "decided")
        if verdict == "approve":
            left = {each["item_id"] for each in refused}
            taken = [each.item_id for each in sent if str(each.item_id) not in left]
            await wait_for_items(self._console.db, self._console.live, taken, "scheduled" if at else "public", SETTLE)
        times = {"publish_at": at, "expire_at": until}
        return answer | {name: each.isoformat() for name, each in times.items() if each}

    async def _decide_some(
        self, ids: Sequence[UUID], make: Callable[[UUID], Order], refused: list[Args]
    ) -> Sequence[Decided]:
        sent: list[Decided] = []
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            for item_id in sorted(ids):
                try:
                    sent.append(await decide_item(tx, key, OPERATOR, make(item_id)))
                except (Refused, Conflict, NotFound) as error:
                    refused.append({"item_id": str(item_id), "reason": error.message, "code": error.code})
        return sent

    async def _named(self, args: Args, refused: list[Args]) -> Sequence[UUID]:
        async with self._console.db.reading() as tx:
            if args.get("all_pending"):
                return await views.pending_ids(tx)
            return [each for name in args.get("items") or [] if (each := await self._find(tx, str(name), refused))]

    async def _find(self, tx: Tx, name: str, refused: list[Args]) -> UUID | None:
        try:
            return await find_item(tx, name)
        except NotFound as error:
            refused.append({"item_id": name, "reason": error.message, "code": error.code})
            return None

    async def _verdicts(self, sent: Sequence[Decided], refused: list[Args], word: str) -> Args:
        hashes = [each.statement_hash for each in sent]
        found = await wait_for_verdicts(self._console.db, self._console.live, hashes, PATIENCE) if hashes else {}
        done = 0
        for each in sent:
            outcome, reason = found.get(each.statement_hash, ("sent", ""))
            done += outcome == "applied"
            if outcome != "applied":
                why = reason if outcome == "refused" else "the lock has not answered yet; the decision is on its way"
                refused.append({"item_id": str(each.item_id), "reason": why, "code": outcome})
        return {word: done, "refused": refused}

    async def withdraw(self, args: Args) -> Args:
        """args {"item", "reason"} → {"withdrawn": 1, "refused": []}."""
        refused: list[Args] = []
        with span("console operator items.withdraw"):
            async with self._console.db.transaction() as tx:
                item_id = await find_item(tx, str(args["item"]))
                sent = await withdraw_item(
                    tx, await self._console.ring.signing(tx), OPERATOR, item_id, str(args.get("reason") or "")
                )
        return await self._verdicts([sent], refused, "withdrawn")

    async def wait(self, args: Args) -> Args:
        """args {"items": [...], "until": live|gone|<state>, "seconds"} → {"reached": bool}."""
        async with self._console.db.reading() as tx:
            ids = [await find_item(tx, str(name)) for name in args["items"]]
        until, seconds = str(args.get("until") or "live"), float(args.get("seconds") or PATIENCE)
        return {"reached": await wait_for_items(self._console.db, self._console.live, ids, until, seconds)}

    async def totals(self, _: Args) -> Args:
        async with self._console.db.reading() as tx:
            return dict(await signals.totals(tx))


async def find_item(tx: Tx, name: str) -> UUID:
    """An item by id or by kind/lang/path. NotFound names what was asked."""
    try:
        item_id: UUID | None = UUID(name)
    except ValueError:
        item_id = await views.find_item(tx, name.removesuffix(".md"))
    if item_id is None or not await store.is_known(tx, item_id):
        raise NotFound(f"there is no item {name!r} in the queue", code="unknown_item")
    return item_id


def _portions(listed: Sequence[Any]) -> list[Sequence[Any]]:
    return [listed[at : at + AT_ONCE] for at in range(0, len(listed), AT_ONCE)]
