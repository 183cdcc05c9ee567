"""Compare a signed head of the gate's log with our copy of it."""

from schemas.statements import Signed
from services.site.publication import store
from services.site.publication.books import Books
from services.site.publication.chain import read_head
from shared.db import Tx


async def see_head(tx: Tx, books: Books, sealed: Signed) -> None:
    """Keep the head for the other instances of the site, and look at it once it is kept. BadSignature when it is forged."""
    head = read_head(sealed, books.keys)
    await store.keep_head(tx, sealed, head.nonce)
    tx.after_commit(lambda: books.see(sealed, head))
