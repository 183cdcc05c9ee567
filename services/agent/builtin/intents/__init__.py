"""Everything the built-in model understands, in the order in which it is tried: what the platform forbids first, free phrases last."""

from services.agent.builtin.intents import (
    behavior,
    conversations,
    downloads,
    files,
    lessons,
    mail,
    memory,
    platform,
    publishing,
    reading,
    spending,
    talking,
    tools,
)

INTENTS = (
    *talking.FIRST,
    *platform.INTENTS,
    *downloads.INTENTS,
    *tools.INTENTS,
    *lessons.INTENTS,
    *publishing.INTENTS,
    *memory.INTENTS,
    *behavior.INTENTS,
    *conversations.INTENTS,
    *spending.INTENTS,
    *mail.INTENTS,
    *reading.INTENTS,
    *files.INTENTS,
    *downloads.LATER,
    *talking.LAST,
)
