"""The agent's mail, wired."""

from collections.abc import Awaitable, Callable

from schemas.outward import Owner
from schemas.statements import Signed
from services.agent.mail.post import Asks, Post
from services.agent.mail.reading import Reading
from services.agent.mail.removing import Removing
from services.agent.mail.tools import make_tools
from services.agent.mail.writing import Files, Writing
from services.agent.tools.domain import Tool
from shared.db import Database


def make_mail(
    db: Database, asker: Asks, acting: Callable[[Owner], Awaitable[Signed]], files: Files
) -> tuple[Tool, ...]:
    """Its tools."""
    post = Post(db, asker, acting)
    return make_tools(Reading(post), Writing(post, files), Removing(db, post))
