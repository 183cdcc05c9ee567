"""Page views of an access log (rule 30a). Lines that were sent before are recognised by their ids and not counted again."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from schemas.text import text_fault
from services.site.publication.shelf import View
from services.site.signals import store
from services.site.signals.domain import derived_day_key, pseudonym
from services.site.signals.store import Views
from services.site.signals.usecases.record_signals import stage_signals
from shared.db import Tx
from shared.errors import Refused

MAX_PATH = 2000
_HOST = re.compile(r"[a-z0-9.:\[\]-]{0,253}")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SECRET = secrets.token_bytes(32)


@lru_cache(maxsize=65536)
def _visitor(day: str, address: str) -> str:
    """Visitor = address and day. The key lives as long as this process."""
    return pseudonym(derived_day_key(_SECRET, day), address)


async def ingest_views(tx: Tx, view: View, lines: Sequence[Any], per_event: int) -> tuple[int, int]:
    """Store and stage the lines that are new: (accepted, repeated). Refused names the first line that cannot be read."""
    views = Views([], [], [], [], [])
    wires: dict[str, bytes] = {}
    for number, line in enumerate(lines):
        try:
            _read(view, views, wires, line)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Refused(f"line {number} of the batch cannot be read: {error}", code="bad_line") from None
    new = await store.add_views(tx, views) if views.ids else set()
    fresh = list(wires.values()) if len(new) == len(wires) else [wire for id_, wire in wires.items() if id_ in new]
    stage_signals(tx, fresh, per_event)
    return len(new), len(lines) - len(new)


def _read(view: View, views: Views, wires: dict[str, bytes], line: Mapping[str, str]) -> None:
    """Add one line to the columns, and its JSON as the event carries it."""
    signal_id, path, stamp = line["id"].lower(), line["path"], line["at"]
    if not _ID.fullmatch(signal_id):
        raise ValueError("id is no UUID")
    at = datetime.fromisoformat(stamp)
    if at.tzinfo is None:
        raise ValueError("the time needs its offset")
    fault = text_fault(path) if len(path) <= MAX_PATH else f"the path has {len(path)} characters, at most {MAX_PATH}"
    if fault:
        raise ValueError(fault)
    referrer = line.get("referrer", "")
    if not _HOST.fullmatch(referrer):
        raise ValueError("a referrer is the name of a host, and nothing more")
    if signal_id in wires:
        return
    item = _item(view, path)
    when = at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    visitor = _visitor(when[:10], line["address"])
    views.ids.append(signal_id)
    views.items.append(item)
    views.paths.append(path)
    views.visitors.append(visitor)
    views.times.append(at)
    wires[signal_id] = _wire(signal_id, item, path, visitor, when, referrer)


def _item(view: View, path: str) -> UUID | None:
    """The item with this address; a path that is no item counts under its path."""
    found = view.at(unquote(path) if "%" in path else path)
    return found.item_id if found else None


def _wire(signal_id: str, item: UUID | None, path: str, visitor: str, at: str, referrer: str) -> bytes:
    """A Signal's JSON. Everything but the path has a form that needs no escaping."""
    of = f'"{item}"' if item else "null"
    shown = json.dumps(path, ensure_ascii=False)
    return (
        f'{{"signal_id":"{signal_id}","kind":"view","item_id":{of},"path":{shown},"visitor":"{visitor}","at":"{at}",'
        f'"value":0,"reaction":null,"text":"","referrer":"{referrer}"}}'
    ).encode()
