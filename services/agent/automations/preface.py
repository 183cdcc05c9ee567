"""What a model is told when nobody is there: it works by itself, and whatever it cannot do it says."""

from services.agent.automations.domain import APP
from services.agent.loop.preface import Words
from services.agent.owners.domain import Me

HEADING = "This is an automation"
WORDS = (
    "It runs by itself at its time; nobody reads along or can answer a question. Carry out the instruction with your tools and report what came of it."
    " A source that cannot be read is not an empty one: say so. What waits for a person, say with its link."
)


async def automation_preface(me: Me) -> Words | None:
    return Words(HEADING, WORDS) if me.app == APP else None
