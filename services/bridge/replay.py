"""Replay a followed log on a restored database, before anything else runs on it. Runs as the lock's OS user.

    python -m services.bridge.replay --state DIR

Standard input: {"from": seq, "entries": [...], "decisions": [...], "closing": record or null}, as `gate.after` gave them. Standard error, last line:
{"result": {"withdrawn": [item ids], "keys", "modes", "links", "missing": [publications], "gap", "head"}}, or {"failed", "code"}.
"""

import asyncio
import base64
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from schemas.statements import Decision
from schemas.text import BadJson, sha256
from services.bridge import store, views
from services.bridge.gate import DecisionKeys, Gate
from services.bridge.tables import app
from services.bridge.usecases.replay_entries import Told, replay_entry
from shared.db import Database, create_missing
from shared.errors import BadSignature, SchleuseError
from shared.outbox.seal import Sealer
from shared.outbox.stage import Stamp
from shared.settings import Settings
from shared.signing import PublicKeys, SigningKey

Record = dict[str, Any]
MOST = 100_000


class Replay:
    """What came of it is collected as it goes."""

    def __init__(self, settings: Settings) -> None:
        self._db = Database(settings, Stamp("bridge", Sealer(SigningKey.load(settings.keys / "envelope.key"))), 2)
        self._gate = Gate(SigningKey.load(settings.keys / "gate.key"))
        self._keys = DecisionKeys(PublicKeys.load(settings.public_keys))
        self.withdrawn: list[str] = []
        self.counts = {"key": 0, "mode": 0, "link": 0, "unchanged": 0}
        self.missing: list[Record] = []
        self.gap = ""

    async def run(self, given: Record) -> Record:
        await self._db.start()
        try:
            await create_missing(self._db, app)
            entries = await self._behind_ours(given["entries"], int(given["from"]))
            await self._all(sorted([*entries, *given["decisions"]], key=lambda each: each["at"]))
            if given["closing"]:
                await self._one(given["closing"])
            async with self._db.reading() as tx:
                head = (await store.rules(tx)).head
        finally:
            await self._db.stop()
        found = {"withdrawn": self.withdrawn, "keys": self.counts["key"], "modes": self.counts["mode"]}
        found |= {"links": self.counts["link"]}
        return found | {"missing": self.missing, "gap": self.gap, "head": head._asdict()}

    async def _behind_ours(self, entries: Sequence[Record], start: int) -> Sequence[Record]:
        """Entries that the restored log has not. The two must agree about those that both have."""
        async with self._db.reading() as tx:
            ours = {row["seq"]: row["hash"] for row in await views.entries_after(tx, start, MOST)}
        for each in entries:
            if each["seq"] in ours and ours[each["seq"]] != each["hash"]:
                self.gap = f"entry {each['seq']} of the followed log is not that of the backup"
                return []
        return [each for each in entries if each["seq"] not in ours]

    async def _all(self, records: Iterable[Record]) -> None:
        for each in records:
            try:
                await self._one(each)
            except (BadSignature, BadJson, ValidationError, KeyError, TypeError, ValueError) as error:
                self.gap = f"a record of {each.get('at')} cannot be believed: {error}"[:300]
                return

    async def _one(self, record: Record) -> None:
        if record.get("kind") == "publication":
            self._miss(record)
            return
        told = Told.read(record)
        if told is None:
            return
        async with self._db.transaction() as tx:
            became = await replay_entry(tx, told, self._keys, self._gate)
        if became == "withdrawn":
            self.withdrawn.append(record["item_id"])
        else:
            self.counts[became] += 1

    def _miss(self, record: Record) -> None:
        decision = Decision.from_bytes(base64.b64decode(record["statement"]))
        place = {"kind": decision.kind, "lang": decision.lang, "path": decision.path, "revision": decision.revision}
        self.missing.append(
            place | {"item_id": record["item_id"], "at": record["at"], "hash": sha256(decision.to_bytes())}
        )


def main() -> None:
    settings = Settings.from_command_line("bridge")
    try:
        said: Record = {"result": asyncio.run(Replay(settings).run(json.load(sys.stdin)))}
    except SchleuseError as error:
        said = {"failed": error.message, "code": error.code}
    sys.stderr.write(json.dumps(said) + "\n")
    raise SystemExit("failed" in said)


if __name__ == "__main__":
    main()
