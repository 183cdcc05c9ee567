"""Whether a person's signed word counts now. Pure: no database, no bus, no clock; the signature was verified before (gate.py)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from schemas.statements import Decision, LinkChange, Opening, SwitchSetting, Undo
from services.bridge.domain import SWITCH_VALUES, Item, Refusal, Revision

UNDO_SECONDS = 600
"""So long after its arrival a verdict can be taken back (story: a moderator's morning)."""
PEOPLE_COME_BY = ("console", "api", "operator")
OPERATOR = "operator"
LONGEST_LINK = timedelta(days=366)
"""A share link lasts at most so long."""


@dataclass(frozen=True)
class Given:
    """A decision that the lock holds. `age`: seconds since it arrived, by the database's clock; `undone_by`: who took it back."""

    item_id: UUID
    revision: int
    verdict: str
    age: float
    undone_by: str | None


@dataclass(frozen=True)
class Link:
    """A share link as it was opened. `changes`: 1 while it is open, 2 once it was closed."""

    item_id: UUID
    token_hash: str
    expires_at: datetime
    changes: int


def judge_opening(decider: str, opening: Opening) -> Refusal | None:
    """The person inside must be the one the signed statement commits to, and must be a person (an agent never decides)."""
    if opening.commitment != decider:
        return Refusal("bad_signature", "the person named is not the one the signed statement commits to")
    if opening.via not in PEOPLE_COME_BY:
        return Refusal("invalid", f"a decision cannot come by way of {opening.via!r}; a person decides in the console")
    return None


def judge_decision(
    decision: Decision,
    opening: Opening,
    item: Item | None,
    revision: Revision | None,
    switches: dict[str, str],
    at: datetime,
) -> Refusal | None:
    """Whether a verified Decision counts now, at `at`. `revision` is the item's newest one."""
    if item is None or revision is None:
        return Refusal("unknown_item", "the lock knows no such item")
    if decision.revision != item.revision:
        return Refusal("conflict", f"revision {decision.revision} is not the newest; revision {item.revision} is")
    for name in ("kind", "lang", "path", "audience", "content_hash"):
        if getattr(decision, name) != getattr(revision, name):
            return Refusal(
                "invalid", f"the decision names another {name.replace('_', ' ')} than revision {decision.revision} has"
            )
    if decision.attachments != revision.attachments:
        return Refusal("invalid", "the decision names other attachments than the revision has")
    if decision.prior_version != item.version or not (item.state == "submitted" or is_new_time(decision, item)):
        return Refusal(
            "conflict", f"revision {item.revision} is {item.state.replace('_', ' ')}; the decision came too late"
        )
    return _judge_times(decision, at) or (
        _judge_approval(opening, revision, switches) if decision.verdict == "approve" else None
    )


def is_new_time(decision: Decision, item: Item) -> bool:
    """Whether it approves what is scheduled once more: it takes the place of the approval before."""
    return decision.verdict == "approve" and item.state == "scheduled" and item.scheduled == item.revision


def _judge_times(decision: Decision, at: datetime) -> Refusal | None:
    until = decision.expire_at
    if decision.verdict != "approve" and (decision.publish_at or until):
        return Refusal("invalid", "only an approval can be given a time")
    if until is not None and until <= (decision.publish_at or decision.decided_at):
        return Refusal("invalid", "it would be taken down before it is published")
    if until is not None and until <= at:
        return Refusal("invalid", f"its time was over at {until:%Y-%m-%d %H:%M} UTC, before the approval arrived")
    return None


def _judge_approval(opening: Opening, revision: Revision, switches: dict[str, str]) -> Refusal | None:
    if revision.blocked:
        return Refusal("blocked", "the lock stopped this revision; it cannot be approved")
    if switches["publication_mode"] == "frozen":
        return Refusal("frozen", "publication is frozen; nothing can be approved until the switch is back on review")
    if switches["four_eyes"] == "on" and opening.via == OPERATOR:
        return Refusal("four_eyes", "four eyes is on, and the operator is never a second pair of eyes")
    if switches["four_eyes"] == "on" and opening.person_id == revision.submitted_by:
        return Refusal("four_eyes", "four eyes is on: who submitted a revision may not approve it")
    return None


def judge_withdrawal(prior_version: int, item: Item | None) -> Refusal | None:
    """Whether a verified Withdrawal counts now. Withdrawing works while publication is frozen."""
    if item is None:
        return Refusal("unknown_item", "the lock knows no such item")
    if prior_version != item.version:
        return Refusal("conflict", f"the item has moved on: revision {item.revision} is {item.state.replace('_', ' ')}")
    if item.published is None and item.scheduled is None:
        return Refusal(
            "conflict", f"nothing of this item is public; revision {item.revision} is {item.state.replace('_', ' ')}"
        )
    return None


def judge_undo(undo: Undo, given: Given | None, item: Item | None) -> Refusal | None:
    """Whether a verified Undo counts now. `given` is the decision that it names. Neither four eyes nor a frozen lock stops it."""
    if item is None or given is None or (given.item_id, given.revision) != (undo.item_id, undo.revision):
        return Refusal("invalid", "the lock holds no such decision on this revision")
    if given.verdict in ("withdraw", "undo"):
        what = "a withdrawal" if given.verdict == "withdraw" else "an undo"
        return Refusal("invalid", f"{what} cannot be undone; decide on the item again")
    if given.undone_by is not None:
        return Refusal("conflict", f"{given.undone_by} has undone it already")
    if undo.prior_version != item.version or item.decided != undo.undoes:
        return Refusal("conflict", f"the item has moved on since: {_present(item)}")
    if given.age > UNDO_SECONDS:
        return Refusal("conflict", f"a decision can be undone for {UNDO_SECONDS // 60} minutes, and these are over")
    return None


def _present(item: Item) -> str:
    words = {"submitted": "waits for a decision", "changes_requested": "has changes requested"}
    return f"revision {item.revision} {words.get(item.state, f'is {item.state}')}"


def judge_setting(setting: SwitchSetting, version: int) -> Refusal | None:
    """Whether a verified SwitchSetting counts now; `version` counts the settings of this switch so far."""
    if setting.value not in SWITCH_VALUES[setting.name]:
        known = ", ".join(SWITCH_VALUES[setting.name])
        return Refusal("invalid", f"{setting.name} can be: {known}; not {setting.value!r}")
    if setting.prior_version != version:
        return Refusal("conflict", f"{setting.name} was set by somebody else in the meantime")
    return None


def judge_link(
    change: LinkChange, link: Link | None, audience: str | None, switches: dict[str, str], at: datetime
) -> Refusal | None:
    """Whether a verified LinkChange counts now. `link`: what is known of it; `audience`: whom the item's published revision is for."""
    if change.action == "open":
        return _judge_new_link(change, link, audience, switches, at)
    if link is None or (link.item_id, link.token_hash, link.expires_at) != (change.item_id, change.token_hash, change.expires_at):  # fmt: skip
        return Refusal("invalid", "the lock knows no such share link to this item")
    if link.changes != change.prior_version:
        return Refusal("conflict", "the share link was closed before, which is final")
    return None


def _judge_new_link(
    change: LinkChange, link: Link | None, audience: str | None, switches: dict[str, str], at: datetime
) -> Refusal | None:
    if link is not None or change.prior_version != 0:
        return Refusal("conflict", "there is a share link with this id already")
    if audience is None:
        return Refusal("conflict", "nothing of this item is published; a share link opens what was approved")
    if audience != "link":
        return Refusal(
            "invalid", f"the item is published for {audience}; a share link opens only what was approved for links"
        )
    if not at < change.expires_at <= change.decided_at + LONGEST_LINK:
        return Refusal("invalid", f"a share link ends in the future, within {LONGEST_LINK.days} days")
    if switches["publication_mode"] == "frozen":
        return Refusal("frozen", "publication is frozen; no share link is opened until the switch is back on review")
    return None
