"""Conversations and turns of an owner. A message is never rewritten, and goes only with its whole conversation; of a turn the figures stay for good.

What a person wrote or was answered stands in `messages` and `turn_texts`, which their owner may have deleted; `turns` holds no word of it.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    Numeric,
    Table,
    Text,
    Uuid,
    text,
)

from services.agent.schema import app, core, line, owned, when, written

_OF = ("owner_kind", "owner_id", "conversation_id")


def _conversation(name: str) -> ForeignKeyConstraint:
    """Its rows are the same owner's, and go with it."""
    return ForeignKeyConstraint(_OF, [f"core.conversations.{each}" for each in _OF], ondelete="CASCADE", name=name)


conversations = Table(
    "conversations",
    core,
    *owned(),
    Column("conversation_id", Uuid, primary_key=True),
    line("title", server_default=""),
    written("created_at"),
    written("changed_at"),
    Column("tainted", Text, nullable=False, server_default="[]"),
    Column("messages", BigInteger, nullable=False, server_default="0"),
    CheckConstraint("messages >= 0", name="conversations_messages"),
    Index("conversations_changed", "owner_kind", "owner_id", "changed_at"),
)
"""`tainted`: JSON list of the untrusted texts it has read, newest last. `messages`: how many it has, which is the newest one's number."""

messages = Table(
    "messages",
    core,
    *owned(),
    Column("conversation_id", Uuid, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    line("part"),
    line("text"),
    line("folded"),
    written(),
    Column("turn_id", Uuid),
    Column("calls", Text),
    Column("aborted", Boolean, nullable=False, server_default=text("false")),
    Column("flagged", Boolean, nullable=False, server_default=text("false")),
    CheckConstraint("part IN ('user', 'reply', 'tools', 'note')", name="messages_part"),
    CheckConstraint("number > 0", name="messages_number"),
    CheckConstraint("(part = 'tools') = (calls IS NOT NULL)", name="messages_calls"),
    _conversation("messages_conversation"),
)
"""`calls`: JSON list of tool calls, each with its result: a pair is one row and cannot be torn. `folded`: the text as a search looks for it."""

open_turns = Table(
    "open_turns",
    core,
    *owned(),
    Column("turn_id", Uuid, primary_key=True),
    Column("conversation_id", Uuid, nullable=False),
    Column("place", BigInteger, nullable=False),
    line("state", server_default="waiting"),
    line("app"),
    line("text"),
    line("calls", server_default="[]"),
    line("reply", server_default=""),
    written("begun_at"),
    when("started_at"),
    CheckConstraint("state IN ('waiting', 'running')", name="open_turns_state"),
    Index("open_turns_place", *_OF, "place", unique=True),
    _conversation("open_turns_conversation"),
)
"""Turns that wait or run, in their order (rule 4). `calls`: tools that have begun and not ended; `reply`: what was answered so far."""

turns = Table(
    "turns",
    core,
    *owned(),
    Column("turn_id", Uuid, primary_key=True),
    Column("conversation_id", Uuid, nullable=False),
    line("app"),
    line("model"),
    when("started_at", nullable=False),
    written("ended_at"),
    Column("iterations", Integer, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("cost", Numeric),
    line("outcome"),
    line("trace_id"),
    CheckConstraint("outcome IN ('ok', 'aborted', 'failed', 'refused')", name="turns_outcome"),
    CheckConstraint("cost >= 0 AND cost < 'NaN'", name="turns_cost"),
    CheckConstraint("iterations >= 0 AND calls >= 0", name="turns_figures"),
    Index("turns_ended", "owner_kind", "owner_id", "ended_at"),
)
"""One row per turn, written at its end, for good. `cost` NULL: not known."""

turn_texts = Table(
    "turn_texts",
    core,
    *owned(),
    Column("turn_id", Uuid, primary_key=True),
    Column("conversation_id", Uuid, nullable=False),
    line("prompt"),
    line("reply"),
    line("error"),
    line("calls"),
    written(),
    Index("turn_texts_conversation", *_OF),
)
"""What was said in a turn, cut short; `calls`: JSON list of what its tools were asked. Deleted with its conversation, the figures stay."""

open_turn_owners = Table(
    "open_turn_owners",
    app,
    Column("turn_id", Uuid, primary_key=True),
    Column("owner_kind", Text, nullable=False),
    Column("owner_id", Text, nullable=False),
    Column("worker", Text, nullable=False),
    written("begun_at"),
)
"""Turn -> owner, and which process works at it: so that what a dead process left is found without asking for anybody's rows."""

turn_workers = Table(
    "turn_workers",
    app,
    Column("worker", Text, primary_key=True),
    Column("part", Text, nullable=False),
    written("seen_at"),
)
"""Processes that work at turns, and when each said last that it lives. `worker` is one start of a process, `part` its name."""

OWNED = frozenset({"conversations", "messages", "open_turns", "turns", "turn_texts"})


def _grant(table: Table, *made: str, **more: Any) -> dict[str, Any]:
    """Everything may be inserted but what the database writes itself."""
    return {"select": True, "insert": [each.name for each in table.columns if each.name not in made], **more}


GRANTS: dict[str, dict[str, Any]] = {
    "conversations": _grant(
        conversations, "created_at", "changed_at", update=["title", "changed_at", "tainted", "messages"], delete=True
    ),
    "messages": _grant(messages, "at", delete=True),
    "open_turns": _grant(open_turns, "begun_at", update=["state", "calls", "reply", "started_at"], delete=True),
    "turns": _grant(turns, "ended_at"),
    "turn_texts": _grant(turn_texts, "at", delete=True),
}

_WHOLE = """
CREATE OR REPLACE FUNCTION core.only_with_conversation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF EXISTS (SELECT FROM core.conversations c WHERE c.owner_kind = OLD.owner_kind AND c.owner_id = OLD.owner_id AND c.conversation_id = OLD.conversation_id) THEN
    RAISE EXCEPTION 'a message goes only with its whole conversation' USING ERRCODE = '42501';
  END IF;
  RETURN OLD;
END $$"""
_NEXT = """
CREATE OR REPLACE FUNCTION core.next_message() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE newest bigint;
BEGIN
  SELECT max(number) INTO newest FROM core.messages m
    WHERE m.owner_kind = NEW.owner_kind AND m.owner_id = NEW.owner_id AND m.conversation_id = NEW.conversation_id;
  IF NEW.number <> coalesce(newest, 0) + 1 THEN
    RAISE EXCEPTION 'a conversation continues after message %, not with %', coalesce(newest, 0), NEW.number USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$"""
_TRIGGER = "CREATE OR REPLACE TRIGGER {0} BEFORE {1} ON core.messages FOR EACH ROW EXECUTE FUNCTION core.{0}()"

SQL: list[str] = [
    _WHOLE,
    _NEXT,
    _TRIGGER.format("only_with_conversation", "DELETE"),
    _TRIGGER.format("next_message", "INSERT"),
]
