"""Events of the agent whose meaning grew: the second versions."""

from uuid import UUID

from schemas.agent import v1


class ItemProposed(v1.ItemProposed):
    """The agent proposes an item, out of which conversation and turn: where it comes from can be looked up for ever."""

    conversation_id: UUID | None = None
    turn_id: UUID | None = None
