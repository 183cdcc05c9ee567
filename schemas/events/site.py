"""What the site says: what visitors did, what it shows."""

from schemas.event import Event
from schemas.site import v1 as site

EVENTS: tuple[Event, ...] = (
    Event(
        "signals.recorded",
        "site",
        ("console",),
        {1: site.SignalsRecorded},
        "deliver",
        "Up to 100 interactions of visitors.",
        lane="bulk",
        masses=True,
    ),
    Event(
        "item.applied",
        "site",
        ("console",),
        {1: site.ItemApplied},
        "deliver",
        "The site shows, or no longer shows, an item.",
        control=True,
    ),
    Event(
        "gate.requested",
        "site",
        ("bridge",),
        {1: site.GateRequested},
        "deliver",
        "The site asks for entries it may have missed.",
        control=True,
    ),
    Event(
        "row.rejected",
        "site",
        ("console",),
        {1: site.RowRejected},
        "deliver",
        "A row without a valid receipt was found and not rendered.",
        control=True,
    ),
    Event(
        "comment.submitted",
        "site",
        ("bridge",),
        {1: site.CommentSubmitted},
        "review",
        "A visitor wrote a comment that a person looks at first.",
        lane="bulk",
    ),
    Event(
        "form.answered",
        "site",
        ("console",),
        {1: site.FormAnswered},
        "deliver",
        "A visitor filled in a form of an item.",
        lane="bulk",
    ),
)
