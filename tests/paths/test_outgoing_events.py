"""What the running services really put on the bus, read by the official CloudEvents SDK and by the published documents."""

import json
import re

import pytest
from jsonschema import Draft202012Validator

from schemas.catalogue import BY_NAME, Event
from tests.contracts.contracts import ROOT
from tests.contracts.test_cloudevents import check
from tests.factories.documents import decide, submit, withdraw
from tests.factories.stack import SERVICES, Stack
from tests.factories.visitors import Visitor
from tests.factories.waiting import until

pytestmark = pytest.mark.stack
OURS = re.compile(r'"time": ?"[^"]*\.\d{6}Z", ?"traceparent"')
"""How the product writes a time, and a trace beside it; other tests put events of their own making into the outboxes."""
NEWEST = """
SELECT subject, convert_from(body, 'UTF8') AS body FROM
  (SELECT subject, body, position, row_number() OVER (PARTITION BY name ORDER BY position DESC) AS n FROM app.outbox) o
WHERE n <= 20 ORDER BY position DESC"""


def outgoing(stack: Stack) -> list[tuple[str, str, bytes]]:
    """(service, subject, body) of the newest events of every outbox."""
    rows = [(name, row) for name in SERVICES for row in stack.rows(name, NEWEST)]
    ours = [(name, row) for name, row in rows if OURS.search(row["body"])]
    return [(name, row["subject"], row["body"].encode()) for name, row in ours]


def test_real_events_are_cloud_events_that_fit_the_published_documents(stack: Stack, visitor: Visitor) -> None:
    item = submit(stack, "# Seen by others\n\nwords\n")
    decide(stack, item)
    until(lambda: visitor.sees(item), 10)
    visitor.view(item)
    withdraw(stack, item)
    until(lambda: visitor.get(item.url).status_code == 410, 10)
    kinds: set[Event] = set()
    for service, subject, body in outgoing(stack):
        event = check(body)
        found = BY_NAME[str(event.get_type()).removeprefix("io.schleuse.")]
        kinds.add(found)
        document = json.loads((ROOT / "asyncapi" / f"{service}.json").read_text())
        message = document["components"]["messages"][f"{subject}.v{found.version}"]
        schema = {**message["payload"], "components": document["components"]}
        assert [fault.message for fault in Draft202012Validator(schema).iter_errors(json.loads(body))] == [], subject
    seen = {each.name for each in kinds}
    wanted = {"item.submitted", "item.decided", "item.published", "item.moved", "item.applied", "item.withdrawn", "item.retracted", "signals.recorded", "head.sealed"}  # fmt: skip
    assert wanted <= seen, wanted - seen
