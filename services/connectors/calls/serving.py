"""One call from its request to its end: admitted, begun on disk, done, answered, ended on disk (rule 17)."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog
from opentelemetry import trace

from services.connectors.audit.log import AuditLog, Note
from services.connectors.book.keeper import Keeper
from services.connectors.calls.admission import Admission, Admitted, older_version
from services.connectors.calls.ending import Endings
from services.connectors.calls.exchange import CallExchange
from services.connectors.calls.refusals import Refusals
from services.connectors.calls.running import Call
from services.connectors.egress.door import Door
from services.connectors.kinds.kind import KindSettings
from services.connectors.kinds.oauth2 import AccessTokens
from services.connectors.secrets.types import SecretValue
from services.connectors.secrets.vault import Vault
from shared.asking.wire import END, ERROR, MAX_BODY, Ask, HttpAsk
from shared.clock import now
from shared.errors import SchleuseError, TooLarge, Transient
from shared.faults import faults_told
from shared.telemetry import span

log = structlog.get_logger()
GRACE_S = 2.0
"""Beyond the call's own time, which its kind keeps: it knows best what to say."""


class Serving:
    """How calls are done; one for a process. `part` names it in what it begins: what it leaves behind is found by that (audit.closing)."""

    def __init__(
        self,
        part: str,
        keeper: Keeper,
        admission: Admission,
        audit: AuditLog,
        refusals: Refusals,
        endings: Endings,
        vault: Vault,
        door: Door,
        access: AccessTokens,
    ) -> None:
        self._part = part
        self._keeper, self._admission, self._audit, self._endings = keeper, admission, audit, endings
        self._refusals = refusals
        self._vault, self._door, self._access = vault, door, access

    async def serve(self, call: Call, ask: Ask) -> None:
        """Never raises but for being cancelled from outside: whatever happens is an entry, and an answer."""
        clock = asyncio.get_running_loop().time
        began = clock()
        with span("ask", parent=ask.traceparent):
            try:
                with faults_told(ask.connector):
                    admitted, exchange = await self._begin(call, ask)
            except (SchleuseError, asyncio.CancelledError) as why:
                await self.refuse(call, ask, _why(call, why))
                return
            error = await self._run(call, admitted, exchange)
            call.over = True
            self._endings.add(_end_note(call, ask, admitted, exchange, error, clock() - began))
            await _finish(call, exchange, error)

    async def refuse(self, call: Call, ask: Ask, error: SchleuseError) -> None:
        """Nothing left. An entry, then the answer; where no entry can be made, that is the answer."""
        call.over = True
        made = call.admitted
        target = made.plan.target if made is not None else ""
        operation = made.plan.operation if made is not None else ask.operation
        note = _note(
            call, "refused", ask.connector, operation or "http", target, status=error.code, detail=error.audited,
            secret=made.labels if made is not None else "", on_behalf_of=_owner(made),
        )  # fmt: skip
        await self.refuse_with(call, note, error)

    async def refuse_with(self, call: Call, note: Note, error: SchleuseError) -> None:
        if error.code != "audit":
            try:
                await self._refusals.write(note)
            except Transient as unwritten:
                error = unwritten
        await say_error(call, error, begun=False)

    async def _begin(self, call: Call, ask: Ask) -> tuple[Admitted, CallExchange]:
        """Everything that can be refused comes before the entry: what stands there as begun is run."""
        if call.reason is not None:
            raise call.reason
        body = b"" if isinstance(ask, HttpAsk) else await _whole(call)
        made = await self._admission.admit(call, ask, body, asyncio.get_running_loop().time())
        note = _note(
            call, "begun", made.connector.name, made.plan.operation, made.plan.target, secret=made.labels, on_behalf_of=_owner(made),
            status=self._part,
        )  # fmt: skip
        exchange = self._exchange(call, made)
        await _surely(self._audit.append(note))
        return made, exchange

    def _exchange(self, call: Call, made: Admitted) -> CallExchange:
        async def older() -> SecretValue | None:
            found = older_version(self._keeper.book, made.chosen, now())
            if found is None:
                return None
            note = _note(
                call,
                "noted",
                made.connector.name,
                "secret.older_version",
                made.plan.target,
                secret=found.label,
                on_behalf_of=_owner(made),
            )
            await self._audit.append(note)
            return await self._vault.open(found.secret, found.number)

        addresses = made.request.settings.addresses
        return CallExchange(
            call, made.request, made.plan, (), self._door.way(made.hosts, addresses), self._access, older
        )

    async def _run(self, call: Call, made: Admitted, exchange: CallExchange) -> SchleuseError | None:
        """How it ended; None: well."""
        try:
            if call.reason is not None:
                raise call.reason
            async with _in_time(made.request.settings, made.connector.name):
                with faults_told(made.connector.name):
                    await self._do(made, exchange)
        except (SchleuseError, asyncio.CancelledError) as error:
            return _why(call, error)
        return None

    async def _do(self, made: Admitted, exchange: CallExchange) -> None:
        exchange.secrets = [await self._vault.open(each.secret, each.number) for each in made.chosen]
        result = await made.kind.run(exchange)
        if exchange.request.http is None:
            await exchange.send(_written(result, exchange))


