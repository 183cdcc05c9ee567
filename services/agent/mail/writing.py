"""What is changed in a mailbox, sent from it, and taken out of it into the workspace."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Protocol

from services.agent.files.domain import How
from services.agent.files.opened import Opened
from services.agent.mail.arguments import (
    Attached,
    FlagArguments,
    MoveArguments,
    SaveArguments,
    SendArguments,
)
from services.agent.mail.letters import as_shown, attached, check_confirmed, for_the_connector
from services.agent.mail.naming import place_for
from services.agent.mail.post import Post, source_of
from services.agent.owners.domain import Me
from services.agent.tools.domain import Asked, Found
from shared.errors import Permanent, Refused, TooLarge

MOST_ATTACHED = 6 * 1024 * 1024
"""Bytes of all files of one letter."""


class Files(Protocol):
    """What of the workspace is needed."""

    async def open(self, me: Me, path: str) -> Opened: ...
    async def write(
        self, me: Me, path: str, content: bytes, how: How = "number", sources: tuple[str, ...] = ()
    ) -> str: ...


class Writing:
    def __init__(self, post: Post, files: Files) -> None:
        self._post, self._files = post, files

    async def exact(self, asked: Asked, given: SendArguments) -> SendArguments:
        """As a card says it: from which account, the very bytes of each file, and every recipient as it is shown there."""
        account = await self._post.account(asked.me, given.account, sending=True)
        files = [
            attached(each, hashlib.sha256(await self._content(asked.me, each)).hexdigest())
            for each in given.attachments
        ]
        return given.model_copy(
            update={"account": account.label, "attachments": tuple(files), "confirmed": as_shown(given)}
        )

    async def send(self, asked: Asked, given: SendArguments) -> Found:
        """In a tainted conversation it comes here only by a card, whose recipients a person has seen as they are (EM-05, S11)."""
        if not asked.tainted:
            check_confirmed(given, asked.said)
        account = await self._post.account(asked.me, given.account, sending=True)
        files = [await self._file(asked.me, each) for each in given.attachments]
        sent = await self._post.ask(asked.me, account, "send", for_the_connector(given, files))
        count = len(sent["recipients"])
        value = {
            "sent": True,
            "account": account.label,
            "recipients": sent["recipients"],
            "message_id": sent["message_id"],
        }
        return Found(value, f"sent to {count} recipient{'' if count == 1 else 's'} from {account.label}")

    async def flag(self, asked: Asked, given: FlagArguments) -> Found:
        if not (given.add or given.remove):
            raise Refused("Say which mark to add or to remove: seen, flagged, answered.", code="flag")
        account = await self._post.account(asked.me, given.account)
        wanted = given.model_dump(mode="json", exclude={"account"})
        found = await self._post.ask(asked.me, account, "flag", wanted)
        value = {"account": account.label, "flags": found["flags"]}
        return Found(value, f"marked {len(found['flags'])} in {account.label}", (source_of(account),))

    async def move(self, asked: Asked, given: MoveArguments) -> Found:
        account = await self._post.account(asked.me, given.account)
        found = await self._post.ask(asked.me, account, "move", given.model_dump(mode="json", exclude={"account"}))
        value = {"account": account.label, "moved": found["moved"], "to": given.to}
        return Found(value, f"moved {len(found['moved'])} in {account.label}")

    async def save(self, asked: Asked, given: SaveArguments) -> Found:
        """Into the workspace, under a name that does there, marked as text from outside (rule 14, S11)."""
        account = await self._post.account(asked.me, given.account)
        wanted = given.model_dump(mode="json", exclude={"account", "path"})
        found = await self._post.ask(asked.me, account, "attachment", wanted)
        sources = tuple(dict.fromkeys((source_of(account), *asked.tainted)))
        path = await self._files.write(asked.me, place_for(given, found), _bytes(found), "number", sources)
        value = {"path": path, "bytes": found["bytes"], "from_outside": True}
        return Found(value, "saved an attachment", (source_of(account),))

    async def _file(self, me: Me, given: Attached) -> dict[str, str]:
        content = await self._content(me, given)
        attached(given, hashlib.sha256(content).hexdigest())
        return {"name": PurePosixPath(given.path).name, "content": base64.b64encode(content).decode()}

    async def _content(self, me: Me, given: Attached) -> bytes:
        with await self._files.open(me, given.path) as found:
            if found.size > MOST_ATTACHED:
                raise TooLarge(
                    f"{given.path} has {found.size} bytes; what is sent with a mail has at most {MOST_ATTACHED >> 20} MiB."
                )
            return b"".join([piece async for piece in found.pieces()])


def _bytes(found: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(found["content"], validate=True)
    except (binascii.Error, KeyError, TypeError):
        raise Permanent("the attachment came in a form that cannot be read", code="attachment") from None
