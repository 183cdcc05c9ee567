"""A proposal's states as its proposer is told of them. No framework."""

from schemas.bridge.v1 import ProposalMoved
from services.agent.owners.domain import AgentRole
from services.agent.tools.domain import PEOPLE, TRUSTED

STAFF: frozenset[AgentRole] = frozenset({*TRUSTED, "moderator"})
"""Who may propose an item: of the others the agent keeps their own things, and no more."""
MAY_LOOK = PEOPLE
"""Who may see what became of their own proposals: whoever was moderator once, too."""
_WAITING = ("handed_in", "submitted")
_WORDS = {
    "published": "was approved and is public now",
    "scheduled": "was approved and becomes public at its time",
    "rejected": "was turned down",
    "changes_requested": "was sent back: changes are wanted",
    "withdrawn": "was taken back and is not public any more",
    "refused": "could not be taken as an item",
    "unchanged": "changes nothing: the newest text of that item says the same",
}


def note_of(before: str, moved: ProposalMoved, title: str) -> str:
    """What its conversation is told, empty for a step on the way. `before`: the state that was known until now."""
    words = _WORDS.get(moved.state, "")
    if moved.state == "submitted" and before not in _WAITING:
        words = "waits for a decision again: the last one was undone"
    if moved.state == "superseded" and before in _WAITING:
        words = "was replaced by a newer text before anybody decided on it"
    if not words:
        return ""
    place = f"{moved.kind}/{moved.lang}/{moved.path}"
    return f"Your proposal “{title}” ({place}) {words}." + (f" Reason: {moved.reason}" if moved.reason else "")
