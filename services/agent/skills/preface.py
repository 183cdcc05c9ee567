"""Which skills there are stands in every turn of their owner; what one says is read when it is needed."""

from services.agent.files.domain import Row
from services.agent.files.kept import Files
from services.agent.loop.preface import Preface, Words
from services.agent.memory.files import Workspaces
from services.agent.owners.domain import Me
from services.agent.skills.domain import ENDING, FOLDER, MOST, READ, Skill, about, told
from shared.errors import NotFound, Refused

HEADING = "The user's skills: how to do certain things. Before you do what one is about, read it with `read_file`, and follow it"


def skills_preface(files: Files, workspaces: Workspaces) -> Preface:
    """A skill that holds text from outside is none until its owner has looked at it: what it says it is for would be read into every turn (S11)."""

    async def words(me: Me) -> Words | None:
        if me.is_guest:
            return None
        try:
            rows = [each for each in await files.list(me, FOLDER) if _is_skill(each)]
        except (
            NotFound,
            Refused,
        ):  # something else lies there: then there are none, and the owner can still talk with the agent
            return None
        found = [each for row in rows[:MOST] if (each := await _read(me, row)) is not None]
        return Words(HEADING, told(found, max(0, len(rows) - MOST))) if found else None

    async def _read(me: Me, row: Row) -> Skill | None:
        try:
            text, _, sources = await workspaces.read(me, row.path, 0, READ)
        except (NotFound, Refused):
            return None
        return None if sources else Skill(row.path, about(text))

    return words


def _is_skill(row: Row) -> bool:
    return not row.is_folder and not row.from_outside and row.path.lower().endswith(ENDING)
