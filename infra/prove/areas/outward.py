"""What the bridge has told the site: fresh ids, and no actor, cause or correlation (S14). Read from its outbox."""

from infra.prove.check import Book
from infra.prove.target import Attempt, Target
from shared.settings import DATABASES

ALLOWED = (
    "specversion",
    "id",
    "source",
    "type",
    "dataschema",
    "datacontenttype",
    "subject",
    "time",
    "traceparent",
    "key",
    "keyversion",
    "data",
)
_STRANGE = """SELECT DISTINCT name || ': ' || field FROM app.outbox o, jsonb_object_keys(convert_from(body, 'UTF8')::jsonb) field
  WHERE subject LIKE 'to.site.%' AND NOT field = ANY ($1::text[]) LIMIT 5"""
_FROM_INSIDE = """SELECT DISTINCT o.name || ' ' || o.event_id FROM app.outbox o WHERE o.subject LIKE 'to.site.%'
  AND (substring(o.event_id::text FROM 15 FOR 1) <> '4' OR EXISTS (SELECT FROM app.inbox i WHERE i.event_id = o.event_id)) LIMIT 5"""
_BAGGAGE = """SELECT DISTINCT name || ': ' || header FROM app.outbox o, jsonb_object_keys(headers) header
  WHERE subject LIKE 'to.site.%' AND header NOT IN ('Schleuse-Seal') LIMIT 5"""
_UNSEALED = "SELECT DISTINCT name || ' ' || event_id FROM app.outbox WHERE subject LIKE 'to.%' AND NOT headers ? 'Schleuse-Seal' LIMIT 5"


async def check_outward(target: Target, book: Book) -> None:
    made = {
        "envelopes to the site have the agreed fields only": _rows(_STRANGE, [list(ALLOWED)]),
        "events to the site have fresh ids of their own": _rows(_FROM_INSIDE),
        "envelopes to the site carry no baggage": _rows(_BAGGAGE),
        "every envelope that was sent is sealed": _rows(_UNSEALED),
    }
    outcomes = await target.run("bridge", list(made.values()))
    for says, outcome in zip(made, outcomes, strict=True):
        book.holds("bridge", says, ", ".join(row[0] for row in outcome["value"]))


def _rows(query: str, args: list[object] | None = None) -> Attempt:
    return {"kind": "rows", "role": "bridge", "database": DATABASES["bridge"], "query": query, "args": args or []}
