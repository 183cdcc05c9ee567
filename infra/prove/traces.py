"""What became of a run's forged events, and removing what was parked of them."""

from infra.prove.target import Target
from shared.settings import DATABASES

_FORGET = "DELETE FROM app.parked WHERE position(convert_to($1, 'UTF8') IN body) > 0"

Fates = dict[str, tuple[str, str]]
"""mark -> (`parked`, `refused` or `crossed`, the reason)."""


async def fates(target: Target, service: str, marks: list[str], seconds: float) -> Fates:
    """Wait until every mark has left a trace at that service, or the time is over."""
    watch = {"kind": "watch", "as": service, "token": target.token, "marks": marks, "seconds": seconds}
    (outcome,) = await target.run(service, [watch])
    return {mark: (fate, reason) for mark, fate, reason in outcome["value"]}


async def forget(target: Target, service: str, letter: str = "") -> None:
    """Remove what this run left among the parked events: of the area whose marks begin with that letter, for others may still wait for theirs."""
    await target.run(
        service,
        [
            {
                "kind": "rows",
                "role": service,
                "database": DATABASES[service],
                "query": _FORGET,
                "args": [f"prove:{target.token}:{letter}" if letter else target.token],
                "write": True,
            }
        ],
    )
