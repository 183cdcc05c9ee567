"""Whether the folder that lies here is the one that a person approved: hash, signature and word are looked at before each start (S4)."""

from base64 import b64decode
from collections.abc import Mapping

from schemas.statements import Signed
from schemas.work import AppApproval
from services.console.apps.domain import InstalledApp
from services.console.apps.packages import store
from services.console.keys.domain import DEAD
from services.console.keys.store import keys as every_key
from shared.apps.folder import folder_hash
from shared.db import Tx
from shared.errors import BadSignature, Conflict
from shared.signing import PublicKeys


async def approved_files(tx: Tx, app: InstalledApp) -> Mapping[str, bytes]:
    """The app's files. Conflict, saying what is wrong, for anything that nobody approved, or somebody with a key that was revoked since."""
    files = await store.files(tx, app.folder_hash)
    if not files or folder_hash(files) != app.folder_hash:
        raise Conflict(
            "Its folder was changed after it was approved; send it again, and decide its card.", code="changed"
        )
    row = await store.newest_word(tx, app.slug)
    known = PublicKeys({})
    for each in await every_key(tx):
        if each.state not in DEAD:
            known.add("decision", each.key_id, b64decode(each.public_key))
    try:
        word = None if row is None else known.verify("decision", Signed(**row), AppApproval)
    except BadSignature as fault:
        raise Conflict(f"The approval of its folder is not what was signed: {fault.message}.", code="changed") from None
    if word is None or (word.slug, word.folder_hash, word.verdict) != (app.slug, app.folder_hash, "install"):
        raise Conflict("Nobody approved this folder; send it again, and decide its card.", code="changed")
    return files
