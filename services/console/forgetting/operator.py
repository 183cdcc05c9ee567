"""The operator's command to forget somebody (S12, S15)."""

from typing import Any

import structlog

from services.console.forgetting.usecases.forget_subject import forget_subject
from services.console.parts import Console
from shared.inbox.forget import check_subject
from shared.operator import Verb

log = structlog.get_logger()
Args = dict[str, Any]


class ForgetOperator:
    def __init__(self, console: Console) -> None:
        self._console = console
        self.verbs: dict[str, Verb] = {"forget.subject": self.forget}

    async def forget(self, args: Args) -> Args:
        """args {"text", "really"?, "records"?} → {"cleared": {kind: rows}, "records": {app.table: rows}}; without `really` only counted."""
        text, really = check_subject(args.get("text")), args.get("really") is True
        async with self._console.db.transaction() as tx:
            found = await forget_subject(tx, text, really=really, records=args.get("records") is True)
        if really:
            log.info("forgotten", by="operator", **{name: count for name, count in found.cleared.items() if count})
        return {"cleared": found.cleared, "records": found.records}
