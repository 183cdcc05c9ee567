"""One visit to a mailbox: dialled by the guarded way, spoken from a thread, over when the call is."""

import asyncio
import logging
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from services.connectors.egress.way import Way
from services.connectors.kinds.mailing.account import Account
from services.connectors.kinds.mailing.client import Client
from services.connectors.kinds.mailing.failures import HOSTILE, explain
from services.connectors.kinds.mailing.wire import Wire
from shared.errors import SchleuseError

THREADS = 32
_POOL = ThreadPoolExecutor(THREADS, thread_name_prefix="imap")
"""Of their own: visits last seconds, and the loop's threads resolve names."""
logging.getLogger("imapclient").setLevel(
    logging.WARNING
)  # its debug lines hold what is searched for and what comes back
Work = Callable[[Client], Any]


async def visit(way: Way, account: Account, seconds: float, most: int, work: Work) -> Any:
    """What `work` returns, signed in. `most` bytes of literals are read. Refused, Transient, Permanent, TooLarge; cancelling cuts the connection."""
    wire = Wire(await way.dial(account.host, account.port), account.where, seconds, most)
    task = _POOL.submit(_speak, wire, way.tls(), account, work)
    try:
        return await asyncio.wrap_future(task)
    finally:
        if task.cancelled():
            wire.close()
        elif not task.done():
            wire.cut()


def _speak(wire: Wire, context: ssl.SSLContext, account: Account, work: Work) -> Any:
    """In a thread. What is raised chains to nothing: the library's errors hold what the server said (SE-01)."""
    try:
        return _visit(wire, context, account, work)
    except SchleuseError as error:
        failure = error
    except HOSTILE as error:
        failure = explain(error, account.where)
    finally:
        wire.close()
    failure.__cause__ = failure.__context__ = None
    raise failure.with_traceback(None)


def _visit(wire: Wire, context: ssl.SSLContext, account: Account, work: Work) -> Any:
    client = Client(wire, context, account.host, account.starttls)
    client.enter(account)
    found = work(client)
    with suppress(SchleuseError, *HOSTILE):
        client.logout()
    return found
