"""Whether an ask may be done: connector, operation, owner, secrets, what people granted, rate. Nothing leaves here; every refusal is typed.

The same questions are asked again when a wait for a person is over, and whenever the book changes while the call runs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from schemas.outward import Delegation, Owner
from schemas.text import BadJson, parse_json
from services.connectors.book.domain import Book, Connector, Secret
from services.connectors.book.keeper import Keeper
from services.connectors.calls.delegations import check_card, check_operation, check_still, read_delegation
from services.connectors.calls.rates import Rates
from services.connectors.calls.running import Call
from services.connectors.cards.desk import CardDesk
from services.connectors.cards.grants import missing
from services.connectors.egress.hosts import permits
from services.connectors.kinds.kind import HttpHead, Kind, KindSettings, Plan, Request
from services.connectors.kinds.registry import KINDS
from services.connectors.secrets.choosing import check_usable, choose
from shared.asking.wire import Ask, HttpAsk, check_body
from shared.clock import now
from shared.errors import Conflict, NotFound, Refused, SchleuseError
from shared.signing import PublicKeys


@dataclass(frozen=True)
class Chosen:
    """A secret and the version that is used of it."""

    secret: Secret
    number: int

    @property
    def label(self) -> str:
        return f"{self.secret.place} v{self.number}"


@dataclass(frozen=True)
class Admitted:
    """An ask that may be done now. `hosts`: what its way is open to."""

    connector: Connector
    kind: Kind
    request: Request
    plan: Plan
    chosen: tuple[Chosen, ...]
    hosts: tuple[str, ...]
    delegation: Delegation | None = None

    @property
    def labels(self) -> str:
        return ", ".join(each.label for each in self.chosen)


class Admission:
    """Reads the book, never writes."""

    def __init__(self, keeper: Keeper, keys: PublicKeys, desk: CardDesk, share: int) -> None:
        self._keeper, self._keys, self._desk = keeper, keys, desk
        self._rates = Rates(share)

    async def admit(self, call: Call, ask: Ask, body: bytes, clock: float) -> Admitted:
        """`body`: an operation's arguments, whole. Waits for a person as long as the ask says. `call.admitted` grows as things are known."""
        book = self._keeper.book
        connector = _connector(book, ask.connector)
        kind, settings = _kind(connector)
        check_body(ask.body_bytes)
        delegation = read_delegation(ask.delegation, self._keys, book, call.asker, ask.instruction_hash, now())
        owner = delegation.owner if delegation is not None else None
        request = _request(ask, settings, body, owner)
        plan = kind.plan(request, _publics(book, call.asker, request))
        check_operation(delegation, f"{connector.name}.{plan.operation}")
        _check_hosts(connector, kind, settings, plan)
        made = Admitted(connector, kind, request, plan, (), plan.hosts, delegation)
        call.admitted = made = _choose(book, call, made)
        await self._desk.require(
            asker=call.asker, owner=owner, connector=connector.name, kind=connector.kind, operation=plan.operation,
            hosts=plan.hosts, places=[each.secret.place for each in made.chosen], quoted=ask.quoted, wait_s=ask.wait_s,
            call_id=call.call_id,
        )  # fmt: skip
        made = _still_allowed(book, call, made)
        self._rates.admit(call.asker, connector.name, settings.per_minute, clock)
        call.admitted = made = replace(made, hosts=_open_to(book, call, made))
        call.begun = True
        return made


def _still_allowed(book: Book, call: Call, made: Admitted) -> Admitted:
    """After the wait for a person, of up to an hour: with the secrets as they are now. A plan of an earlier declaration is not carried out."""
    made, at = _choose(book, call, made), now()
    fault = standing(book, call, made, at)
    if fault is not None:
        raise fault
    check_still(made.delegation, book, at)
    if _connector(book, made.connector.name).statement_hash != made.connector.statement_hash:
        raise Conflict(
            f"connector {made.connector.name} was declared anew meanwhile; ask again", code="connector_changed"
        )
    return made


def standing(book: Book, call: Call, admitted: Admitted, at: datetime) -> SchleuseError | None:
    """Why a call that was admitted may not go on, or None: a switch, a secret or a grant was taken back meanwhile."""
    try:
        check_card(admitted.delegation, book, at)
        connector = _connector(book, admitted.connector.name)
        if connector.statement_hash != admitted.connector.statement_hash:
            kind, settings = _kind(connector)
            _check_hosts(connector, kind, settings, admitted.plan)
        for each in admitted.chosen:
            held = book.secrets.get(each.secret.place, each.secret)
            check_usable(held, admitted.plan.operation, at)
            version = held.version(each.number)
            if version is None or version.revoked:
                raise Refused(f"version {each.number} of secret {held.place} was revoked", code="secret_revoked")
    except SchleuseError as error:
        return error
    if _lacks(book, call, admitted, admitted.plan.hosts, at):
        return Refused("what a person had allowed was taken back", code="grant_revoked")
    return None


