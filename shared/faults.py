"""The border of work that is done for somebody else: what goes wrong unexpectedly there ends that work, not the process."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from shared.errors import Permanent, SchleuseError

log = structlog.get_logger()


@contextmanager
def faults_told(what: str) -> Iterator[None]:
    """Typed errors pass. Anything else becomes Permanent (code `broken`) that names its type and place: its text may hold anything, a key included."""
    try:
        yield
    except SchleuseError:
        raise
    except Exception as error:
        fault = _told(what, error)
    else:
        return
    raise fault from None


def _told(what: str, error: Exception) -> Permanent:
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f"{at.tb_frame.f_code.co_filename.rpartition('/')[2]}:{at.tb_lineno}" if at is not None else "?"
    log.error("work.broken", what=what, error=type(error).__name__, place=place)
    return Permanent(
        f"{what} broke on this ({type(error).__name__} in {place}); the log has the place for whoever mends it",
        code="broken",
    )
