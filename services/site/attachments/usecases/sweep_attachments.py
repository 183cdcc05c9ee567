"""Compare the attachments in the database with those that came: what was changed or removed by hand is not shown, and reported.

At start the rows are taken as they are: every byte that is served has its hash looked at anyway.
"""

from services.site.attachments import store
from services.site.publication.books import Books, Fault
from shared.db import Tx

CHUNK = 50


async def sweep_attachments(tx: Tx, books: Books, faults: dict[str, Fault]) -> None:
    """Adds to `faults` by name; what is missing is asked of the gate again."""
    held = books.holdings.files
    versions = await store.versions(tx)
    strange = [each for each, xmin in versions.items() if held.get(each) != xmin]
    wrong = set[str]()
    for at in range(0, len(strange) if held else 0, CHUNK):
        wrong |= await store.wrong(tx, strange[at : at + CHUNK])
    for each in [*wrong, *(each for each in held if each not in versions)]:
        books.file_went(each)
    for each in strange:
        if each not in wrong:
            books.file_came(each, versions[each])
    for item in books.lacking_files():
        name = f"attachments {item.item_id} {item.seq}"
        faults[name] = Fault("an attachment of a published item is missing, or is not the one that was approved", item.item_id, item.path)  # fmt: skip
