"""Typed errors. Mapped once at the HTTP edge (shared.web), once in delivery (shared.bus), once at the operator socket."""

from typing import ClassVar


class SchleuseError(Exception):
    """Base. `message` says what is wrong and what to do; `code` is for programs; `status` is the HTTP status.

    `audited`: what the call audit keeps of it for good, where the message names people whom the asker named. `nothing_left`: whoever was
    asked says that nothing was begun.
    """

    status: ClassVar[int] = 500
    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str = "", audited: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.audited = audited or message
        self.code = code or self.default_code
        self.nothing_left = False


class Refused(SchleuseError):
    """The request is understood and not allowed by a rule; trying again changes nothing."""

    status = 422
    default_code = "refused"


class TooLarge(Refused):
    """A size limit (rule 5); the message names it."""

    status = 413
    default_code = "too_large"


class Forbidden(Refused):
    """The person's role or the site's mode does not allow it."""

    status = 403
    default_code = "forbidden"


class Unauthorized(Refused):
    """Nobody is signed in, or the token is wrong."""

    status = 401
    default_code = "unauthorized"


class TooMany(Refused):
    """A rate limit (rule 25)."""

    status = 429
    default_code = "too_many"


class NotFound(SchleuseError):
    """No such thing for this asker."""

    status = 404
    default_code = "not_found"


class Conflict(SchleuseError):
    """The state has moved on; nothing was changed."""

    status = 409
    default_code = "conflict"


class Transient(SchleuseError):
    """It may work later: delivery tries again with growing waits."""

    status = 503
    default_code = "transient"


class Away(Transient):
    """The database is away or has no room: hold what is in hand and try again; no attempt is spent."""

    default_code = "away"


class Permanent(SchleuseError):
    """It will never work: delivery parks the event at once."""

    status = 422
    default_code = "permanent"


class BadSignature(Permanent):
    """A statement or envelope is not signed as it must be."""

    default_code = "bad_signature"


BY_CODE_STATUS: dict[int, type[SchleuseError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: Refused,
    429: TooMany,
    503: Transient,
}


def from_wire(status: int, code: str, message: str, *, nothing_left: bool = False) -> SchleuseError:
    """The error that another process reported."""
    found = BY_CODE_STATUS.get(status, SchleuseError)(message, code=code)
    found.nothing_left = nothing_left
    return found
