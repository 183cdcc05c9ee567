"""The console's HTTP API for programs: OpenAPI at /api/v1/openapi.json, tokens as `Authorization: Bearer …`."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, FastAPI, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from services.console.analytics import api as analytics
from services.console.api_bodies import Item, NewDecision, NewItem, NewUndo, NewWithdrawal, Outcome, Problem, Submission
from services.console.forms import check_length
from services.console.mappings import api as mappings
from services.console.parts import Console
from services.console.people.domain import Caller
from services.console.people.usecases.find_token_holder import find_token_holder
from services.console.provenance import api as provenance
from services.console.queue import store, views
from services.console.queue.domain import Order
from services.console.queue.times import read_time
from services.console.queue.usecases.decide_item import decide_item
from services.console.queue.usecases.submit_item import prepare_files, read_draft, submit_item
from services.console.queue.usecases.wait_for import wait_for_queue, wait_for_verdicts
from services.console.queue.usecases.withdraw_item import withdraw_item
from services.console.records import api as records
from services.console.signals import views as signals
from services.console.spend import api as spend
from services.console.statistics import api as statistics
from services.console.undo import views as undoing
from services.console.undo.usecases.undo_decision import undo_decision
from shared.errors import Conflict, NotFound, Refused, SchleuseError, Unauthorized
from shared.telemetry import current_traceparent, span, trace_id_of

PATIENCE = 10.0
BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="api_token",
    description="Made on the console's page of one's own account; acts as that person, with at most the person's role.",
)


class Api:
    """Endpoints over the same use cases as the pages."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def caller(
        self, request: Request, sent: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]
    ) -> Caller:
        if sent is None or not sent.credentials:
            raise Unauthorized(
                "Send an API token: `Authorization: Bearer schleuse_…`. One is made on your own page of the console.",
                code="token",
            )
        reads = request.method in {"GET", "HEAD"}
        return await find_token_holder(self._console.db, sent.credentials, reads=reads)

    async def submit(self, new: NewItem, caller: Caller) -> Submission:
        attached = await prepare_files([(each.name, each.raw) for each in new.attachments], new.markdown)
        draft = read_draft(new.kind, new.lang, new.path, new.markdown, new.audience, attached)
        async with self._console.db.transaction() as tx:
            sent = await submit_item(tx, caller, draft, attached)
        found = await wait_for_queue(self._console.db, self._console.live, [sent.submission_id], PATIENCE)
        return self._submission(found[sent.submission_id])

    async def submission(self, submission_id: UUID, caller: Caller) -> Submission:
        caller.require("read")
        async with self._console.db.reading() as tx:
            row = await views.submission(tx, submission_id)
        if row is None:
            raise NotFound("There is no such submission.")
        return self._submission(row)

    async def list(self, caller: Caller, by: views.Filter, limit: int) -> list[Item]:
        caller.require("read")
        async with self._console.db.reading() as tx:
            return [self._item(row) for row in await views.list_items(tx, by, limit=limit)]

    async def item(self, item_id: UUID, caller: Caller) -> Item:
        caller.require("read")
        async with self._console.db.reading() as tx:
            row = await views.item(tx, item_id)
        if row is None:
            raise NotFound("There is no such item in the queue.")
        return self._item(row)

    async def decide(self, item_id: UUID, new: NewDecision, caller: Caller) -> Outcome:
        times = (new.publish_at, new.expire_at)
        at, until = (read_time(each.isoformat()) if each else None for each in times)
        order = Order(item_id, new.verdict, new.reason, new.revision, new.content_hash, new.version, at, until)
        async with self._console.db.transaction() as tx:
            decided = await decide_item(tx, await self._console.ring.signing(tx), caller, order)
        return await self._outcome(item_id, decided.statement_hash)

    async def withdraw(self, item_id: UUID, new: NewWithdrawal, caller: Caller) -> Outcome:
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            decided = await withdraw_item(tx, key, caller, item_id, new.reason, new.version)
        return await self._outcome(item_id, decided.statement_hash)

    async def undo(self, item_id: UUID, new: NewUndo, caller: Caller) -> Outcome:
        async with self._console.db.transaction() as tx:
            key = await self._console.ring.signing(tx)
            named = new.statement_hash or await undoing.newest_decision(tx, item_id)
            about = await store.about(tx, named) if named else None
            if named is None or about is None or about[0] != str(item_id):
                raise NotFound("There is no such decision on this item.")
            undone = await undo_decision(tx, key, caller, named, new.reason)
        return await self._outcome(item_id, undone.statement_hash)

    async def totals(self, caller: Caller) -> dict[str, int]:
        caller.require("read")
        async with self._console.db.reading() as tx:
            return await signals.totals(tx)

    async def _outcome(self, item_id: UUID, statement_hash: str) -> Outcome:
        found = await wait_for_verdicts(self._console.db, self._console.live, [statement_hash], PATIENCE)
        outcome, reason = found.get(statement_hash, ("sent", ""))
        if outcome == "refused":
            raise Conflict(f"The lock refused it: {reason}. Nothing was changed.", code="lock_refused")
        return Outcome(item_id=item_id, statement_hash=statement_hash, outcome=outcome, reason=reason)

    def _submission(self, row: Any) -> Submission:
        url = self._console.item_url(row["kind"], row["lang"], row["path"])
        names = ("submission_id", "item_id", "path", "state", "revision", "reason")
        return Submission(**{name: row[name] for name in names}, url=url)

    def _item(self, row: Any) -> Item:
        url = self._console.item_url(row["kind"], row["lang"], row["path"])
        names = [name for name in Item.model_fields if name not in {"url", "submitted_by"}]
        return Item(**{name: row[name] for name in names}, submitted_by=row["by_name"], url=url)


