"""What the agent may propose. A proposal is text that waits for a person; the agent can decide nothing (rule 20)."""

import unicodedata
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from pydantic import ValidationError

from schemas.agent.v2 import ItemProposed
from schemas.content import Attachment, Form, ItemContent
from schemas.language import spelled
from schemas.model import MAX_CONTENT, Actor
from schemas.text import sha256
from shared.errors import Refused, TooLarge
from shared.ids import item_id, new_id
from shared.markup import invisible

AGENT = Actor(id="agent", name="Agent", via="agent")


@dataclass(frozen=True)
class Draft:
    """An item as the agent wrote it."""

    kind: str
    lang: str
    path: str
    title: str
    summary: str
    body: str
    audience: str = "public"
    attachments: tuple[Attachment, ...] = ()
    form: Form | None = None
    comments: Literal["", "closed"] = ""


def mend(text: str) -> str:
    """What a model wrote: NUL and lone surrogates become U+FFFD (rule 19)."""
    return "".join("\ufffd" if char == "\x00" or "\ud800" <= char <= "\udfff" else char for char in text)


def make_proposal(draft: Draft, by: Actor = AGENT, **origin: UUID | None) -> ItemProposed:
    """The event's data. `by`: for whom it is proposed; whatever stands there, it came from the agent. `origin`: conversation_id and turn_id. TooLarge above 512 KiB (rule 5), Refused when a field is not what an item can have."""
    path, lang = unicodedata.normalize("NFC", draft.path), spelled(draft.lang)
    if invisible(path) or {".", ".."} & set(path.split("/")):
        raise Refused(
            "path: it has invisible characters, or a segment that means another folder; the lock takes no such item"
        )
    try:
        content = ItemContent(
            title=draft.title,
            summary=draft.summary,
            body=draft.body,
            attachments=draft.attachments,
            form=draft.form,
            comments=draft.comments,
        ).to_bytes()
        _check_size(content)
        fields: dict[str, Any] = {
            "kind": draft.kind,
            "lang": lang,
            "path": path,
            "audience": draft.audience,
            "content": content,
        }
        return ItemProposed(
            submission_id=new_id(),
            item_id=item_id(draft.kind, lang, path),
            content_hash=sha256(content),
            submitted_by=by,
            **origin,
            **fields,
        )
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise Refused(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from None


def _check_size(content: bytes) -> None:
    if len(content) > MAX_CONTENT:
        raise TooLarge(f"the item has {len(content) // 1024} KiB; an item has at most {MAX_CONTENT // 1024} KiB")
