"""A task and its runs as rows, and back."""

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from schemas.text import sha256
from services.agent.tasks.domain import Run, Task, Wanted
from shared.schedules.domain import RULE, Cron, Interval, Occurrence, Once, Wall

SHOWN = (
    "task_id, kind, title, text, rule, zone, words, state, created_at, next_at, revision, notify, misfire, window_s, overlap, reason, sources,"
    " conversation_id, card_id, instruction_hash"
)
RUN = "task_id, nominal_at, state, at, ended_at, reason, note, output, error, conversation_id, turn_id, count, until"


def rule_text(rule: Once | Interval | Wall | Cron) -> str:
    """Plain JSON, what is as usual left out."""
    return json.dumps({"kind": rule.kind} | rule.model_dump(mode="json", exclude_defaults=True))


def read_rule(text: str) -> Once | Interval | Wall | Cron:
    return RULE.validate_json(text)


def task_of(row: Record) -> Task:
    found: dict[str, Any] = {name: row[name] for name in SHOWN.split(", ")}
    return Task(**found | {"rule": read_rule(row["rule"]), "sources": tuple(json.loads(row["sources"]))})


def run_of(row: Record, prefix: str = "") -> Run:
    return Run(**{name: row[prefix + name] for name in RUN.split(", ")})


def new_row(task_id: UUID, wanted: Wanted, first: Occurrence) -> dict[str, Any]:
    """What is written of a task that begins now."""
    when = wanted.when
    return {
        "task_id": task_id,
        "kind": wanted.kind,
        "title": wanted.title,
        "text": wanted.text,
        "rule": rule_text(when.rule),
        "zone": when.zone,
        "words": when.words,
        "state": "active",
        "next_at": first.at,
        "next_note": first.note,
        "notify": wanted.notify,
        "misfire": wanted.misfire,
        "window_s": wanted.window_s,
        "overlap": wanted.overlap,
        "sources": json.dumps(wanted.sources, ensure_ascii=False),
        "conversation_id": wanted.conversation_id,
        "card_id": wanted.card_id,
        "instruction_hash": sha256(wanted.text.encode()) if wanted.kind == "automation" else None,
    }


def when_columns(
    rule: Once | Interval | Wall | Cron, zone: str, words: str, first: Occurrence | None
) -> dict[str, Any]:
    """The schedule's columns. `first` None: nothing comes while it is paused."""
    at: datetime | None = None if first is None else first.at
    note = "" if first is None else first.note
    return {"rule": rule_text(rule), "zone": zone, "words": words, "next_at": at, "next_note": note, "held": False}
