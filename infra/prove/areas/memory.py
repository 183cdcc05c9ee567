"""Area memory: workspaces are the agent's alone and hold no way out; what it reads of the console is what staff share now; it can say no word of theirs (rules 14, 20, 21)."""

import asyncio

from infra.prove.check import Book, Check
from infra.prove.target import Attempt, Target
from schemas.catalogue import SURFACES
from shared.settings import DATABASES

AGAIN, PATIENCE = 0.5, 6
"""Seconds between two looks, and looks: what staff shared, or took back, is on its way for a moment."""
LISTED = 5
_SHARED = "SELECT record_id::text, version::bigint, source, encode(sha256(convert_to(text, 'UTF8')), 'hex') FROM app.shares WHERE taken_back_at IS NULL"
_READABLE = "SELECT record_id::text, version::bigint, source, encode(sha256(convert_to(text, 'UTF8')), 'hex') FROM app.shared_records WHERE text IS NOT NULL"
_KEPT = "SELECT record_id::text FROM app.shares WHERE taken_back_at IS NOT NULL AND text IS NOT NULL"
SAYS = ("record.shared", "record.unshared", "item.decided", "item.withdrawn", "switch.set", "setting.decided")
"""Words of people in the console, which the agent must not be able to say: to share, to publish, to set."""
TOLD = ("record.shared", "record.unshared", "proposal.moved")
"""What the lock alone tells the agent."""


async def check(target: Target) -> list[Check]:
    book = Book("memory")
    await check_workspaces(target, book)
    await check_shared(target, book)
    await check_words(target, book)
    return book.checks


async def check_workspaces(target: Target, book: Book) -> None:
    """Folders 0700 and plain files 0600 of the agent's own, each with one name; no link leads anywhere."""
    (outcome,) = await target.run("agent", [{"kind": "workspaces"}])
    faults = [f"{path} {fault}" for path, fault in outcome["value"]]
    book.holds("agent", "workspaces hold plain files and folders of the agent's own, and nothing else", "; ".join(faults[:LISTED]))  # fmt: skip


async def check_shared(target: Target, book: Book) -> None:
    """Word for word. What is taken back, and what nobody shared, is not there."""
    faults: list[str] = []
    for _ in range(PATIENCE):
        readable = {row[0]: row[1:] for row in await _ask(target, "agent", _READABLE)}
        shared = {row[0]: row[1:] for row in await _ask(target, "console", _SHARED)}
        faults = [f"{record}: {'other words than those shared' if record in shared else 'nobody shares it'}" for record, said in readable.items() if shared.get(record) != said]  # fmt: skip
        if not faults:
            break
        await asyncio.sleep(AGAIN)
    book.holds("agent", "it can read no record but those that are shared now, word for word", "; ".join(faults[:LISTED]))  # fmt: skip
    left = [row[0] for row in await _ask(target, "console", _KEPT)]
    book.holds("console", "of what was taken back no text is kept as shared", ", ".join(left[:LISTED]))


async def check_words(target: Target, book: Book) -> None:
    """The agent proposes and is told. It cannot say what people say, nor tell itself what the lock would."""
    subjects = [f"from.{who}.{name}" for name in SAYS for who in ("agent", "console")]
    await _publish(target, book, "agent", subjects)
    for service in SURFACES:
        await _publish(target, book, service, [f"to.agent.{name}" for name in TOLD])


async def _publish(target: Target, book: Book, service: str, subjects: list[str]) -> None:
    tried: list[Attempt] = [
        {"kind": "bus", "as": service, "op": "publish", "subjects": [subject], "payload": "{}"} for subject in subjects
    ]
    for subject, outcome in zip(subjects, await target.run(service, tried), strict=True):
        book.outcome(service, f"publish {subject}", outcome)


async def _ask(target: Target, service: str, query: str) -> list[list[str]]:
    asked: Attempt = {"kind": "rows", "role": service, "database": DATABASES[service], "query": query}
    (outcome,) = await target.run(service, [asked])
    found: list[list[str]] = outcome["value"]
    return found
