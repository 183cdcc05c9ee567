"""The console's pages about the system itself: owner and admin see them, nobody else does."""

from infra.prove.areas.guard import check_private
from infra.prove.check import Book
from infra.prove.fetch import get
from infra.prove.guests import Guest

SYSTEM_PAGES = ("/system", "/system/figures.json", "/system/grants")
SYSTEM_FORMS = ("/system/grants",)
"""Asking for a new inventory."""


async def check_system(book: Book, base: str, guest: Guest, cookie: dict[str, str]) -> None:
    """Refused with words, and without a figure."""
    for path in SYSTEM_PAGES:
        answer = await get(base, path, cookie)
        book.same(guest.role, f"the system is not theirs to look into: {path}", 403, answer.status)
        says = f"a {guest.role} may not look into the system" in answer.body.lower()
        told = "" if says and "core.policies" not in answer.body else "it does not say why, or says more"
        book.holds(guest.role, f"told why, and nothing else: {path}", told)
        check_private(book, guest.role, path, answer)
