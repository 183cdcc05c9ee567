"""What every chat begins with: the owner's memory, and what of it is left out (rule 21)."""

from services.agent.loop.preface import Preface, Words
from services.agent.memory.domain import MEMORY, PRUNE_ABOVE, READ_AT_START
from services.agent.memory.files import Workspaces
from services.agent.owners.domain import Me

HEADING = f"The user's memory ({MEMORY}): what they asked to be remembered"
LEFT_OUT = (
    "({bytes} bytes of the memory are left out here: only its first {most} KiB are read at the start. Say so to the user;"
    " `recall` reads the rest.)"
)
LONG = (
    "(The memory is longer than {above} KiB. Offer once to propose which lines could go: `propose_pruning`."
    " Take nothing out unasked.)"
)


def memory_preface(workspaces: Workspaces) -> Preface:
    async def words(me: Me) -> Words | None:
        text, left_out = await workspaces.read_at_start(me)
        if not text.strip():
            return None
        said = [text.rstrip("\n")]
        if left_out:
            said.append(LEFT_OUT.format(bytes=left_out, most=READ_AT_START // 1024))
        if len(text.encode()) + left_out > PRUNE_ABOVE:
            said.append(LONG.format(above=PRUNE_ABOVE // 1024))
        return Words(HEADING, "\n".join(said))

    return words
