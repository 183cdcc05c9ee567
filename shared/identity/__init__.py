"""Who is signed in at a surface that is not the console (S8): tokens, standings, sessions, and the doors that lead to them.

The console is the one that knows people. It sends a browser here with a token; what is then true of its bearer, the
console says by signed statements that come over the bus. No business words: a role is a word that the console signed.
"""

from shared.identity.sessions import Sessions, is_fresh
from shared.identity.standings import close_session, record_standing
from shared.identity.store import Found
from shared.identity.tables import identity_tables
from shared.identity.token import Claims, TokenReader, nonce_of

__all__ = [
    "Claims",
    "Found",
    "Sessions",
    "TokenReader",
    "close_session",
    "identity_tables",
    "is_fresh",
    "nonce_of",
    "record_standing",
]
