"""The way of a revision as the console knows it, station by station."""

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from sqlalchemy.engine import RowMapping

from services.console.queue.reading import Reading


@dataclass(frozen=True)
class Hop:
    """One station: `side` pass (inside), wait (gate) or live (outside); `gap` in ms since the one before."""

    side: str
    title: str
    where: str
    at: datetime
    gap: float | None = None
    waited: bool = False


def hops(reading: Reading, rows: Any, submitted: datetime | None) -> list[Hop]:
    """The way of the revision as the console knows it, in time order."""
    item, revision = reading.item, reading.revision
    number, author = revision["revision"], revision["by_name"]
    found = [Hop("wait", _queued(revision), "bridge · item.queued", revision["queued_at"])]
    if submitted:
        found.append(Hop("pass", f"Submitted by {author}", "console · item.submitted", submitted))
    elif revision["sent_at"]:
        found.append(_came(revision))
    decision = reading.last
    if decision and decision["verdict"] not in ("withdraw", "undo"):
        words = decision["verdict"].replace("_", " ")
        found.append(
            Hop(
                "pass", f"{decision['by_name']}: {words}, signed", "console · item.decided", decision["at"], waited=True
            )
        )
    shown = {"scheduled", "published", "withdrawn"}
    mine = [row for row in rows if row["revision"] == number]
    found += [_moved(row) for row in mine if row["state"] in shown or row["undoes"]]
    if item["live_revision"] == number and item["live_since"]:
        found.append(Hop("live", "Both signatures verified, on the site", "site · item.applied", item["live_since"]))
        found.append(Hop("pass", "Reported back to the console", "console · item.applied", item["applied_seen_at"]))
    return _with_gaps(sorted(found, key=lambda hop: hop.at))


def _came(revision: RowMapping) -> Hop:
    """What was not handed in here: by the agent, or by a visitor."""
    if revision["by_via"] == "agent":
        words = f"Proposed by the agent for {revision['by_name']}"
        return Hop("pass", words, "agent · item.proposed", revision["sent_at"])
    return Hop("live", f"Sent by {revision['by_name']}", "site · comment.submitted", revision["sent_at"])


def _queued(revision: RowMapping) -> str:
    count = len(revision["findings"])
    return f"Inspected in {revision['inspected_ms']} ms, {count} finding{'' if count == 1 else 's'}, queued"


def _moved(row: RowMapping) -> Hop:
    place = f"as no. {row['gate_seq']}"
    if row["undoes"]:
        sealed = f", its withdrawal countersigned {place}" if row["gate_seq"] is not None else ""
        return Hop("wait", f"{row['by_name']} undid the decision{sealed}", "bridge · item.moved", row["at"])
    if row["state"] == "withdrawn" and row["by_via"] == "service":
        return Hop("wait", f"Taken down by the lock: {row['reason']}", "bridge · item.moved", row["at"])
    until = f", until {row['expire_at']:%-d %b %Y, %H:%M} UTC" if row["expire_at"] else ""
    titles = {
        "published": f"Verified, countersigned, in the gate’s log {place}{until}",
        "withdrawn": f"Withdrawal countersigned {place}",
        "scheduled": "Verified; waits for its time"
        + (f", {at:%-d %b %Y, %H:%M} UTC" if (at := row["publish_at"]) else "")
        + until,
    }
    title = (
        "Taken back before its time"
        if row["gate_seq"] is None and row["state"] == "withdrawn"
        else titles[row["state"]]
    )
    return Hop("wait", title, "bridge · item.moved", row["at"])


def _with_gaps(found: list[Hop]) -> list[Hop]:
    gaps = [
        None,
        *((after.at - before.at).total_seconds() * 1000 for before, after in pairwise(found)),
    ]
    return [replace(hop, gap=gap) for hop, gap in zip(found, gaps, strict=True)]