def older_version(book: Book, chosen: Sequence[Chosen], at: datetime) -> Chosen | None:
    """The version before the one in use, of the first secret, while both overlap."""
    for each in chosen[:1]:
        held = book.secrets.get(each.secret.place)
        for version in held.usable(at) if held is not None else ():
            if held is not None and version.number < each.number:
                return Chosen(held, version.number)
    return None


def _connector(book: Book, name: str) -> Connector:
    found = book.connectors.get(name)
    if found is None:
        raise NotFound(
            f"there is no connector {name!r}; `schleuse connectors list` shows those there are",
            code="connector_unknown",
        )
    if not found.enabled:
        raise Refused(f"connector {name} is switched off; an owner or admin can turn it on", code="connector_off")
    if not book.is_on(found):
        raise Refused(
            f"this installation was restored from a backup, and what was taken back since is not known here: look through secrets and cards, then turn"
            f" connector {name} off and on",
            code="connector_restored",
        )
    return found


def _kind(connector: Connector) -> tuple[Kind, KindSettings]:
    kind = KINDS.get(connector.kind)
    if kind is None:
        raise Refused(f"this release has no kind of connector {connector.kind!r}", code="connector_kind")
    return kind, _settings(connector.kind, connector.statement_hash, json.dumps(connector.settings))


@lru_cache(maxsize=256)
def _settings(kind: str, statement_hash: str, settings: str) -> KindSettings:
    """Of one declaration. A release may have become stricter than the one it was declared under."""
    try:
        return KINDS[kind].settings.model_validate_json(settings)
    except ValidationError as error:
        raise Refused(
            f"this connector's settings do not fit this release ({error.error_count()} faults; declared as {statement_hash[:8]}); declare it anew",
            code="connector_settings",
        ) from None


def _check_hosts(connector: Connector, kind: Kind, settings: KindSettings, plan: Plan) -> None:
    """No card makes up for the connector's own list: what is not on it is refused before anybody is asked."""
    listed = kind.hosts(settings)
    for host in plan.hosts:
        if not permits(listed, host):
            raise Refused(
                f"{host} is not among the hosts of connector {connector.name}; an owner or admin can add it in the console",
                code="egress",
            )


def _request(ask: Ask, settings: KindSettings, body: bytes, owner: Owner | None) -> Request:
    if isinstance(ask, HttpAsk):
        head = HttpHead(ask.method, ask.url, ask.headers, ask.body_bytes)
        return Request(ask.connector, settings, http=head, owner=owner, secret=ask.secret)
    try:
        arguments = parse_json(body or b"{}")
    except BadJson as error:
        raise Refused(f"the arguments cannot be read: {error}", code="malformed") from None
    if not isinstance(arguments, dict):
        raise Refused("the arguments must be a JSON object", code="malformed")
    return Request(
        ask.connector, settings, operation=ask.operation, arguments=arguments, owner=owner, secret=ask.secret
    )


def _publics(book: Book, asker: str, request: Request) -> list[Mapping[str, str]]:
    """Of the secrets in scope that the ask names: by their name, or as one part of an account of that name."""
    found: list[Mapping[str, str]] = []
    for secret in book.secrets.values():
        place = secret.place
        scope = (place.surface, place.connector) == (asker, request.connector) and place.owner in (None, request.owner)
        parts = (request.secret, f"{request.secret}-{secret.type.replace('_', '-')}")
        if scope and not secret.revoked and (not request.secret or place.name in parts):
            found.append(secret.public)
    return found


def _choose(book: Book, call: Call, made: Admitted) -> Admitted:
    """The secrets that the plan needs, of exactly this scope, in the version that is in use."""
    at, request = now(), made.request
    if request.secret and not made.plan.secret_types:
        raise Refused(
            f"{made.plan.operation} of {request.connector} takes no secret; name none", code="unknown_parameter"
        )
    chosen = []
    for types in made.plan.secret_types:
        secret = choose(
            book, call.asker, request.connector, request.owner, request.secret, made.plan.operation, at, types
        )
        chosen.append(Chosen(secret, secret.usable(at)[0].number))
    return replace(made, chosen=tuple(chosen))


def _open_to(book: Book, call: Call, made: Admitted) -> tuple[str, ...]:
    """The plan's hosts, and those of the allow-list that are granted, too: where a redirect may lead."""
    at = now()
    others = [host for host in made.kind.hosts(made.request.settings) if not _lacks(book, call, made, (host,), at)]
    return tuple(dict.fromkeys((*made.plan.hosts, *others)))


def _lacks(book: Book, call: Call, made: Admitted, hosts: Sequence[str], at: datetime) -> bool:
    places: list[Any] = [each.secret.place for each in made.chosen]
    return missing(book, call.asker, made.connector.name, made.plan.operation, hosts, places, at) is not None
