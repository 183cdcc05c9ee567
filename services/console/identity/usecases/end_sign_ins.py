"""Tell the surfaces that a sign-in is over: what was begun there from it ends."""

from collections.abc import Iterable
from datetime import datetime

from schemas.console.v1 import SessionEnded
from services.console.identity.domain import AUDIENCES
from services.console.identity.issuer import Issuer
from shared.db import Tx


def end_sign_ins(tx: Tx, issuer: Issuer, session_hashes: Iterable[str], at: datetime) -> None:
    for each in session_hashes:
        endings = tuple(issuer.session_end(audience, each, at) for audience in AUDIENCES)
        tx.stage("session.ended", SessionEnded(endings=endings), key=str(issuer.sid("agent", each)), version=1)
