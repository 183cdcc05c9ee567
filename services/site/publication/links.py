"""Share links as the gate's log tells of them (rule 29): who holds a token sees the one item that it was made for. Pure."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.statements import LinkChange, Undo, Withdrawal
from services.site.publication.chain import Entered

LONGEST_TOKEN = 200


@dataclass(frozen=True)
class ShareLink:
    """An open share link."""

    link_id: UUID
    item_id: UUID
    token_hash: str
    expires_at: datetime


class Links:
    """Those that are open. A withdrawal closes all links to the item: whoever publishes it anew opens new ones."""

    def __init__(self) -> None:
        self._open: dict[str, ShareLink] = {}
        self._known: set[UUID] = set()

    def __len__(self) -> int:
        return len(self._open)

    def clear(self) -> None:
        """Nothing is known any more: the log is read from its beginning."""
        self._open.clear()
        self._known.clear()

    def note(self, entered: Entered) -> None:
        """The next entry of the verified log. A link that was closed is never opened again, whatever the log says."""
        match entered.statement:
            case LinkChange(action="open") as change if change.link_id not in self._known:
                self._known.add(change.link_id)
                self._open[change.token_hash] = ShareLink(
                    change.link_id, change.item_id, change.token_hash, change.expires_at
                )
            case LinkChange() as change:
                self._close(lambda link: link.link_id == change.link_id)
            case Withdrawal() | Undo() as taken_back:
                self._close(lambda link: link.item_id == taken_back.item_id)

    def _close(self, which: Callable[[ShareLink], bool]) -> None:
        self._open = {key: link for key, link in self._open.items() if not which(link)}

    def find(self, token: str, at: datetime) -> ShareLink | None:
        """The link that this token opens at this moment. Tokens are compared by their hashes, so that time tells nothing of them."""
        if len(token) > LONGEST_TOKEN:
            return None
        link = self._open.get(hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest())
        return link if link is not None and at < link.expires_at else None
