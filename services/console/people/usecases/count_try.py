"""One more try at a password. Failed tries shut what they count against, longer each time."""

from collections.abc import Mapping
from datetime import datetime

from services.console.people import store
from services.console.people.domain import delay_after, in_words
from shared.db import Tx
from shared.errors import TooMany


async def count_try(tx: Tx, subjects: Mapping[str, int], at: datetime) -> None:
    """One more try, or TooMany (which takes the count back) while a subject is shut. Subjects are locked in one order.

    `subjects`: how many tries each has before it is shut.
    """
    await store.forget_old_failures(tx, at)
    for subject, allowed in sorted(subjects.items()):
        failures, open_at = await store.count_failure(tx, subject, at)
        if open_at is not None and open_at > at:
            raise TooMany(
                f"Too many failed tries. It opens again in {in_words(open_at - at)}; the right password will not help sooner.",
                code="locked",
            )
        wait = delay_after(failures, allowed)
        if wait:
            await store.shut_until(tx, subject, at + wait)
