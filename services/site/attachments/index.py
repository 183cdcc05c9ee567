"""Which attachments these readers may fetch now: those that a published item of theirs names. Follows its view."""

from uuid import UUID

from schemas.content import Attachment
from services.site.publication.domain import Published
from services.site.publication.shelf import View


class FileIndex:
    """By hash, from the signed contents of what is shown."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._named: dict[str, dict[UUID, Published]] = {}
        for item in view:
            self._moved(None, item)
        view.listeners.append(self._moved)

    def find(self, hash_: str, name: str, item_id: UUID | None = None) -> Attachment | None:
        """The attachment as an item names it, any or this one; None when nothing that is shown does."""
        for item in self._named.get(hash_, {}).values():
            for each in item.attachments if item_id in (None, item.item_id) else ():
                if (each.hash, each.name) == (hash_, name):
                    return each
        return None

    def is_gone(self, hash_: str) -> bool:
        """Whether these readers could once fetch it."""
        return hash_ not in self._named and self._view.was_file(hash_)

    def _moved(self, before: Published | None, after: Published | None) -> None:
        if before is not None:
            self._forget(before)
        if after is not None:
            for each in after.attachments:
                self._named.setdefault(each.hash, {})[after.item_id] = after

    def _forget(self, item: Published) -> None:
        for each in item.attachments:
            items = self._named.get(each.hash, {})
            items.pop(item.item_id, None)
            if not items:
                self._named.pop(each.hash, None)
