"""Notifications of people. What fires a task writes its row in the same transaction, so a reminder is told exactly once.

The database keeps the bounds: a text that is too long is cut, an owner has at most `KEPT_UNREAD` rows, and what finds no room is counted.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, Table, Uuid, text

from services.agent.notifications.domain import KEPT_UNREAD, LONGEST_TEXT, LONGEST_TITLE
from services.agent.schema import core, line, owned, when, written

notifications = Table(
    "notifications",
    core,
    *owned(),
    Column("notification_id", Uuid, primary_key=True),
    Column("task_id", Uuid),
    line("title"),
    line("text"),
    line("link", server_default=text("''")),
    when("due_at", nullable=False),
    written(),
    when("shown_at"),
    when("read_at"),
    Index("notifications_newest", "owner_kind", "owner_id", "at"),
    Index("notifications_unread", "owner_kind", "owner_id", "at", postgresql_where=text("read_at IS NULL")),
)
"""`shown_at`: when a page first showed it as a toast; later pages only count it among the unread."""

notifications_left_out = Table(
    "notifications_left_out",
    core,
    *owned(),
    Column("count", BigInteger, nullable=False),
    when("since", nullable=False, server_default=text("clock_timestamp()")),
)
"""How many found no room, until their owner has read what is there."""

TABLES = (notifications, notifications_left_out)
OWNED = frozenset({"notifications", "notifications_left_out"})
_OWNER = ["owner_kind", "owner_id"]
GRANTS: dict[str, dict[str, Any]] = {
    "notifications": {
        "select": True,
        "insert": [*_OWNER, "notification_id", "task_id", "title", "text", "link", "due_at"],
        "update": ["shown_at", "read_at"],
        "delete": True,
    },
    "notifications_left_out": {"select": True, "insert": [*_OWNER, "count"], "update": ["count"], "delete": True},
}

_KEEP = f"""
CREATE OR REPLACE FUNCTION core.keep_notification() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE has_room boolean;
BEGIN
  NEW.title := left(NEW.title, {LONGEST_TITLE}); NEW.text := left(NEW.text, {LONGEST_TEXT});
  IF (SELECT count(*) FROM core.notifications n WHERE n.owner_kind = NEW.owner_kind AND n.owner_id = NEW.owner_id) < {KEPT_UNREAD} THEN
    RETURN NEW;
  END IF;
  DELETE FROM core.notifications n WHERE n.owner_kind = NEW.owner_kind AND n.owner_id = NEW.owner_id AND n.notification_id =
    (SELECT o.notification_id FROM core.notifications o WHERE o.owner_kind = NEW.owner_kind AND o.owner_id = NEW.owner_id
      AND o.read_at IS NOT NULL ORDER BY o.at LIMIT 1);
  IF FOUND THEN
    RETURN NEW;
  END IF;
  DELETE FROM core.notifications n WHERE n.owner_kind = NEW.owner_kind AND n.owner_id = NEW.owner_id AND n.notification_id =
    (SELECT o.notification_id FROM core.notifications o WHERE o.owner_kind = NEW.owner_kind AND o.owner_id = NEW.owner_id AND o.task_id =
      (SELECT m.task_id FROM core.notifications m WHERE m.owner_kind = NEW.owner_kind AND m.owner_id = NEW.owner_id AND m.task_id IS NOT NULL
        GROUP BY m.task_id HAVING count(*) > 1 ORDER BY count(*) DESC LIMIT 1) ORDER BY o.at LIMIT 1);
  has_room := FOUND;
  INSERT INTO core.notifications_left_out AS l (owner_kind, owner_id, count) VALUES (NEW.owner_kind, NEW.owner_id, 1)
    ON CONFLICT (owner_kind, owner_id) DO UPDATE SET count = l.count + 1;
  IF has_room THEN
    RETURN NEW;
  END IF;
  RETURN NULL;
END $$"""  # noqa: S608 - numbers of ours
"""The oldest that was read makes room; when there is none, the oldest of the task that has the most, so that what comes every minute keeps nothing else out;
when each has one, the new one. What nobody read is counted."""

SQL: list[str] = [
    _KEEP,
    "CREATE OR REPLACE TRIGGER keep_notification BEFORE INSERT ON core.notifications"
    " FOR EACH ROW EXECUTE FUNCTION core.keep_notification()",
]
