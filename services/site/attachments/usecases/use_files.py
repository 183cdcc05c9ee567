"""An entry of the gate's log names its item's attachments: what is not named any more goes with it."""

from schemas.statements import Decision, Statement
from services.site.attachments import store
from services.site.publication.books import Books
from services.site.publication.chain import Entered
from shared.db import Tx


def _named(statement: Statement) -> tuple[str, ...]:
    return statement.attachments if isinstance(statement, Decision) else ()


async def use_files(tx: Tx, books: Books, entered: Entered) -> bool:
    """Whether all that the entry names is here; if not, it is reported as live once it is. After a withdrawal nothing is left."""
    item_id, decision = entered.entry.item_id, entered.statement
    if item_id is None or entered.entry.entry not in ("publication", "withdrawal"):
        return True
    hashes = _named(decision)
    before = books.shelf.current(item_id)
    if not hashes and not (before and _named(before.statement)):
        return True  # nearly all entries: no question for the database
    await store.lock(tx)
    await store.use(tx, item_id, hashes)
    if isinstance(decision, Decision) and hashes and await store.lacks(tx, hashes):
        await store.report_later(tx, entered.entry.seq, decision)
        return False
    await store.forget_report(tx, item_id)
    return True