def make_api(console: Console) -> FastAPI:
    """The ASGI app to mount at /api. No documentation pages: they would load scripts from elsewhere."""
    app = FastAPI(
        title="Schleuse console",
        version="1",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses={code: {"model": Problem} for code in (401, 403, 404, 409, 413, 422, 500, 503)},
    )
    api = Api(console)
    known = Annotated[Caller, Depends(api.caller)]
    _add_routes(app, api, known)
    statistics.add_routes(app, console, known)
    spend.add_routes(app, console, known)
    records.add_routes(app, console, known)
    mappings.add_routes(app, console, known)
    analytics.add_routes(app, console, known)
    provenance.add_routes(app, console, known)
    app.middleware("http")(_traced)
    app.exception_handler(SchleuseError)(_problem)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(nowhere)
    app.exception_handler(500)(_broken)
    return app


def _add_routes(app: FastAPI, api: Api, known: Any) -> None:
    @app.post("/v1/items", status_code=202, summary="Submit an item or a new revision of one")
    async def submit(new: NewItem, caller: known) -> Submission:
        return await api.submit(new, caller)

    @app.get("/v1/submissions/{submission_id}", summary="What became of a submission")
    async def submission(submission_id: UUID, caller: known) -> Submission:
        return await api.submission(submission_id, caller)

    @app.get("/v1/items", summary="Items, oldest first")
    async def items(
        caller: known,
        state: str = "all",
        kind: str = "",
        lang: str = "",
        q: Annotated[str, Query(max_length=500)] = "",
        page: Annotated[int, Query(ge=1, le=100_000)] = 1,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> list[Item]:
        if "\x00" in f"{state}{kind}{lang}{q}":
            raise Refused("A search cannot hold a NUL character.")
        return await api.list(caller, views.Filter(state, kind, lang, "", q, page), limit)

    @app.get("/v1/items/{item_id}", summary="One item")
    async def item(item_id: UUID, caller: known) -> Item:
        return await api.item(item_id, caller)

    @app.post("/v1/items/{item_id}/decisions", summary="Decide on one exact revision")
    async def decide(item_id: UUID, new: NewDecision, caller: known) -> Outcome:
        return await api.decide(item_id, new, caller)

    @app.post("/v1/items/{item_id}/withdrawals", summary="Withdraw what is public or scheduled")
    async def withdraw(item_id: UUID, new: NewWithdrawal, caller: known) -> Outcome:
        return await api.withdraw(item_id, new, caller)

    @app.post("/v1/items/{item_id}/undo", summary="Undo a decision of the last ten minutes")
    async def undo(item_id: UUID, new: NewUndo, caller: known) -> Outcome:
        return await api.undo(item_id, new, caller)

    @app.get("/v1/signals/totals", summary="What visitors did, counted")
    async def totals(caller: known) -> dict[str, int]:
        return await api.totals(caller)


async def _traced(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    with span(f"console api {request.method}"):
        if request.method in {"POST", "PUT", "PATCH"}:
            try:
                check_length(request.headers.get("content-length"))
            except SchleuseError as error:
                return await _problem(request, error)
        return await call_next(request)


async def _problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SchleuseError)
    trace = trace_id_of(current_traceparent())
    body = Problem(code=error.code, message=error.message, trace_id=trace).model_dump()
    return JSONResponse(body, error.status, headers={"Cache-Control": "no-store"})


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Where and why the request does not fit, without repeating what was sent."""
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()[:5]]
    return await _problem(request, Refused("The request does not fit: " + "; ".join(faults), code="invalid"))


async def _broken(request: Request, _: Exception) -> JSONResponse:
    """For what nobody expected; the server logs the error itself."""
    return await _problem(request, SchleuseError("The console has a fault here. It is in its log.", code="fault"))


async def nowhere(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return await _problem(request, Refused("The request's body is no JSON that can be read.", code="invalid"))
    answer = await _problem(request, NotFound("There is no such address; /api/v1/openapi.json lists them."))
    if error.status_code == 405:
        answer = await _problem(request, Refused("This address does not take that method.", code="method"))
        answer.status_code = 405
        answer.headers["Allow"] = ", ".join(sorted(_methods_at(request)))
    return answer


def _methods_at(request: Request) -> set[str]:
    """Every method that some route takes at this address: one address has a route for each of its methods."""
    routes = [each for each in request.app.routes if each.matches(request.scope)[0] is not Match.NONE]
    return {method for each in routes for method in getattr(each, "methods", None) or ()}