def _why(call: Call, error: BaseException) -> SchleuseError:
    """What ended it: the reason it was cut for, or the error itself. Being cancelled for no reason is the process's end."""
    if call.reason is not None:
        return call.reason
    if isinstance(error, SchleuseError):
        return error
    return Transient("the connectors stop; try again", code="stopping")


def _written(result: Any, exchange: CallExchange) -> bytes:
    """An operation's result. Half of a character, from whoever answered, becomes U+FFFD, and the audit says so (rule 19)."""
    text = json.dumps(result, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        exchange.note("text mended")
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


@asynccontextmanager
async def _in_time(settings: KindSettings, connector: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(settings.timeout_s + GRACE_S):
            yield
    except TimeoutError:
        raise Transient(
            f"{connector} did not finish within {settings.timeout_s:g} s; the call was stopped. What it had begun over there is not known",
            code="timeout",
        ) from None


async def _surely(work: Coroutine[Any, Any, None]) -> None:
    """To its end, also when the call is being ended meanwhile: whether `begun` stands in the audit must be known."""
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            continue
        except SchleuseError:
            break
    await task


async def _whole(call: Call) -> bytes:
    parts, more = bytearray(), True
    while more:
        part, more = await call.take()
        parts += part
        if len(parts) > MAX_BODY:
            raise TooLarge(f"the arguments are over {MAX_BODY} bytes; send them in parts", code="body_too_large")
    return bytes(parts)


async def _finish(call: Call, exchange: CallExchange, error: SchleuseError | None) -> None:
    if error is not None:
        await say_error(call, error, begun=True)
        return
    said = {"call_id": str(call.call_id), "tokens_in": exchange.tokens_in, "tokens_out": exchange.tokens_out}
    try:
        await call.say(END, json.dumps(said).encode())
    except Transient as lost:
        log.warning("call.answer_lost", error=lost.message)


async def say_error(call: Call, error: SchleuseError, *, begun: bool) -> None:
    """`begun`: it stands in the audit as begun, and something may have left."""
    said = {"status": error.status, "code": error.code, "message": error.message, "call_id": str(call.call_id)}
    said |= {"begun": begun}
    try:
        await call.say(ERROR, json.dumps(said).encode())
    except Transient as lost:
        log.warning("call.answer_lost", error=lost.message)


def _owner(made: Admitted | None) -> str:
    return str(made.request.owner) if made is not None and made.request.owner is not None else ""


def _end_note(
    call: Call, ask: Ask, made: Admitted, exchange: CallExchange, error: SchleuseError | None, seconds: float
) -> Note:
    outcome = "ok" if error is None else "cancelled" if error is call.reason else "failed"
    details = [*exchange.details, *exchange.way.reached, *([error.audited] if error is not None else [])]
    return _note(
        call, outcome, made.connector.name, made.plan.operation, made.plan.target, secret=made.labels, on_behalf_of=_owner(made),
        status=exchange.status or (error.code if error is not None else ""), detail="; ".join(details),
        duration_ms=round(seconds * 1000), bytes_out=exchange.bytes_out or call.body_taken, bytes_in=exchange.bytes_in,
        tokens_in=exchange.tokens_in, tokens_out=exchange.tokens_out,
    )  # fmt: skip


def _note(call: Call, outcome: Any, connector: str, operation: str, target: str, **more: Any) -> Note:
    traced = trace.get_current_span().get_span_context()
    return Note(
        call.call_id, call.asker, operation, outcome, connector=connector, target=target,
        trace_id=f"{traced.trace_id:032x}" if traced.is_valid else "", **more,
    )  # fmt: skip
